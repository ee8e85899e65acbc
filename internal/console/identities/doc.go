// Package identities is authentication in the admin API: whose credentials are taken.
//
// It owns the screen and what it asks of the gateway. It authenticates nobody.
package identities
