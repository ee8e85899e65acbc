package dpop

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// nonces makes the values that proofs must repeat (RFC 9449 §9). Nothing is stored per
// client: a nonce is the keyed hash of the stretch of time it is handed out in, and
// good for that one and the next.
// Gateways with the same key and window take each other's nonces without telling each other
// anything.
type nonces struct {
	key []byte // Options.Nonces, or of this process; reloads keep it
}

// newNonces has a key of this process, for gateways that share none.
func newNonces() *nonces {
	n := &nonces{key: make([]byte, sha256.Size)}
	_, _ = rand.Read(n.key) // never fails: the runtime ends the process first
	return n
}

// at is the nonce of the stretch of time that now lies in, or of one that ended before.
func (n *nonces) at(now time.Time, stretch time.Duration, before int64) string {
	// The stretch is part of the text, so that two windows never have a nonce in common.
	const size = 18 // bytes, 24 characters: 144 bits are not guessed within minutes
	seconds := int64(stretch / time.Second)
	bucket := now.Unix()/seconds - before
	var text [16]byte                                     // the key may outlive the window that stretches are made of
	binary.BigEndian.PutUint64(text[:8], uint64(seconds)) //nolint:gosec // only told apart
	binary.BigEndian.PutUint64(text[8:], uint64(bucket))  //nolint:gosec // only told apart
	mac := hmac.New(sha256.New, n.key)
	mac.Write(text[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:size])
}

// knows reports whether a nonce is of this stretch of time or of the last one, or of the
// next: a gateway whose clock is ahead hands those out already, and nobody else can.
func (n *nonces) knows(nonce string, now time.Time, stretch time.Duration) bool {
	return hmac.Equal([]byte(nonce), []byte(n.at(now, stretch, 0))) ||
		hmac.Equal([]byte(nonce), []byte(n.at(now, stretch, 1))) ||
		hmac.Equal([]byte(nonce), []byte(n.at(now, stretch, -1)))
}
