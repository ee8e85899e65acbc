package strict

// state is what comes next. A request with a body of chunks goes through
//
//	atStart  inMethod  inTarget  inVersion  inRequestLineEnd
//	atField  inName  inValue|inLength|inCoding  inFieldEnd      once for each field
//	atField  inHeadEnd
//	atChunk  inChunkSize  inChunkSizeEnd  inChunk  atChunkEnd  inChunkEnd   once for each chunk
//	atField …  inHeadEnd                                        trailers, which are dropped
//
// and is at atStart again. The order of the constants matters: all up to inHeadEnd are bounded
// by the size of a head (inHead).
type state uint8

const (
	atStart state = iota // a request, or the one empty line that may stand before it
	inEmptyLine
	inEmptyLineEnd
	inMethod
	inTarget
	inVersion
	inRequestLineEnd
	atField // a field, or the end of the head
	inName
	inValue
	inLength
	inCoding
	inCodings // of which some are not chunked
	inFieldEnd
	inHeadEnd
	inBody
	atChunk
	inChunkSize
	inChunkSizeEnd
	inChunk
	atChunkEnd
	inChunkEnd
	inPreface // HTTP/2's, perhaps
	inHTTP2
)

// reader knows where in a request a connection is. It is told of every byte once, in
// pieces of any size.
type reader struct {
	state    state
	trailers bool // the fields are trailers
	empty    bool // an empty line stood before the request
	old      bool // HTTP/1.0
	foreign  bool // neither HTTP/1.0 nor HTTP/1.1 nor one that is like the latter
	chunked  bool
	sized    bool // there is a length
	hosts    uint8
	prefix   int   // how much of a text that is known there has been
	limit    int   // of a head
	size     int   // of this head
	left     int64 // of the body or the chunk; while digits are read, what they say
	codings  codings
	name     [longestName]byte
	named    int // how much of name there is of a name that came in pieces
}

// read judges what comes next and says how much of it may pass, at the beginning of p.
// What is dropped is taken out of p.
func (r *reader) read(p []byte) (int, rule) {
	for i := 0; i < len(p); {
		// Of the state before the step: what it reads belongs to that.
		drops, head, at := r.drops(), r.inHead(), r.state
		n, broken := r.step(p[i:])
		if head {
			// What reaches beyond the limit does not pass, nor anything after it.
			if r.size += n; r.size > r.limit {
				return i, r.tooLarge(at)
			}
		}
		if drops {
			// In place: the caller's buffer then has only what passes.
			p = append(p[:i], p[i+n:]...)
		} else {
			i += n
		}
		if broken != kept {
			return i, broken
		}
	}
	return len(p), kept
}

// inHead is true of all whose size is bounded: heads and trailers.
func (r *reader) inHead() bool { return r.state <= inHeadEnd }

// tooLarge tells of trailers, of a target that fills a head by itself, or of a head, by what
// the limit was reached in.
func (r *reader) tooLarge(in state) rule {
	switch {
	case r.trailers:
		return trailer
	case in == inTarget:
		return targetSize
	}
	return headSize
}

// drops is true of the empty line before a request, and of trailers, which nobody here
// has a use for. Their last line end passes, it is the body's.
func (r *reader) drops() bool {
	return r.state == inEmptyLine || r.state == inEmptyLineEnd || r.trailers && r.state >= inName && r.state <= inFieldEnd
}

// step reads some of p, of one kind, and goes to the next state where that ends. What it
// has read when a rule is broken may pass.
func (r *reader) step(p []byte) (int, rule) {
	switch r.state {
	case atStart:
		return r.start(p[0])
	case inEmptyLine:
		return r.expect(p[0], '\r', inEmptyLineEnd, emptyLine)
	case inEmptyLineEnd:
		return r.expect(p[0], '\n', atStart, emptyLine)
	case inMethod:
		return r.method(p)
	case inTarget:
		return r.target(p)
	case inVersion:
		return r.version(p)
	case inRequestLineEnd, inFieldEnd:
		return r.expect(p[0], '\n', atField, lineEnd)
	case atField:
		return r.field(p)
	case inName:
		return r.fieldName(p)
	case inValue:
		return r.value(p)
	case inLength:
		return r.contentLength(p)
	case inCoding:
		return r.transferEncoding(p)
	case inCodings:
		return r.transferCodings(p)
	case inHeadEnd:
		return r.headEnd(p[0])
	case inBody:
		return r.skip(p, atStart)
	case inChunk:
		return r.skip(p, atChunkEnd)
	}
	return r.framing(p)
}

// framing is step for what stands around chunks, and for what is not read.
func (r *reader) framing(p []byte) (int, rule) {
	switch r.state {
	case atChunk, inChunkSize:
		return r.chunkSize(p)
	case inChunkSizeEnd:
		return r.chunkBegins(p[0])
	case atChunkEnd:
		return r.expect(p[0], '\r', inChunkEnd, chunkEnd)
	case inChunkEnd:
		return r.expect(p[0], '\n', atChunk, chunkEnd)
	}
	return len(p), kept
}

// expect takes one byte and no other.
func (r *reader) expect(got, want byte, next state, otherwise rule) (int, rule) {
	if got != want {
		return 0, otherwise
	}
	r.state = next
	return 1, kept
}

// skip passes data, up to where it ends.
func (r *reader) skip(p []byte, next state) (int, rule) {
	n := int(min(int64(len(p)), r.left))
	if r.left -= int64(n); r.left == 0 {
		r.state = next
	}
	return n, kept
}
