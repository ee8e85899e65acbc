// Package reader reads the audit log, also while a gateway writes to it. It hands records on as
// they were written, each with the place behind it, so that a reader can go on there after a
// restart.
//
// A [Source] is a directory of segments. What it is asked decides how it reads:
//
//	Follow, Records   from a Cursor on, in order, over all segments; Follow waits for more
//	Last, End         backwards, for the newest records of a screen, or the place to begin at
//	Lines             at places that an index has kept, in any order
//	Calls             all records of calls, parsed, of a directory or of a single file
//	Knows             whether a cursor that somebody kept belongs to this log at all
//
// Users are the sinks and the index (Follow with a cursor of their own), the console and `audit
// tail` (Last, then Follow), and what replays policies (Calls). None of them needs a lock or a
// process that writes: the files are the interface. Whether records are what the gateway wrote is
// not decided here, but by the verification; a reader only makes sure that it passes on no line
// twice under one number and leaves none out without a [LostError].
//
// It may import audit/chain, audit/segment and audit/vault.
package reader

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

// Dir is the directory.
func (s Source) Dir() segment.Dir { return segment.Dir(s) }

// Held reads content that was captured, while a gateway may be writing there.
// The result finds nothing where there is no captured content; with a nil sealer it can say what is
// there and open nothing.
func (s Source) Held(sealer vault.Sealer) vault.Reader {
	return vault.Reader{Dir: s.Path, Sealer: sealer}
}

// Secret is a key for what is made from the records of an encrypted log, derived from the
// newest key and told apart by what for; nil where the log is not encrypted.
// Who names another purpose gets another key, so that an index that leaks tells nothing of the
// files.
func (s Source) Secret(what string) []byte {
	if len(s.Keys) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, s.Keys[0].Key)
	_, _ = mac.Write([]byte("a2a-gateway audit " + what)) // it cannot fail
	return mac.Sum(nil)
}
