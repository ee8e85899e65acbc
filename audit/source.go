package audit

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
)

// Source is where records are read from, while a gateway may be writing there.
type Source struct {
	Path string        // a directory of segments
	Keys []segment.Key // of encrypted ones
}

// dir is the directory.
func (s Source) dir() segment.Dir { return segment.Dir(s) }

// Held reads content that was captured, while a gateway may be writing there.
func (s Source) Held(sealer vault.Sealer) vault.Reader {
	return vault.Reader{Dir: s.Path, Sealer: sealer}
}

// Secret is a key for what is made from the records of an encrypted log, derived from the
// newest key and told apart by what for; nil where the log is not encrypted.
func (s Source) Secret(what string) []byte {
	if len(s.Keys) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, s.Keys[0].Key)
	_, _ = mac.Write([]byte("a2a-gateway audit " + what)) // it cannot fail
	return mac.Sum(nil)
}
