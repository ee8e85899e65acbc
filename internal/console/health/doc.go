// Package health is what the gateway's process knows of itself in the admin API: its build, the
// limits in use, the state store, the audit log and its sinks, and the certificates served.
//
// It owns the screen and what it asks of the gateway. It measures nothing itself.
package health
