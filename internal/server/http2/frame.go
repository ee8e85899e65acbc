package http2

import "encoding/binary"

// Frame types (RFC 9113 §6). What comes with another type is passed over, wherever a frame
// may stand at all: extensions use them, and clients send some to see whether a server
// stumbles (RFC 8701 calls that grease).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePushPromise  = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9
)

// Flags, of the frames that have them.
const (
	flagEndStream  = 0x1 // DATA, HEADERS
	flagAck        = 0x1 // SETTINGS, PING
	flagEndHeaders = 0x4 // HEADERS, CONTINUATION
	flagPadded     = 0x8 // DATA, HEADERS
	flagPriority   = 0x20
)

// headSize is what every frame begins with: length (3), type (1), flags (1), stream (4).
const headSize = 9

// maxFrame is the largest payload that either side sends: what every peer takes without
// having been asked (RFC 9113 §4.2).
const maxFrame = 16 << 10

// preface is what tells HTTP/2 from HTTP/1.1 where no TLS has said which of them it is, and
// what a client's connection begins with (RFC 9113 §3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frame is one that has come in whole: at most 16 KiB, which the connection's buffer grows to
// when the first such frame comes and shrinks from again after it. Its payload is a part of the connection's buffer,
// which the next read overwrites.
type frame struct {
	kind    byte
	flags   byte
	stream  uint32
	payload []byte
}

// has reports whether a flag is set. Flags that a frame's type does not define have no
// meaning and are not looked at (RFC 9113 §4.1).
func (f *frame) has(flag byte) bool { return f.flags&flag != 0 }

// number is the first four bytes of the payload without the bit that has no meaning.
func (f *frame) number() uint32 { return binary.BigEndian.Uint32(f.payload) &^ (1 << 31) }

// unpad takes the padding off a payload (RFC 9113 §6.1), and is false where that is as long
// as the payload or longer.
func (f *frame) unpad() bool {
	if !f.has(flagPadded) {
		return true
	}
	if len(f.payload) == 0 || int(f.payload[0]) >= len(f.payload) {
		return false
	}
	f.payload = f.payload[1 : len(f.payload)-int(f.payload[0])]
	return true
}

// parseFrame takes the first frame of b. It needs so many bytes of b, more than there are
// where ok is false.
func parseFrame(b []byte) (f frame, size int, ok bool) {
	if len(b) < headSize {
		return frame{}, headSize, false
	}
	size = headSize + (int(b[0])<<16 | int(b[1])<<8 | int(b[2]))
	f = frame{kind: b[3], flags: b[4], stream: binary.BigEndian.Uint32(b[5:]) &^ (1 << 31)}
	if len(b) < size {
		return f, size, false
	}
	f.payload = b[headSize:size]
	return f, size, true
}

// appendFrame appends the head of a frame with n bytes of payload.
func appendFrame(b []byte, kind, flags byte, stream uint32, n int) []byte {
	b = append(b, byte(n>>16), byte(n>>8), byte(n), kind, flags) //nolint:gosec // of 24 bits
	return binary.BigEndian.AppendUint32(b, stream)
}

// appendReset appends the end of one stream. What the other side sends for it afterwards, not
// knowing of it yet, is ignored.
func appendReset(b []byte, stream uint32, code code) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, frameReset, 0, stream, 4), uint32(code))
}

// appendWindowUpdate appends that so many bytes more may come, of a stream's bodies or, for
// stream 0, of all.
func appendWindowUpdate(b []byte, stream, n uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, frameWindowUpdate, 0, stream, 4), n)
}

// appendGoAway appends that no stream above last is served: the client may send those again on
// another connection without fear that they are done twice.
func appendGoAway(b []byte, last uint32, code code) []byte {
	b = binary.BigEndian.AppendUint32(appendFrame(b, frameGoAway, 0, 0, 8), last)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

// appendPing appends a ping, or with flagAck the answer to one, which repeats its 8 bytes.
func appendPing(b []byte, flags byte, data []byte) []byte {
	return append(appendFrame(b, framePing, flags, 0, len(data)), data...)
}
