// Package deliveries is push notifications in the admin API: those that wait for their webhook
// and those that were given up.
//
// It owns the screen and what it asks of the gateway. It delivers nothing.
package deliveries
