// Package rules is the policy in the admin API: the rules in force and how often they decided,
// what would become of a call, recorded calls under other rules, and the limits of callers.
//
// It owns these screens and what they ask of the gateway. It decides nothing itself.
package rules
