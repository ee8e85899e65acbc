package wire

import (
	"bytes"
	"math"
	"sync"
)

// scanner walks one JSON document once, from left to right, without copying it,
// and holds it to the rules that make every parser in the field read it alike:
// valid UTF-8 and no byte order mark, RFC 8259 grammar to the letter, no two members
// of one name, no half of a surrogate pair in names, in ids, or in anything that the
// caller reads (surrogate.go has the rest), bounded depth and member count, nothing
// after the document.
//
// It is a cursor: the caller looks at kind, steps into objects and arrays with
// enter and more, reads names and strings, and skips what it does not care for.
// Skipped values are checked exactly like read ones.
//
//	for s.enter(); s.more(); {
//		switch string(s.name()) {
//		case "id":
//			id = s.text()
//		default:
//			s.skip()
//		}
//	}
//	if e := s.finish(); e != nil { … }
//
// Two kinds of trouble are kept apart. After a failure (broken JSON, too deep)
// nothing more can be read: every method becomes a no-op and more reports
// false. A refusal (a duplicate name, or whatever the caller finds wrong through
// refuse) lets the walk go on, so that a call's id is still found behind it.
//
// The loop is written by hand because it is on the path of every call and every
// stream event: encoding/json/jsontext reads a 1 MB file part five to ten times
// slower. jsontext is the oracle instead; FuzzScan holds the two equal.
type scanner struct {
	doc     []byte
	pos     int
	depth   int // limit
	members int // limit, per object and per array
	frames  []frame
	names   []nameRef // of all open objects, outermost first
	arena   []byte    // unescaped names and strings
	table   []int32   // scratch of uniqueNames
	err     *Error    // failure
	key     string    // of the limit that the failure is beyond; "" for none
	fault   *Error    // first refusal
	marks   bool      // a name was read that may lead to a Mark
	files   bool      // a name was read that may lead to a File
	halved  int       // behind the last escape that is half a surrogate pair; 0 for none
	keeps   bool      // free is wanted
	free    []stretch // the characters of strings that were skipped
}

// frame is one open object or array.
type frame struct {
	end   byte  // the bracket that closes it
	count int32 // members begun so far
	base  int32 // where its names begin in scanner.names
}

// scanners recycles the scratch memory; a scanner in the pool holds no document.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scratchKept bounds what one unusual document leaves behind in the pool.
const scratchKept = 16 << 10

// newScanner starts at the first byte of doc. The caller must call release, and
// must not use slices obtained from name and text after it.
func newScanner(doc []byte, lim Limits) *scanner {
	lim = lim.withDefaults()
	s, _ := scanners.Get().(*scanner) // the pool holds nothing else
	s.doc, s.pos, s.depth, s.members = doc, 0, lim.Depth, lim.Members
	switch {
	case len(doc) > math.MaxInt32: // offsets are kept in 32 bits
		s.err = Errorf(TooLarge, "the document is larger than 2 GiB")
	case bytes.HasPrefix(doc, []byte("\xef\xbb\xbf")):
		s.fail("the document begins with a byte order mark")
	}
	return s
}

// release gives the scratch memory back.
func (s *scanner) release() {
	if cap(s.names) > scratchKept || cap(s.arena) > scratchKept || cap(s.table) > scratchKept {
		return
	}
	s.doc, s.err, s.fault, s.key, s.marks, s.files, s.halved, s.keeps = nil, nil, nil, "", false, false, 0, false
	s.frames, s.names, s.arena, s.free = s.frames[:0], s.names[:0], s.arena[:0], s.free[:0]
	scanners.Put(s)
}

// fail ends the walk: the rest of the document cannot be read. The text gives
// an offset and never a piece of the document, which may hold secrets.
func (s *scanner) fail(what string) {
	if s.err == nil {
		s.err = Errorf(ParseError, "Invalid JSON payload: %s, at byte %d", what, s.pos)
	}
}

// exceed is fail for what may be good JSON and is beyond the limit of that key.
func (s *scanner) exceed(what, key string) {
	if s.err == nil {
		s.key = key
	}
	s.fail(what)
}

// refuse records that the document is not acceptable. The walk goes on; the
// first refusal is the one that finish reports.
func (s *scanner) refuse(e *Error) {
	if s.fault == nil {
		s.fault = e
	}
}

