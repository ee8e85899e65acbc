package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
)

// ErrTooLarge is what Next returns for an event above the limit.
var ErrTooLarge = errors.New("read event: larger than the limit")

const (
	firstBuffer = 2 << 10 // most A2A events are below 1 KiB; ten thousand idle streams hold one each
	keepBuffer  = 16 << 10
	patience    = 64  // events after which a large buffer that nobody needs is given back
	maxEmpty    = 100 // reads without bytes and error in a row, as bufio has it
	idChunk     = 512 // ids are cut from strings of this size: one allocation for many
)

// Reader splits a byte stream into events. Lines end with LF, CR or CRLF, in
// any mixture; a byte order mark at the very start is skipped. How the bytes
// are split over reads makes no difference.
//
// An event is returned as soon as its blank line is there: after a CR the
// Reader does not wait to see whether a LF follows, because an agent that ends
// its lines with CR may be silent for minutes. A comment in front of an event is
// returned as soon as its line is there: the blank line may never come, and
// whoever waits for the event wants to know that the agent is alive.
//
// A Reader is for one goroutine. It holds one buffer, which grows with the
// largest event, to less than three times the limit, and shrinks again.
type Reader struct {
	// Whole is asked of the data of a frame in which the stream has ended, without the blank
	// line: where it is true the frame is an event like others. Nil is never. It must not
	// change or keep the data.
	Whole func(data []byte) bool

	src   io.Reader
	limit int
	err   error // what src ended with; lines read before it go first
	over  error // what Next has returned and returns ever after

	buf   []byte // everything read and not yet dropped
	frame int    // start of the current frame in buf
	line  int    // start of the current line
	scan  int    // no line end in buf[line:scan]
	lf    int    // no LF in buf[line:lf]; buf[lf] is one unless lf is the end

	filled  bool // the last read has filled buf
	skipLF  bool // the last line ended with CR: a LF at line belongs to it
	started bool // the first line is behind us, a BOM is no longer skipped

	small int // events in a row that needed less than a quarter of the buffer

	name string          // last event name, so that equal ones share a string
	ids  strings.Builder // see intern
}

// NewReader reads events of at most limit bytes from r. Counted are an event's
// lines, each with one byte for its end; comments in front of its first field
// are not counted together but each on its own.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{src: r, limit: limit}
}

// Next returns the next event or comment. Its errors end the stream and are returned ever
// after: io.EOF where the stream ended between frames or after comments;
// io.ErrUnexpectedEOF where a frame with a field, or a line that may have been
// one, was not finished and is not whole; ErrTooLarge; or what the underlying reader returned.
func (r *Reader) Next() (Event, error) {
	if r.over != nil {
		return Event{}, r.over
	}
	r.release()
	f := frame{reader: r}
	for {
		line, err := r.nextLine(f.size)
		if err != nil {
			return r.last(&f, line, err)
		}
		switch {
		case len(line) > 0:
			if f.add(line); !f.fields {
				return Event{Comment: true}, nil
			}
		case f.fields:
			return f.event(), nil
		default:
			r.frame = r.line // a blank line too many
		}
	}
}

// More reports whether Next would return without reading, with an event or an error. It
// does not know so of an event whose lines end with CR, nor of a comment alone.
func (r *Reader) More() bool {
	if !r.started {
		return false // nobody knows yet how the first line begins
	}
	rest := bytes.TrimLeft(r.buf[r.line:], "\r\n") // blank lines alone are no event
	return bytes.Contains(rest, endLF) || bytes.Contains(rest, endCRLF)
}

// Rest gives the buffer back where nothing is in it, before a read that may take hours. It
// is false where the next event has begun. The data of the last one is not good any more.
func (r *Reader) Rest() bool {
	blank := r.started && len(bytes.TrimLeft(r.buf[r.line:], "\r\n")) == 0 // what stands behind a comment, mostly
	if r.line < len(r.buf) && !blank || r.err != nil {
		return false
	}
	giveBack(r.buf)
	r.buf, r.frame, r.line, r.scan, r.lf, r.small, r.filled = nil, 0, 0, 0, 0, 0, false
	return true
}

// buffers are for Readers that rest most of the time, and largeBuffers for those to which more comes at once.
var (
	buffers      = sync.Pool{New: func() any { return new([firstBuffer]byte) }}
	largeBuffers = sync.Pool{New: func() any { return new([keepBuffer]byte) }}
)

// buffer is a new one, of n bytes.
func buffer(n int) []byte {
	switch n {
	case firstBuffer:
		b, _ := buffers.Get().(*[firstBuffer]byte)
		return b[:0]
	case keepBuffer:
		b, _ := largeBuffers.Get().(*[keepBuffer]byte)
		return b[:0]
	}
	return make([]byte, 0, n)
}

// giveBack lets others have a buffer.
func giveBack(b []byte) {
	switch cap(b) {
	case firstBuffer:
		buffers.Put((*[firstBuffer]byte)(b[:firstBuffer]))
	case keepBuffer:
		largeBuffers.Put((*[keepBuffer]byte)(b[:keepBuffer]))
	}
}

// How nearly all agents end an event.
var (
	endLF   = []byte("\n\n")
	endCRLF = []byte("\n\r\n")
)

