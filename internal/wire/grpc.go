package wire

import (
	"errors"
	"io"
	"net/http"
)

var errNotYet = errors.New("not yet")

// ByRPC finds the operation behind a gRPC path.
func ByRPC(path string) (m *Method, v Version, ok bool) { return nil, "", false }

// RPC is the path of the method's RPC in a version, "" where it has none.
func (m *Method) RPC(v Version) string { return "" }

// DecodeGRPC reads one protobuf request message.
func (c *Call) DecodeGRPC(m *Method, v Version, message []byte, header Version, lim Limits) *Error {
	return Errorf(Internal, "")
}

// AppendMessage frames a message.
func AppendMessage(dst, message []byte) []byte { return dst }

// Messages splits a gRPC body into messages.
type Messages struct{}

// NewMessages reads messages of at most limit bytes from r.
func NewMessages(r io.Reader, limit int) *Messages { return nil }

// Next returns the next message, valid until the next call.
func (m *Messages) Next() ([]byte, error) { return nil, errNotYet }

// RequestMessage turns a request document into its protobuf message.
func RequestMessage(m *Method, v Version, doc []byte) ([]byte, error) { return nil, errNotYet }

// ResponseJSON turns an answer (or one of a stream) into its document.
func ResponseJSON(m *Method, v Version, message []byte) ([]byte, error) { return nil, errNotYet }

// ResponseMessage turns a document into the protobuf message of an answer.
func ResponseMessage(m *Method, v Version, doc []byte) ([]byte, error) { return nil, errNotYet }

// ReadStatus reads how a gRPC call ended; nil for OK.
func ReadStatus(header, trailer http.Header) *Error { return Errorf(Internal, "") }

// ReadError reads the error that an agent answered in a JSON body.
func ReadError(s Side, status int, body []byte) *Error { return Errorf(Internal, "") }

// SetStatus writes how a gRPC call ended into the trailers of a response whose
// header has been written; nil is OK.
func SetStatus(h http.Header, e *Error) {}
