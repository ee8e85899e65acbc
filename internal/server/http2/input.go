package http2

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// input is what was read and not yet used: a window from..to of the buffer. When something came
// last is what tells a client that is idle from one that is gone (conn.late).
type input struct {
	nc    net.Conn
	block *[]byte // of the pool
	buf   []byte  // the block, unless a frame was too large for it
	from  int
	to    int
	last  time.Time // when something came
	asked bool      // for a sign of life since
}

// blockSize is what most frames have room in.
const blockSize = 4 << 10

var blocks = sync.Pool{New: func() any {
	b := make([]byte, blockSize)
	return &b
}}

// begin takes a block from the pool. A connection keeps it until it ends: a read into less
// than a frame's head would cost a system call more for each frame. The first read is counted from
// now, so that a connection that says nothing is not taken for one that has been silent for ever.
func (in *input) begin(nc net.Conn) {
	in.nc, in.last = nc, time.Now()
	in.block, _ = blocks.Get().(*[]byte)
	in.buf = *in.block
}

// free gives the block back. Nobody reads any more.
func (in *input) free() {
	blocks.Put(in.block)
	in.block, in.buf = nil, nil
}

// have is how many bytes wait to be looked at, and bytes are they; take passes some of them.
func (in *input) have() int     { return in.to - in.from }
func (in *input) bytes() []byte { return in.buf[in.from:in.to] }
func (in *input) take(n int)    { in.from += n }

// fill reads more of a frame of some size. A buffer that one frame had made
// larger is not kept beyond it.
//
// What is there already is moved to the front only where the frame would not fit behind it, so
// that a run of small frames is copied seldom. A read takes whatever has come, often many frames.
// Reading nothing without an error is not the end: who calls asks again.
func (in *input) fill(size int) error {
	have := in.have()
	switch {
	case size > len(in.buf):
		larger := make([]byte, headSize+maxFrame)
		copy(larger, in.bytes())
		in.buf, in.from, in.to = larger, 0, have
	case len(in.buf) > blockSize && size <= blockSize && have <= blockSize:
		copy(*in.block, in.bytes())
		in.buf, in.from, in.to = *in.block, 0, have
	case have == 0:
		in.from, in.to = 0, 0
	case in.from > 0 && in.from+size > len(in.buf):
		in.to = copy(in.buf, in.bytes())
		in.from = 0
	}
	n, err := in.nc.Read(in.buf[in.to:])
	in.to += n
	switch {
	case n > 0:
		in.last, in.asked = time.Now(), false
		return nil
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) && in.have() > 0:
		return io.ErrUnexpectedEOF
	}
	return err
}
