package jwt

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// maxRemembered is how long a verification is good without looking again. It bounds
// what a revocation at the issuer can take beyond the key set's age.
const maxRemembered = 30 * time.Second

// cache remembers verified tokens, since verifying one costs a hundred times what
// the rest of a call does. It is shared by the chains of successive
// configurations; whoever finds an entry must check that it is still theirs. Only
// verified tokens get in, so strangers cannot push callers out. With their claims it takes
// memoryBytes at most, whatever is in the tokens. Answers of introspection about opaque tokens are
// remembered by the introspector, for how long the issuer lets them be.
type cache struct{ memory[entry] }

// entry is one verified token. Issuer and generation stand here and not in the
// key: they follow from the token, and comparing them on every hit can only turn a
// hit into a miss, whereas reading the issuer out of the token first would cost
// more than the rest of the hit.
// A principal is shared by all calls with the token, and never changed.
type entry struct {
	principal *authn.Principal
	bound     confirmation // to be proved by each request
	issuer    *issuer      // the configured issuer that verified it
	lost      uint64       // generation of its key set at that time
	until     time.Time    // at most the token's exp
}

// digest is the cache key of a whole token: SHA-256 over length-prefixed parts, so
// that no token can be another one's key, whatever bytes it is made of. The token
// itself is not kept in memory.
func digest(raw string) [32]byte {
	const scheme = "\x00\x04oidc"
	var buf [len(scheme) + 4 + 2048]byte // on the stack for tokens of usual size
	b := append(buf[:0], scheme...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(raw))) //nolint:gosec // headers are far shorter
	b = append(b, raw...)
	return sha256.Sum256(b)
}

// add remembers a verified token.
func (c *cache) add(id [32]byte, e entry, now time.Time) {
	c.remember(id, e, weight(e.principal), now, e.until, now)
}
