package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// link is the hash of a record as it stands in it, in hexadecimal digits. The zero
// link is that of a record without one.
type link [2 * sha256.Size]byte

// none reports whether there is no record to follow from.
func (k link) none() bool { return k == link{} }

// String is the digits, or nothing.
func (k link) String() string {
	if k.none() {
		return ""
	}
	return string(k[:])
}

const (
	hashPrefix = `,"hash":"`
	hashSuffix = `"}`
	hashSize   = len(hashPrefix) + 2*sha256.Size + len(hashSuffix)
)

// chain is what a record takes from the one before it. It is the writer's
// alone; a failed write leaves it as it was.
type chain struct {
	seq     uint64 // of the last record
	hash    link   // of the last record
	segment string // file that holds it, "" for none
	loose   int    // records since the last checkpoint
	sum     *summer
}

// assemble appends one finished line: what the log knows of a record, the members its
// author gave it, where it is the first of its file the member that says so, and the hash
// over all that and the hash before. gateway, members and place have their commas before
// them, or are empty. Everything that makes records a sequence is here and nowhere else;
// lastSeq and cutHash read it back.
func (c *chain) assemble(dst, gateway, members, place []byte) []byte {
	c.seq++
	c.loose++
	begin := len(dst)
	dst = append(dst, seqPrefix...)
	dst = strconv.AppendUint(dst, c.seq, 10)
	dst = append(dst, versionPrefix...)
	dst = strconv.AppendUint(dst, schemaVersion, 10)
	dst = append(dst, gateway...)
	dst = append(dst, members...)
	dst = append(dst, place...)
	if c.sum == nil {
		c.sum = newSummer()
	}
	c.hash = c.sum.link(c.hash, dst[begin:])
	dst = append(dst, hashPrefix...)
	dst = append(dst, c.hash[:]...)
	return append(dst, hashSuffix+"\n"...)
}

// place is the member of the first record of a segment. It binds the file to its name and
// to the file before, so that one that is renamed or missing can be named.
func (c *chain) place(dst []byte, file string) []byte {
	dst = append(dst, `,"segment":{"name":"`...)
	dst = append(dst, file...)
	if c.segment != "" {
		dst = append(dst, `","after":"`...)
		dst = append(dst, c.segment...)
	}
	if !c.hash.none() {
		dst = append(dst, `","hash":"`...)
		dst = append(dst, c.hash[:]...)
	}
	return append(dst, `"}`...)
}

const (
	seqPrefix     = `{"seq":`
	versionPrefix = `,"v":` // behind the number
)

// lastSeq reads the number that assemble put at the start of a line.
func lastSeq(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(seqPrefix))
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
func cutHash(line []byte) (body []byte, h link, ok bool) {
	at := len(line) - hashSize
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(hashPrefix)) || !bytes.HasSuffix(line, []byte(hashSuffix)) {
		return line, h, false
	}
	digits := line[at+len(hashPrefix):][:len(h)]
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return line, h, false
		}
	}
	copy(h[:], digits)
	return line[:at], h, true
}

// summer computes hashes without allocating. It is for one goroutine.
type summer struct {
	h      hash.Hash
	before link // what is passed to an interface would be allocated
	sum    [sha256.Size]byte
}

// newSummer makes one, which is for one goroutine.
func newSummer() *summer { return &summer{h: sha256.New()} }

// link is the hash of a record after another: SHA-256 over that one's hash, as it stands
// in the file, and this one's bytes before its own. A shell can compute it.
func (s *summer) link(before link, body []byte) (h link) {
	s.h.Reset()
	if !before.none() {
		s.before = before
		_, _ = s.h.Write(s.before[:]) // hashes do not fail
	}
	_, _ = s.h.Write(body)
	hex.Encode(h[:], s.h.Sum(s.sum[:0]))
	return h
}
