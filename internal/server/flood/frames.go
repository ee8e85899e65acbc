package flood

import "encoding/binary"

// Types, flags and error codes of RFC 9113, those that are weighed.
const (
	typeData         = 0x0
	typeHeaders      = 0x1
	typePriority     = 0x2
	typeReset        = 0x3
	typeSettings     = 0x4
	typePing         = 0x6
	typeGoAway       = 0x7
	typeWindowUpdate = 0x8
	typeContinuation = 0x9

	flagEndStream = 0x1
	flagPadded    = 0x8

	errProtocol     = 0x1
	errFlowControl  = 0x3
	errStreamClosed = 0x5
	errFrameSize    = 0x6
	errRefused      = 0x7
	errCompression  = 0x9
	errCalm         = 0xb
)

// headSize is the size of what every frame begins with (RFC 9113 §4.1).
const headSize = 9

// frames finds the frames in what passes in one direction, in any pieces.
type frames struct {
	frame
	have int    // bytes of it that have passed
	rest uint32 // bytes of the payload behind it that have not
}

// frame is a frame's head and, of a payload, the part that tells what it weighs: the
// length of a DATA frame's padding, the code of a reset.
type frame [headSize + 4]byte

func (f *frame) length() uint32 { return uint32(f[0])<<16 | uint32(f[1])<<8 | uint32(f[2]) }
func (f *frame) kind() byte     { return f[3] }
func (f *frame) flags() byte    { return f[4] }
func (f *frame) stream() uint32 { return binary.BigEndian.Uint32(f[5:]) &^ (1 << 31) }
func (f *frame) code() uint32   { return binary.BigEndian.Uint32(f[headSize:]) }

// data is how much a DATA frame carries, padding apart.
func (f *frame) data() uint32 {
	n := f.length()
	if f.flags()&flagPadded == 0 {
		return n
	}
	if pad := 1 + uint32(f[headSize]); n >= pad {
		return n - pad
	}
	return 0
}

// wanted is how much of the frame there is to look at, as far as is known.
func (f *frames) wanted() int {
	if f.have < headSize {
		return headSize
	}
	more := uint32(0)
	switch {
	case f.kind() == typeReset:
		more = 4
	case f.kind() == typeData && f.flags()&flagPadded != 0:
		more = 1
	}
	return headSize + int(min(more, f.length()))
}

// next takes bytes from p up to the point where a frame can be weighed, or all of them,
// and reports whether it can.
func (f *frames) next(p []byte) (n int, ok bool) {
	if f.rest > 0 {
		n = min(int(f.rest), len(p)) // a length has 24 bits
		f.rest -= uint32(n)          //nolint:gosec // at most rest
		return n, false
	}
	for f.have < f.wanted() {
		if n == len(p) {
			return n, false
		}
		took := copy(f.frame[f.have:f.wanted()], p[n:])
		f.have, n = f.have+took, n+took
	}
	f.rest = f.length() - uint32(f.have-headSize) //nolint:gosec // at most 4, and never more than the length
	f.have = 0
	return n, true
}

// between reports whether the last frame is complete.
func (f *frames) between() bool { return f.rest == 0 && f.have == 0 }
