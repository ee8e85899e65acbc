// Package replicas is the replicas in the admin API: the gateways that share a state store.
//
// It owns the screen and what it asks of the gateway. It talks to no replica.
package replicas
