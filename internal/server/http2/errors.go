package http2

import (
	"errors"
	"fmt"
)

// code is why a stream or a connection ended (RFC 9113 §7). Clients decide by it whether to
// send a request again: one that was refused has had no effect, one that was cancelled may.
type code uint32

const (
	codeNo            code = 0x0
	codeProtocol      code = 0x1
	codeInternal      code = 0x2
	codeFlowControl   code = 0x3
	codeStreamClosed  code = 0x5
	codeFrameSize     code = 0x6
	codeRefusedStream code = 0x7
	codeCancel        code = 0x8
	codeCompression   code = 0x9
	codeCalm          code = 0xb
)

// connError ends the connection: the client gets GOAWAY with the code. It is for what leaves the
// two sides with different ideas of the connection: its streams, its windows, the table of heads.
type connError struct {
	code code
	name string // for Server.Errors, of [a-z0-9_]
}

func (e *connError) Error() string {
	return fmt.Sprintf("HTTP/2 connection error %d: %s", e.code, e.name)
}

// streamError ends one stream: the client gets RST_STREAM with the code. Others go on, since a
// proxy in front has calls of many clients on one connection.
type streamError struct {
	stream uint32
	code   code
	name   string
}

func (e *streamError) Error() string {
	return fmt.Sprintf("HTTP/2 stream %d error %d: %s", e.stream, e.code, e.name)
}

// What handlers get from reads and writes once there is nothing to read or to write any more,
// and the reasons of streams that ended. errLate is the one of a stream that ended well: its context
// does not end with it, as the handler may have something to do yet.
var (
	errClosed = errors.New("the HTTP/2 connection has ended")
	errReset  = errors.New("the client has reset the HTTP/2 stream")
	errLate   = errors.New("the HTTP/2 stream has ended")
	errLength = errors.New("the body is not as long as its Content-Length")
)
