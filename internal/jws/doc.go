// Package jws is what verifying a JSON Web Signature takes, whoever made it: the
// algorithms (RFC 7518 §3, RFC 8037), public keys, alone and in JWK sets (RFC 7517),
// how long a set may be used, and the spellings and header parameters that are refused.
//
// It owns the bounds that a document with keys has to keep, so that callers' tokens and
// agents' cards rest on the same ones; a Profile says which algorithms a use takes. It
// fetches nothing, keeps nothing, and decides neither which key a signature has to be by
// nor what becomes of one that does not hold. It imports nothing of this module.
package jws
