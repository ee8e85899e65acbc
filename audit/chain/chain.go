// Package chain is the hash chain of the audit log: what binds a record to the one before it, so
// that a record that was changed, left out, moved or put in between is found.
//
// A record is one line of JSON. Its author gives the members in the middle; this package puts the
// number before them and the hash behind:
//
//	{"seq":7,"v":1,"gateway":"gw-1","type":"call",…,"hash":"<64 hex digits>"}
//
// The hash is SHA-256 over the hash of record 6, as its 64 digits, and over the bytes of record 7
// up to the comma before "hash". Nothing but the bytes of the file goes into it, so that a shell
// with sha256sum can verify a log without the gateway (docs/audit.md has the script).
//
// The first record of a file has one more member, which binds the file to its name and to the file
// before:
//
//	"segment":{"name":"audit-2026-11-22.jsonl","after":"audit-2026-11-21.jsonl","hash":"<of the last record there>"}
//
// A chain alone shows what was changed in the middle, and not that it was rewritten from some
// record on. For that there are checkpoints, which are records with a signature over the chain so
// far (package audit), and the head ([Head]), a small file with the last checkpoint: of records that
// were taken off the end nothing else tells.
//
// Who uses what: the log assembles lines ([Chain]) and keeps the head; readers take lines apart
// ([LastSeq], [CutHash]); the verification does both. They are in one package,
// since every one of those parts has to agree with the others byte by byte. It imports nothing of this module.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// Link is the hash of a record as it stands in it, in hexadecimal digits. The zero
// link is that of a record without one.
// A fixed array and not a string, so that computing and comparing hashes of a million records
// allocates nothing.
type Link [2 * sha256.Size]byte

// IsZero reports whether there is no record to follow from.
func (k Link) IsZero() bool { return k == Link{} }

// String is the digits, or nothing.
func (k Link) String() string {
	if k.IsZero() {
		return ""
	}
	return string(k[:])
}

// The end of a line is compared as bytes and not parsed as JSON: the position of the hash is part
// of the format, and a hash that stands elsewhere in the line is none.
const (
	hashPrefix = `,"hash":"`
	hashSuffix = `"}`
	hashSize   = len(hashPrefix) + 2*sha256.Size + len(hashSuffix)
)

// Chain is what a record takes from the one before it. It is the writer's
// alone; a failed write leaves it as it was.
// A copy is cheap and is what a writer tries a batch with: only when the file has the lines does
// the copy take the place of the original.
type Chain struct {
	Seq     uint64 // of the last record
	Hash    Link   // of the last record
	Segment string // file that holds it, "" for none
	Loose   int    // records since the last checkpoint
	sum     *Summer
}

// Assemble appends one finished line: what the log knows of a record, the members its
// author gave it, where it is the first of its file the member that says so, and the hash
// over all that and the hash before. gateway, members and place have their commas before
// them, or are empty. Everything that makes records a sequence is here and nowhere else;
// lastSeq and cutHash read it back.
func (c *Chain) Assemble(dst, gateway, members, place []byte) []byte {
	c.Seq++
	c.Loose++
	// The hash is over the bytes from here on, which is why the line is built in place and not from
	// parts that were marshalled before.
	begin := len(dst)
	dst = append(dst, SeqPrefix...)
	dst = strconv.AppendUint(dst, c.Seq, 10)
	dst = append(dst, VersionPrefix...)
	dst = strconv.AppendUint(dst, Version, 10)
	dst = append(dst, gateway...)
	dst = append(dst, members...)
	dst = append(dst, place...)
	// The zero Chain is ready to use: a log that is opened knows number and hash of its last record
	// and nothing else.
	if c.sum == nil {
		c.sum = NewSummer()
	}
	c.Hash = c.sum.Link(c.Hash, dst[begin:])
	dst = append(dst, hashPrefix...)
	dst = append(dst, c.Hash[:]...)
	return append(dst, hashSuffix+"\n"...)
}

// Place is the member of the first record of a segment. It binds the file to its name and
// to the file before, so that one that is renamed or missing can be named.
func (c *Chain) Place(dst []byte, file string) []byte {
	dst = append(dst, `,"segment":{"name":"`...)
	dst = append(dst, file...)
	// Absent in the first file of all, which has no file before it.
	if c.Segment != "" {
		dst = append(dst, `","after":"`...)
		dst = append(dst, c.Segment...)
	}
	// Absent where the record before has none: it is the first, or one of a version that wrote no
	// hashes.
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

// LastSeq reads the number that assemble put at the start of a line.
// Eighteen digits are below the largest int64, so that the sum cannot overflow and no log comes
// near.
func LastSeq(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(SeqPrefix))
	digits, _, comma := bytes.Cut(rest, []byte(","))
	if !ok || !comma || len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	var n uint64
	// Upper case digits are refused: a record has one spelling, and a verifier that took two would
	// find one of them changed.
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n > 0
}

// CutHash divides a line without its newline into what its hash is over and the hash.
func CutHash(line []byte) (body []byte, h Link, ok bool) {
	// The hash has a fixed length, so that its place is known from the end of the line: members
	// before it may hold any text, also one that looks like a hash.
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

// Summer computes hashes without allocating. It is for one goroutine.
type Summer struct {
	h      hash.Hash
	before Link // what is passed to an interface would be allocated
	sum    [sha256.Size]byte
}

// NewSummer makes one, which is for one goroutine.
func NewSummer() *Summer { return &Summer{h: sha256.New()} }

// Link is the hash of a record after another: SHA-256 over that one's hash, as it stands
// in the file, and this one's bytes before its own. A shell can compute it.
func (s *Summer) Link(before Link, body []byte) (h Link) {
	s.h.Reset()
	if !before.IsZero() {
		// The array is copied into the summer first: passing a slice of the parameter to an
		// interface method would move the parameter to the heap, once per record.
		s.before = before
		_, _ = s.h.Write(s.before[:]) // hashes do not fail
	}
	_, _ = s.h.Write(body)
	hex.Encode(h[:], s.h.Sum(s.sum[:0]))
	return h
}
