// Package extensions is the registry of A2A extensions in the admin API, with what calls did
// with them and what they are on each agent.
//
// It owns the screen and what it asks of the gateway. It negotiates nothing.
package extensions