// finish must be called when the document's value has been read. It fails if
// anything but space follows, and returns the failure, else the first refusal.
func (s *scanner) finish() *Error {
	if s.err == nil {
		if s.space(); s.pos < len(s.doc) {
			s.fail("something follows the document")
		}
	}
	if s.err != nil {
		return s.err
	}
	return s.fault
}

// kind says what the next value is by its first byte: '{', '[', '"', 't', 'f',
// 'n', or '0' for any number. It is 0 when there is none.
func (s *scanner) kind() byte {
	c := s.peek()
	switch {
	case c == '{', c == '[', c == '"', c == 't', c == 'f', c == 'n':
		return c
	case c == '-' || '0' <= c && c <= '9':
		return '0'
	}
	return 0
}

// peek returns the next byte that is not space, 0 at the end or after a failure.
func (s *scanner) peek() byte {
	if s.err != nil {
		return 0
	}
	if s.pos < len(s.doc) && s.doc[s.pos] > ' ' {
		return s.doc[s.pos] // machines write no space
	}
	s.space()
	if s.pos >= len(s.doc) {
		return 0
	}
	return s.doc[s.pos]
}

func (s *scanner) space() {
	for s.pos < len(s.doc) {
		switch s.doc[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// enter steps into the object or array that is next; the caller has seen its
// kind. Then more must be called until it reports false.
func (s *scanner) enter() {
	var end byte
	switch s.peek() {
	case '{':
		end = '}'
	case '[':
		end = ']'
	default:
		s.unexpected()
		return
	}
	if len(s.frames) >= s.depth {
		s.exceed("nested too deeply", "server.limits.jsonDepth")
		return
	}
	s.pos++
	s.frames = append(s.frames, frame{end: end, base: int32(len(s.names))}) //nolint:gosec // bodies are bounded far below
}

// more reports whether the innermost object or array has another member; if
// not, it steps out of it. After true the caller must read name (in an object)
// and then the value.
func (s *scanner) more() bool {
	c := s.peek()
	if s.err != nil {
		return false
	}
	f := &s.frames[len(s.frames)-1]
	if c == f.end {
		s.pos++
		s.leave()
		return false
	}
	if f.count > 0 {
		if c != ',' {
			s.unexpected()
			return false
		}
		s.pos++
	}
	if f.count++; int(f.count) > s.members {
		s.exceed("too many members in one object or array", "server.limits.jsonMembers")
		return false
	}
	return true
}

// leave pops the innermost frame.
func (s *scanner) leave() {
	f := s.frames[len(s.frames)-1]
	s.uniqueNames(int(f.base))
	s.names = s.names[:f.base]
	s.frames = s.frames[:len(s.frames)-1]
}

// skip reads over the next value, whatever it is, and returns where it stands:
// doc[start:end]. After a failure the range is empty.
func (s *scanner) skip() (start, end int) {
	kind := s.kind()
	start = s.pos
	switch kind {
	case '{':
		for s.enter(); s.more(); {
			s.name()
			s.skip()
		}
	case '[':
		for s.enter(); s.more(); {
			s.skip()
		}
	case '"':
		if s.str(); s.halved > start {
			s.half()
		}
		if s.keeps && len(s.free) <= patternFree && s.err == nil {
			s.free = append(s.free, stretch{int32(start + 1), int32(s.pos - 1)}) //nolint:gosec // bodies are bounded far below
		}
	case '0':
		s.number()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.unexpected()
	}
	if s.err != nil {
		return start, start
	}
	return start, s.pos
}

// forgo is called of a string that was skipped, and matters all the same.
func (s *scanner) forgo(start int) {
	if n := len(s.free) - 1; n >= 0 && int(s.free[n].from) == start+1 {
		s.free = s.free[:n]
	}
}

func (s *scanner) unexpected() {
	if s.pos >= len(s.doc) {
		s.fail("it ends too early")
		return
	}
	s.fail("unexpected character")
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.doc[s.pos:], []byte(word)) {
		s.fail("unexpected character")
		return
	}
	s.pos += len(word)
}

// number reads RFC 8259 §6: no plus, no leading zero, a digit on both sides of
// the point. How large or precise it is does not matter: its text is kept.
func (s *scanner) number() {
	if s.doc[s.pos] == '-' {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.pos++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		s.digits()
	}
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.doc) && s.doc[s.pos] == c }

// digits reads at least one.
func (s *scanner) digits() {
	first := s.pos
	for s.pos < len(s.doc) && '0' <= s.doc[s.pos] && s.doc[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == first {
		s.fail("a number lacks a digit")
	}
}
