// Package jwstest holds the signatures that every verifier of the gateway's has to judge:
// one table, rule by rule, of how each is made and what tokens, DPoP proofs and cards
// that are signed so come to. It is for tests.
//
// It imports nothing of ours, so that what it makes is not made by what it tests.
package jwstest
