// Package contents is captured content in the admin API: of which calls there is any, without
// what it says, and its erasure.
//
// It owns the screen and what it asks of the gateway. It holds no key.
package contents