// last is what becomes of the frame that reading has ended in with err, behind an
// unfinished line. A clean end inside of a frame is not clean, unless the frame is whole.
func (r *Reader) last(f *frame, line []byte, err error) (Event, error) {
	pending := f.fields || len(line) > 0 && line[0] != ':'
	r.over = err
	if !errors.Is(err, io.EOF) || !pending {
		return Event{}, err
	}
	if r.Whole != nil {
		if n := len(line); n > 0 {
			r.buf = append(r.buf, '\n') // as if the line had ended
			r.line = len(r.buf)
			f.add(r.buf[r.line-1-n : r.line-1])
		}
		if e := f.event(); f.data && r.Whole(e.Data) {
			return e, nil
		}
	}
	r.over = io.ErrUnexpectedEOF
	return Event{}, r.over
}

// nextLine returns the next line without its end; used is what the frame has
// taken of the limit so far. With an error it returns the unfinished line.
func (r *Reader) nextLine(used int) ([]byte, error) {
	for empty := 0; ; {
		if r.skipLF && r.line < len(r.buf) {
			r.skipLF = false
			if r.buf[r.line] == '\n' {
				r.line++
				r.scan = max(r.scan, r.line)
			}
		}
		end := r.lineEnd()
		line := r.buf[r.line:max(end, r.scan)]
		if used+len(line) > r.limit || end >= 0 && used+len(line)+1 > r.limit && len(line) > 0 {
			return nil, ErrTooLarge
		}
		if end >= 0 {
			r.skipLF = r.buf[end] == '\r'
			r.line, r.scan = end+1, end+1
			return r.afterBOM(line), nil
		}
		if r.err != nil {
			return r.afterBOM(line), r.err
		}
		switch n := r.fill(); {
		case n > 0:
			empty = 0
		case r.err == nil:
			if empty++; empty == maxEmpty {
				r.err = io.ErrNoProgress
			}
		}
	}
}

// lineEnd finds the CR or LF that ends the current line, or -1. Every byte is
// looked at once for each of the two, however the lines end.
func (r *Reader) lineEnd() int {
	r.lf = max(r.lf, r.scan)
	if r.lf < len(r.buf) && r.buf[r.lf] != '\n' {
		if i := bytes.IndexByte(r.buf[r.lf:], '\n'); i >= 0 {
			r.lf += i
		} else {
			r.lf = len(r.buf)
		}
	}
	if i := bytes.IndexByte(r.buf[r.scan:r.lf], '\r'); i >= 0 {
		return r.scan + i
	}
	r.scan = r.lf
	if r.lf < len(r.buf) {
		return r.lf
	}
	return -1
}

// afterBOM cuts a byte order mark off the first line.
func (r *Reader) afterBOM(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
}

// fill reads once, after making room, and returns how many bytes came. It
// keeps an error for later: bytes that came with it go first.
func (r *Reader) fill() int {
	r.makeRoom()
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	r.filled = len(r.buf) == cap(r.buf)
	r.err = err
	return n
}

// makeRoom moves the current frame to the start of the buffer when the buffer
// is full or the frame empty, and doubles the buffer when that frees little. Where the source had as
// much to give as there was room for, the buffer becomes large at once: what has come together is then
// taken with few reads.
func (r *Reader) makeRoom() {
	if r.filled && cap(r.buf) < keepBuffer && r.limit >= keepBuffer {
		r.shift(buffer(keepBuffer))
		return
	}
	if r.frame == len(r.buf) || len(r.buf) == cap(r.buf) {
		r.shift(r.buf[:0])
	}
	if free := cap(r.buf) - len(r.buf); free == 0 || free < cap(r.buf)/4 && r.frame == 0 {
		r.shift(buffer(max(firstBuffer, 2*cap(r.buf))))
	}
}

// shift copies what is not yet dropped to the start of dst, the new buffer.
func (r *Reader) shift(dst []byte) {
	gone, old := r.frame, r.buf
	r.buf = append(dst, old[gone:]...)
	if cap(old) != cap(r.buf) { // the caller is done with the last event, by asking for the next
		giveBack(old)
	}
	r.frame, r.line, r.scan, r.lf = 0, r.line-gone, r.scan-gone, max(0, r.lf-gone)
}

// release drops the event that the caller has now done with, and the buffer as
// well once a large event lies long enough behind: a stream lives for hours.
func (r *Reader) release() {
	if used := r.line - r.frame; used > cap(r.buf)/4 || cap(r.buf) <= keepBuffer {
		r.small = 0
	} else {
		r.small++
	}
	r.frame = r.line
	if r.small > patience && len(r.buf)-r.frame <= keepBuffer/2 {
		r.small = 0
		r.shift(buffer(keepBuffer))
	}
}

// intern makes a string of an id. Ids differ from event to event, so they are
// cut from chunks that grow by appending: written bytes never change again.
func (r *Reader) intern(b []byte) string {
	if r.ids.Cap()-r.ids.Len() < len(b) {
		r.ids.Reset()
		r.ids.Grow(max(idChunk, len(b)))
	}
	start := r.ids.Len()
	r.ids.Write(b)
	return r.ids.String()[start:]
}
