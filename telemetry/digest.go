package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest is SHA-256 of a body. The zero value is none: that no body is known to have it is what SHA-256
// is for. It is bytes and not text, as every call has two and only records spell them out.
type Digest [sha256.Size]byte

// Digest appends d as "sha256:" and 64 hexadecimal digits; none is left out.
func (l *Line) Digest(key string, d Digest) {
	if d == (Digest{}) {
		return
	}
	l.key(key)
	l.buf = append(l.buf, `"sha256:`...)
	l.buf = append(hex.AppendEncode(l.buf, d[:]), '"')
}
