package http1

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// direct is how long a body may be to be written by the caller's goroutine, together with
// the head. What an agent's and our own socket take without anybody reading is more, so
// that writing cannot wait for an agent that answers before it has read. Longer ones are
// written by another goroutine.
const direct = 32 << 10

// usual reports whether a request is one for this package.
//
// It must be strict rather than complete: what it lets through is written by appendHead, which
// knows no chunks, trailers, upgrades or expectations, while net/http knows them all.
func usual(r *http.Request) bool {
	u := r.URL
	if u == nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.User != nil {
		return false
	}
	switch {
	case !plain(u.Host) || u.Host == "" || !plain(r.Host):
	case !httpguts.ValidHeaderFieldName(r.Method) || r.Method == http.MethodConnect:
	case r.Close || len(r.TransferEncoding) > 0 || len(r.Trailer) > 0:
	case r.ContentLength < 0 || (r.Body == nil || r.Body == http.NoBody) != (r.ContentLength == 0):
	default:
		for _, name := range [...]string{"Connection", "Upgrade", "Expect", "Te", "Proxy-Connection", "Keep-Alive"} {
			if r.Header[name] != nil {
				return false
			}
		}
		return true
	}
	return false
}

// plain reports whether a host is written as it goes out: a name in ASCII, an address.
func plain(host string) bool {
	for i := range len(host) {
		switch c := host[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 'A' && c <= 'Z':
		case strings.IndexByte(".-_:[]", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// message is a request as it is written.
type message struct {
	b      []byte // the head, and a body that is short
	long   bool   // the body is not in b
	handed bool   // somebody else closes the body
}

var messages = sync.Pool{New: func() any { return new(message) }}

// mostPooled keeps a large head from holding its memory.
const mostPooled = 2 * direct

// done lets go of a request that is not written any more.
func (m *message) done(r *http.Request) {
	if r.Body != nil && (m == nil || !m.handed) {
		_ = r.Body.Close() // it has been read, or will not be
	}
	if m != nil && !m.long && cap(m.b) <= mostPooled {
		*m = message{b: m.b[:0]}
		messages.Put(m)
	}
}

// compose writes a request, with its body if that is short.
//
// The message comes from a pool even where there is an error, and done puts it back.
func compose(r *http.Request) (*message, error) {
	m, _ := messages.Get().(*message)
	var err error
	if m.b, err = appendHead(m.b, r); err != nil {
		return m, err
	}
	switch {
	case r.ContentLength > direct:
		m.long = true
	case r.ContentLength > 0:
		m.b, err = appendBody(m.b, r)
	}
	return m, err
}

// errBody is about a body that is not as long as its request says.
var errBody = errors.New("the request's body is not as long as its ContentLength")

// appendBody reads a whole body.
func appendBody(b []byte, r *http.Request) ([]byte, error) {
	begin, n := len(b), int(r.ContentLength)
	if free := cap(b) - begin; free < n {
		b = append(b, make([]byte, n)...)
	}
	b = b[:begin+n]
	if _, err := io.ReadFull(r.Body, b[begin:]); err != nil {
		return b, fmt.Errorf("%w: %w", errBody, err)
	}
	return b, atEnd(r.Body)
}

// atEnd makes sure that there is no more than was announced.
func atEnd(body io.Reader) error {
	var one [1]byte
	switch n, err := io.ReadFull(body, one[:]); {
	case n > 0:
		return errBody
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// appendHead writes a head as net/http would: whoever asks for no User-Agent with an
// empty one gets none.
//
// Content-Length: 0 is written for methods that usually have a body, which some servers answer
// 411 without. The order of fields is that of the map, and so differs from call to call; HTTP
// gives it no meaning.
func appendHead(b []byte, r *http.Request) ([]byte, error) {
	target, host := r.URL.RequestURI(), r.Host
	if host == "" {
		host = r.URL.Host
	}
	if strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return b, errors.New("the request's URL has spaces or control characters in it")
	}
	b = append(append(append(append(b, r.Method...), ' '), target...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, host...), "\r\n"...)
	agent := "Go-http-client/1.1"
	if v := r.Header["User-Agent"]; len(v) > 0 {
		agent = v[0]
	}
	if agent != "" {
		b = appendField(b, "User-Agent", agent)
	}
	if !httpguts.ValidHeaderFieldValue(agent) {
		return b, errors.New("the value of the header \"User-Agent\" cannot be sent")
	}
	if r.ContentLength > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = strconv.AppendInt(append(b, "Content-Length: "...), r.ContentLength, 10)
		b = append(b, "\r\n"...)
	}
	for name, values := range r.Header {
		switch name {
		case "Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer":
			continue // they are the message's
		}
		if !httpguts.ValidHeaderFieldName(name) {
			return b, fmt.Errorf("the name of the header %q cannot be sent", name)
		}
		for _, v := range values {
			b = appendField(b, name, v)
			if !httpguts.ValidHeaderFieldValue(v) {
				return b, fmt.Errorf("the value of the header %q cannot be sent", name)
			}
		}
	}
	return append(b, "\r\n"...), nil
}

func appendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, textproto.TrimString(value)...), "\r\n"...)
}
