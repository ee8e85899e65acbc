package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// link is the hash of a record as it stands in it, in hexadecimal digits. The zero
// link is that of a record without one.
type Link [2 * sha256.Size]byte

// none reports whether there is no record to follow from.
func (k Link) IsZero() bool { return k == Link{} }

// String is the digits, or nothing.
func (k Link) String() string {
	if k.IsZero() {
		return ""
	}
	return string(k[:])
}

const (
	HashPrefix = `,"hash":"`
	HashSuffix = `"}`
	HashSize   = len(HashPrefix) + 2*sha256.Size + len(HashSuffix)
)

// chain is what a record takes from the one before it. It is the writer's
// alone; a failed write leaves it as it was.
type Chain struct {
	Seq     uint64 // of the last record
	Hash    Link   // of the last record
	Segment string // file that holds it, "" for none
	Loose   int    // records since the last checkpoint
	sum     *Summer
}

// assemble appends one finished line: what the log knows of a record, the members its
// author gave it, where it is the first of its file the member that says so, and the hash
// over all that and the hash before. gateway, members and place have their commas before
// them, or are empty. Everything that makes records a sequence is here and nowhere else;
// lastSeq and cutHash read it back.
func (c *Chain) Assemble(dst, gateway, members, place []byte) []byte {
	c.Seq++
	c.Loose++
	begin := len(dst)
	dst = append(dst, SeqPrefix...)
	dst = strconv.AppendUint(dst, c.Seq, 10)
	dst = append(dst, VersionPrefix...)
	dst = strconv.AppendUint(dst, Version, 10)
	dst = append(dst, gateway...)
	dst = append(dst, members...)
	dst = append(dst, place...)
	if c.sum == nil {
		c.sum = NewSummer()
	}
	c.Hash = c.sum.Link(c.Hash, dst[begin:])
	dst = append(dst, HashPrefix...)
	dst = append(dst, c.Hash[:]...)
	return append(dst, HashSuffix+"\n"...)
}

// place is the member of the first record of a segment. It binds the file to its name and
// to the file before, so that one that is renamed or missing can be named.
func (c *Chain) Place(dst []byte, file string) []byte {
	dst = append(dst, `,"segment":{"name":"`...)
	dst = append(dst, file...)
	if c.Segment != "" {
		dst = append(dst, `","after":"`...)
		dst = append(dst, c.Segment...)
	}
	if !c.Hash.IsZero() {
		dst = append(dst, `","hash":"`...)
		dst = append(dst, c.Hash[:]...)
	}
	return append(dst, `"}`...)
}

const (
	SeqPrefix     = `{"seq":`
	VersionPrefix = `,"v":` // behind the number
)

// lastSeq reads the number that assemble put at the start of a line.
func LastSeq(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(SeqPrefix))
	digits, _, comma := bytes.Cut(rest, []byte(","))
	if !ok || !comma || len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n > 0
}

// cutHash divides a line without its newline into what its hash is over and the hash.
func CutHash(line []byte) (body []byte, h Link, ok bool) {
	at := len(line) - HashSize
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(HashPrefix)) || !bytes.HasSuffix(line, []byte(HashSuffix)) {
		return line, h, false
	}
	digits := line[at+len(HashPrefix):][:len(h)]
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return line, h, false
		}
	}
	copy(h[:], digits)
	return line[:at], h, true
}

// summer computes hashes without allocating. It is for one goroutine.
type Summer struct {
	h      hash.Hash
	before Link // what is passed to an interface would be allocated
	sum    [sha256.Size]byte
}

// newSummer makes one, which is for one goroutine.
func NewSummer() *Summer { return &Summer{h: sha256.New()} }

// link is the hash of a record after another: SHA-256 over that one's hash, as it stands
// in the file, and this one's bytes before its own. A shell can compute it.
func (s *Summer) Link(before Link, body []byte) (h Link) {
	s.h.Reset()
	if !before.IsZero() {
		s.before = before
		_, _ = s.h.Write(s.before[:]) // hashes do not fail
	}
	_, _ = s.h.Write(body)
	hex.Encode(h[:], s.h.Sum(s.sum[:0]))
	return h
}
