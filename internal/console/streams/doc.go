// Package streams is event streams in the admin API: those that are open at this gateway,
// their end, and what their clients are given.
//
// It owns the screen and what it asks of the gateway. It holds no stream.
package streams
