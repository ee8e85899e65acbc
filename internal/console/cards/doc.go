// Package cards is the agents' cards in the admin API: what becomes of those that have changed,
// and how callers see them.
//
// It owns the screen of an agent and what it asks of the gateway. It does not decide on cards:
// card/trust does, behind Cards.
package cards
