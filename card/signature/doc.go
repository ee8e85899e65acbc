// Package signature verifies the signatures of agents' cards and makes those of the
// cards that the gateway serves.
//
// A card is signed with a JSON Web Signature (RFC 7515) whose payload is left out: it is
// the card itself without its signatures, in canonical form (RFC 8785). What the
// specification calls canonical leaves room, which SDKs have used differently, so that a
// Verifier tries the forms that are really signed, and says which one it was. What a
// signature does not cover is not in the Payload of the Verdict.
//
// It owns the keys that are trusted and the fetching of key sets. It does not decide what
// becomes of a card whose signature does not hold, and fetches no cards. It imports
// internal/jws, which verifies, and internal/egress, by which alone it reaches key sets.
package signature
