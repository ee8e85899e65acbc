// Package fleet is the fleet in the admin API: the agents there are, those that are registered
// there, and how many calls they had.
//
// It owns the screen and what it asks of the gateway. It does not own the fleet, which stands
// behind Agents.
package fleet
