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
//
// One verification goes like this: the card is read strictly (no name twice, nothing behind it);
// for each signature the protected header is judged; the keys that its kid may mean are looked up,
// in files, in the configured JWK set, or in the set that the header names, where that is listed;
// and each canonical form of the card is tried with them until one holds.
//
//	Verifier.Verify   a card that an agent serves; Verdict says what holds, and what of the card it covers
//	Signer.Sign       a card that the gateway serves, in every form that its readers may try
//
// Signing goes the other way round: readers of one shape use different SDKs, so that one card gets
// a signature per form, and a reader takes the first that it can verify.
package signature
