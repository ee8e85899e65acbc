package authn

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// nonces makes the values that proofs must repeat (RFC 9449 §8). Nothing is stored per
// client: a nonce is the keyed hash of the stretch of time it is handed out in, and
// good for that one and the next.
type nonces struct {
	key [sha256.Size]byte // of this process; reloads keep it
}

func newNonces() *nonces {
	n := new(nonces)
	_, _ = rand.Read(n.key[:]) // never fails: the runtime ends the process first
	return n
}

// at is the nonce of the stretch of time that now lies in, or of one that ended before.
func (n *nonces) at(now time.Time, stretch time.Duration, before int64) string {
	const size = 18 // bytes, 24 characters: 144 bits are not guessed within minutes
	var number [8]byte
	bucket := now.Unix()/int64(stretch/time.Second) - before
	binary.BigEndian.PutUint64(number[:], uint64(bucket)) //nolint:gosec // only told apart
	mac := hmac.New(sha256.New, n.key[:])
	mac.Write(number[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:size])
}

// knows reports whether a nonce is of this stretch of time or of the last one.
func (n *nonces) knows(nonce string, now time.Time, stretch time.Duration) bool {
	return hmac.Equal([]byte(nonce), []byte(n.at(now, stretch, 0))) ||
		hmac.Equal([]byte(nonce), []byte(n.at(now, stretch, 1)))
}
