// Package apikeys is API keys in the admin API: those there are, and how they are made, rotated
// and revoked there.
//
// It owns the screen and what it asks of the gateway. It keeps no key, and shows the text of one
// once, as it is made.
package apikeys
