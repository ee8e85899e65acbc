package jsonscan

import (
	"bytes"
	"math"
	"sync"
)

// Scanner walks one JSON document once, from left to right, without copying it,
// and holds it to the rules that make every parser in the field read it alike:
// valid UTF-8 and no byte order mark, RFC 8259 grammar to the letter, no two members
// of one name, no half of a surrogate pair in names, in ids, or in anything that the
// caller reads (surrogate.go has the rest), bounded depth and member count, nothing
// after the document.
//
// It is a cursor: the caller looks at Kind, steps into objects and arrays with
// Enter and More, reads names and strings, and skips what it does not care for.
// Skipped values are checked exactly like read ones.
//
//	for s.Enter(); s.More(); {
//		switch string(s.Name()) {
//		case "id":
//			id = string(s.Text())
//		default:
//			s.Skip()
//		}
//	}
//	if err := s.Finish(); err != nil { … }
//
// Two kinds of trouble are kept apart. After a failure (broken JSON, too deep)
// nothing more can be read: every method becomes a no-op and More reports
// false. A refusal (a duplicate name, or whatever the caller finds wrong through
// Refuse) lets the walk go on, so that a call's id is still found behind it.
// A caller therefore asks for errors once, at the end.
//
// A Scanner is for one goroutine, and comes from a pool: New takes it out, Release
// puts it back.
//
// The loop is written by hand because it is on the path of every call and every
// stream event: encoding/json/jsontext reads a 1 MB file part five to ten times
// slower. jsontext is the oracle instead; FuzzScan holds the two equal.
type Scanner struct {
	Doc     []byte // may be cut short while a piece of the document is read
	Pos     int    // of the next byte; after Kind, of the value's first
	depth   int    // limit
	members int    // limit, per object and per array
	frames  []frame
	names   []nameRef // of all open objects, outermost first
	arena   []byte    // unescaped names and strings; those without escapes are pieces of Doc
	table   []int32   // scratch of uniqueNames
	rules   *Rules
	err     error  // failure
	fault   error  // first refusal
	marks   uint8  // what rules.Mark has made of the names
	halved  int    // behind the last escape that is half a surrogate pair; 0 for none
	keep    int    // how many of free are wanted
	free    []Span // the characters of strings that were skipped
	notes   bool   // long strings are remembered
	long    []Span // those that were
	known   known  // those that need not be read
}

// Span is a piece of a document, doc[From:To], in 32 bits: a scanner remembers many.
type Span struct{ From, To int32 }

// frame is one open object or array.
type frame struct {
	end   byte  // the bracket that closes it
	count int32 // members begun so far
	base  int32 // where its names begin in scanner.names
}

// scanners recycles the scratch memory; a scanner in the pool holds no document.
var scanners = sync.Pool{New: func() any { return new(Scanner) }}

// scratchKept bounds what one unusual document leaves behind in the pool.
const scratchKept = 16 << 10

// New starts at the first byte of doc, which may have no more objects and arrays inside each
// other than depth, and no more members in one than members. The caller must call Release, and
// must not use slices obtained from Name and Text after it.
func New(doc []byte, depth, members int, rules *Rules) *Scanner {
	s, _ := scanners.Get().(*Scanner) // the pool holds nothing else
	s.Doc, s.Pos, s.depth, s.members, s.rules = doc, 0, depth, members, rules
	switch {
	case len(doc) > math.MaxInt32: // offsets are kept in 32 bits
		s.err = &Error{TooLarge: true, What: "the document is larger than 2 GiB"}
	case bytes.HasPrefix(doc, []byte("\xef\xbb\xbf")):
		s.fail("the document begins with a byte order mark")
	}
	return s
}

// Release gives the scratch memory back to the pool. What one unusual document has made very
// large is left to the garbage collector instead.
func (s *Scanner) Release() {
	if cap(s.names) > scratchKept || cap(s.arena) > scratchKept || cap(s.table) > scratchKept {
		return
	}
	s.Doc, s.rules, s.err, s.fault, s.marks, s.halved, s.keep = nil, nil, nil, nil, 0, 0, 0
	s.frames, s.names, s.arena, s.free = s.frames[:0], s.names[:0], s.arena[:0], s.free[:0]
	s.notes, s.long, s.known = false, nil, nil
	scanners.Put(s)
}

// fail ends the walk: the rest of the document cannot be read. The text gives
// an offset and never a piece of the document, which may hold secrets.
func (s *Scanner) fail(what string) {
	s.exceed(what, "")
}

// exceed is fail for what may be good JSON and is beyond the limit of that key.
func (s *Scanner) exceed(what, key string) {
	if s.err == nil {
		s.err = &Error{What: what, At: s.Pos, Key: key}
	}
}

