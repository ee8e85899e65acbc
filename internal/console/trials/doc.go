// Package trials is calls that operators make from the admin API, to see what goes over the
// wire.
//
// It owns the screen and what it asks of the gateway. It does not make the calls itself.
package trials
