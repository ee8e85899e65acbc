package audit

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// DigestConfig is telemetry.audit.digest: what records say of bodies beside their size.
//
// SHA-256 over a file of a megabyte costs about as much as everything else that the gateway
// does with it, which is why large bodies can be left out.
type DigestConfig struct {
	// Algorithm is sha256, or off: records have sizes only. Default sha256.
	Algorithm string `yaml:"algorithm" jsonschema:"enum=sha256,enum=off"`
	// Limit is the size of the largest body that gets a digest. For a larger body, the record has
	// only the size. Default 0: without limit.
	Limit quantity.Size `yaml:"limit" zero:"kept"`
}

// Values of DigestConfig.Algorithm.
const (
	digestSHA256 = "sha256"
	digestOff    = "off"
)

// check reports an algorithm that there is not.
func (c DigestConfig) check() error {
	switch c.Algorithm {
	case "", digestSHA256, digestOff:
		return nil
	}
	return keypath.At(fmt.Errorf("%q is neither sha256 nor off", c.Algorithm), "telemetry", "audit", "digest", "algorithm")
}

// wants reports whether a body of n bytes has a digest.
func (c DigestConfig) wants(n int64) bool {
	return c.Algorithm != digestOff && (c.Limit == 0 || n <= int64(c.Limit))
}

// Digest is request_digest for a body that is there as a whole, or none where telemetry.audit.digest
// leaves it out.
func (l *Log) Digest(body []byte) telemetry.Digest {
	if !l.config.Digest.wants(int64(len(body))) {
		return telemetry.Digest{}
	}
	return sha256.Sum256(body)
}

// Summer makes the digest of a body that is written in pieces. A nil *Summer takes pieces, too, and
// has no digest.
type Summer struct {
	config DigestConfig
	sum    hash.Hash
	n      int64
}

// summers keeps those that are done: every answer takes one, and the state of SHA-256 is more than a
// hundred bytes.
var summers = sync.Pool{New: func() any { return &Summer{sum: sha256.New()} }}

// Summer is for the digest of one answer; nil where there is to be none. Digest gives it back.
func (l *Log) Summer() *Summer {
	if !l.config.Digest.wants(0) {
		return nil
	}
	s := summers.Get().(*Summer) //nolint:errcheck,forcetypeassert // the pool has nothing else
	s.config = l.config.Digest
	return s
}

// Add takes the next piece.
func (s *Summer) Add(piece []byte) {
	if s == nil {
		return
	}
	if s.n += int64(len(piece)); s.config.wants(s.n) {
		_, _ = s.sum.Write(piece) // it cannot fail
	}
}

// Digest is as that of Log, of all pieces together; none when there were no pieces. The Summer must not
// be used any more.
func (s *Summer) Digest() (d telemetry.Digest) {
	if s == nil {
		return d
	}
	if s.n > 0 && s.config.wants(s.n) {
		s.sum.Sum(d[:0])
	}
	s.sum.Reset()
	s.n = 0
	summers.Put(s)
	return d
}