// Stop ends the walk with an error of the caller's, unless it has failed before.
func (s *Scanner) Stop(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Failed reports whether nothing more can be read. Refusals are no failures.
func (s *Scanner) Failed() bool { return s.err != nil }

// Limit is the configuration key of the limit that the document is beyond, "" for none.
func (s *Scanner) Limit() string {
	if e, ok := s.err.(*Error); ok { //nolint:errorlint // never wrapped
		return e.Key
	}
	return ""
}

// Seen is what Rules.Mark has made of the names that were read.
func (s *Scanner) Seen() uint8 { return s.marks }

// Halves reports whether an escape that is half a surrogate pair was read.
func (s *Scanner) Halves() bool { return s.halved > 0 }

// KeepStrings has the scanner remember where the strings stand that are skipped: the first
// most, and one more that says that there are more.
func (s *Scanner) KeepStrings(most int) { s.keep = most + 1 }

// Strings are where the characters stand of strings that were skipped, first to last.
func (s *Scanner) Strings() []Span { return s.free }

// ForgetNames gives the memory of the names back that were read in objects which have not
// ended. Names that follow are not compared with them: it is for a document that is beyond a
// limit anyway, and has perhaps a million of them.
func (s *Scanner) ForgetNames() { s.names, s.arena = s.names[:0], s.arena[:0] }

// Refuse records that the document is not acceptable. The walk goes on; the
// first refusal is the one that Finish reports.
func (s *Scanner) Refuse(err error) {
	if s.fault == nil {
		s.fault = err
	}
}

// Finish must be called when the document's value has been read. It fails if
// anything but space follows, and returns the failure, else the first refusal.
func (s *Scanner) Finish() error {
	if s.err == nil {
		if s.space(); s.Pos < len(s.Doc) {
			s.fail("something follows the document")
		}
	}
	if s.err != nil {
		return s.err
	}
	return s.fault
}

// Kind says what the next value is by its first byte: '{', '[', '"', 't', 'f',
// 'n', or '0' for any number. It is 0 when there is none. Behind it, Pos is the value's first byte.
func (s *Scanner) Kind() byte {
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
func (s *Scanner) peek() byte {
	if s.err != nil {
		return 0
	}
	if s.Pos < len(s.Doc) && s.Doc[s.Pos] > ' ' {
		return s.Doc[s.Pos] // machines write no space
	}
	s.space()
	if s.Pos >= len(s.Doc) {
		return 0
	}
	return s.Doc[s.Pos]
}

// space passes over the four characters that RFC 8259 §2 calls white space, and no others.
func (s *Scanner) space() {
	for s.Pos < len(s.Doc) {
		switch s.Doc[s.Pos] {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return
		}
	}
}

// Enter steps into the object or array that is next; the caller has seen its
// Kind. Then More must be called until it reports false.
func (s *Scanner) Enter() {
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
		s.exceed("nested too deeply", s.rules.DepthKey)
		return
	}
	s.Pos++
	s.frames = append(s.frames, frame{end: end, base: int32(len(s.names))}) //nolint:gosec // bodies are bounded far below
}

// More reports whether the innermost object or array has another member; if
// not, it steps out of it. After true the caller must read Name (in an object)
// and then the value.
func (s *Scanner) More() bool {
	c := s.peek()
	if s.err != nil {
		return false
	}
	f := &s.frames[len(s.frames)-1]
	if c == f.end {
		s.Pos++
		s.leave()
		return false
	}
	if f.count > 0 {
		if c != ',' {
			s.unexpected()
			return false
		}
		s.Pos++
	}
	if f.count++; int(f.count) > s.members {
		s.exceed("too many members in one object or array", s.rules.MembersKey)
		return false
	}
	return true
}

// leave pops the innermost frame. Only now are the names of a large object compared.
func (s *Scanner) leave() {
	f := s.frames[len(s.frames)-1]
	s.uniqueNames(int(f.base))
	s.names = s.names[:f.base]
	s.frames = s.frames[:len(s.frames)-1]
}

// Skip reads over the next value, whatever it is, and returns where it stands:
// doc[start:end]. After a failure the range is empty.
func (s *Scanner) Skip() (start, end int) {
	kind := s.Kind()
	start = s.Pos
	switch kind {
	case '{':
		for s.Enter(); s.More(); {
			s.Name()
			s.Skip()
		}
	case '[':
		for s.Enter(); s.More(); {
			s.Skip()
		}
	case '"':
		if s.str(); s.halved > start {
			s.half()
		}
		if len(s.free) < s.keep && s.err == nil {
			s.free = append(s.free, Span{int32(start + 1), int32(s.Pos - 1)}) //nolint:gosec // bodies are bounded far below
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
	return start, s.Pos
}

// Forgo takes a string out of what KeepStrings has kept: it was skipped, and its characters
// matter all the same. start is where Skip found it; only the last string can be forgone.
func (s *Scanner) Forgo(start int) {
	if n := len(s.free) - 1; n >= 0 && int(s.free[n].From) == start+1 {
		s.free = s.free[:n]
	}
}

// unexpected fails at a character that cannot stand here, or at the end of the document.
func (s *Scanner) unexpected() {
	if s.Pos >= len(s.Doc) {
		s.fail("it ends too early")
		return
	}
	s.fail("unexpected character")
}

// Pass reads over the next value by its brackets: of an object or array only the strings are
// checked. It holds to no limit and looks at each byte once, whatever the depth, so that the id
// of a call beyond the limits can still be found.
func (s *Scanner) Pass() {
	if kind := s.Kind(); kind != '{' && kind != '[' {
		s.Skip()
		return
	}
	for open := 0; s.err == nil; {
		if s.Pos >= len(s.Doc) {
			s.unexpected()
			return
		}
		switch s.Doc[s.Pos] {
		case '"':
			s.str()
			continue
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		if s.Pos++; open == 0 {
			return
		}
	}
}
