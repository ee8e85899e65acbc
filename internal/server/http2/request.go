package http2

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/server/httpfield"
)

// parse makes a request of a head. What is malformed (RFC 9113 §8.1.1) is a streamError.
//
// The host is ":authority", and the Host field only where that is missing: proxies that translate
// HTTP/1.1 may send it so (§8.3.1). Where both are there and differ, package screen refuses it.
func (st *stream) parse(h *head) error {
	r := st.conn.begin.WithContext(st.ctx) // a copy
	p, err := pseudoFields(h)
	if err != nil {
		return err
	}
	r.Method, r.Host = p.method, p.authority
	if err := st.fields(r, h, p.count); err != nil {
		return err
	}
	if r.Host == "" {
		if host := r.Header["Host"]; len(host) > 0 {
			r.Host = host[0]
		}
	}
	if err := st.locate(r, p); err != nil {
		return err
	}
	st.request = r
	st.measure(r, h.endStream)
	return nil
}

// pseudo are the fields that stand for the request line (RFC 9113 §8.3.1). That an ":authority"
// was there is counted, because it is the one that may be empty, which the text would not show.
type pseudo struct {
	method, scheme, authority, path string
	count, authorities              int
}

// field is where one of them goes, nil for what is none.
func (p *pseudo) field(name string) *string {
	switch name {
	case ":method":
		return &p.method
	case ":scheme":
		return &p.scheme
	case ":authority":
		return &p.authority
	case ":path":
		return &p.path
	}
	return nil
}

// pseudoFields reads them. They come first, and each once: of two paths one proxy would check the
// first and the next one serve the second. CONNECT has an authority and nothing else (RFC 9113
// §8.5); it is read so that it can be refused like any verb that nobody serves.
func pseudoFields(h *head) (p pseudo, err error) {
	malformed := func(name string) error { return &streamError{h.stream, codeProtocol, name} }
	for _, f := range h.fields {
		if !f.IsPseudo() {
			break
		}
		to := p.field(f.Name)
		switch {
		case to == nil:
			return p, malformed("pseudo_unknown")
		case *to != "" || f.Name == ":authority" && p.authorities > 0:
			return p, malformed("pseudo_twice")
		case f.Value == "" && f.Name != ":authority":
			return p, malformed("pseudo_empty")
		case f.Name == ":authority":
			p.authorities++
		}
		*to = f.Value
		p.count++
	}
	switch connect := p.method == http.MethodConnect; {
	case p.method == "", !connect && (p.scheme == "" || p.path == ""):
		return p, malformed("pseudo_missing")
	case !connect && p.scheme != "http" && p.scheme != "https": // this is no gateway to another protocol
		return p, malformed("scheme")
	case connect && (p.scheme != "" || p.path != "" || p.authority == ""):
		return p, malformed("connect")
	case !httpguts.ValidHeaderFieldName(p.method): // a method is a token, as names are
		return p, malformed("method")
	case !httpguts.ValidHostHeader(p.authority):
		return p, malformed("authority")
	}
	return p, nil
}

// fields reads the others, with the names as handlers know them ("x-api-key" is "X-Api-Key").
// Cookies are one field again, and the expectation of 100 is taken out since it is met here.
// Values of fields that have one are parts of one slice, which is one allocation for all of them;
// its parts have no room behind them, so that a second value does not overwrite a neighbour.
//
// A value with a line end or a NUL resets the stream. It could not be said in HTTP/1.1, where it
// would be two fields, or the end of the head (RFC 9113 §10.3).
func (st *stream) fields(r *http.Request, h *head, pseudos int) error {
	all := h.fields[pseudos:]
	header := make(http.Header, len(all))
	values := make([]string, 0, len(all))
	for _, f := range all {
		name, ok := receivedName(f.Name)
		switch {
		case f.IsPseudo():
			return &streamError{h.stream, codeProtocol, "pseudo_late"}
		case !ok || !httpguts.ValidHeaderFieldValue(f.Value):
			return &streamError{h.stream, codeProtocol, "field"}
		case forbidden(name, f.Value):
			return &streamError{h.stream, codeProtocol, "connection_field"}
		}
		before, again := header[name]
		switch {
		case again && name == "Cookie": // in pieces, for the table's sake (RFC 9113 §8.2.3)
			before[0] += "; " + f.Value
		case again:
			header[name] = append(before, f.Value)
		default:
			values = append(values, f.Value)
			n := len(values)
			header[name] = values[n-1 : n : n]
		}
	}
	if expect := header["Expect"]; expect != nil && !h.endStream && httpfield.HasToken(expect, "100-continue") {
		delete(header, "Expect")
		st.body.expects = true
	}
	delete(header, "Trailer") // what it announces is not passed on
	r.Header = header
	return nil
}

// forbidden are fields about a connection, which HTTP/2 has none of (RFC 9113 §8.2.2). Frames say
// here where a message ends; a Transfer-Encoding beside them would say it once more to a reader
// of HTTP/1.1 behind a proxy that copies it, which is how requests are smuggled by downgrade.
func forbidden(name, value string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade":
		return true
	case "Te":
		return value != "trailers"
	}
	return false
}

// locate reads the target: ":path" is a path with a query and never a whole URI, "*" for
// OPTIONS alone, and absent for CONNECT, which names an authority. A path without escapes, which
// nearly all are, is what it says: it needs no parser, and its URL is a part of the stream.
func (st *stream) locate(r *http.Request, p pseudo) error {
	if p.method == http.MethodConnect {
		r.URL, r.RequestURI = &url.URL{Host: p.authority}, p.authority
		return nil
	}
	r.RequestURI = p.path
	switch {
	case p.path == "*":
		if p.method != http.MethodOptions {
			return &streamError{st.id, codeProtocol, "path"}
		}
	case p.path[0] != '/':
		return &streamError{st.id, codeProtocol, "path"}
	case !strings.HasPrefix(p.path, "//"):
		path, query, asks := strings.Cut(p.path, "?")
		if httpfield.PlainPath(path) {
			st.url = url.URL{Path: path, RawQuery: query, ForceQuery: asks && query == ""}
			r.URL = &st.url
			return nil
		}
	}
	u, err := url.ParseRequestURI(p.path)
	if err != nil {
		return &streamError{st.id, codeProtocol, "path"}
	}
	r.URL = u
	return nil
}

// measure settles what there is of a body. Nothing follows a head with END_STREAM; otherwise
// the length is what Content-Length says, and -1 without one. A length that was said is held
// against what comes (body.add). What is no number counts as 0
// here, as with net/http, and is refused by who reads the field (package screen).
func (st *stream) measure(r *http.Request, end bool) {
	r.Body = http.NoBody
	if end {
		st.body.ended = true
		return
	}
	r.ContentLength = -1
	if lines := r.Header["Content-Length"]; len(lines) > 0 {
		r.ContentLength = 0
		if n, err := strconv.ParseUint(lines[0], 10, 63); err == nil {
			r.ContentLength, st.body.declared = int64(n), int64(n) //nolint:gosec // of 63 bits
		}
	}
	r.Body = &st.body
}

// wire are the names of fields that servers answer with, as they are sent: in lower case, which
// HTTP/2 wants and net/http's headers do not have. What is not here has to be made each time.
var wire = func() map[string]string {
	sent := map[string]string{}
	for _, name := range []string{
		"Cache-Control", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Etag", "Last-Modified", "Location",
		"Retry-After", "Trailer", "Vary", "Www-Authenticate", "A2a-Version", "A2a-Extensions", "X-A2a-Extensions", "Traceparent",
		"X-Request-Id", "Grpc-Encoding", "Grpc-Accept-Encoding", "Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin",
		"X-Accel-Buffering", "X-Content-Type-Options", "Strict-Transport-Security", "Access-Control-Allow-Origin",
		"Access-Control-Expose-Headers",
	} {
		sent[name] = strings.ToLower(name)
	}
	return sent
}()

// receivedName is how the header has a name that came in. It is not ok where HTTP/2 has no
// such names: in upper case, or with what is no character of a token.
func receivedName(name string) (string, bool) {
	if !validName(name) {
		return "", strings.HasPrefix(name, ":")
	}
	return httpfield.Canonical(name), true
}

// validName reports whether HTTP/2 has such names: tokens without upper case (RFC 9113 §8.2.1).
func validName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return httpguts.ValidHeaderFieldName(name)
}

// sentName is a name on the wire. It is not ok for what has no place there: fields about a
// connection, and those that are sent behind the body. A handler that says Connection does so for
// HTTP/1.1's sake, and knows nothing of what it is served by; "close" is heeded by queueHead.
func sentName(name string) (string, bool) {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade":
		return "", false
	}
	if is, ok := wire[name]; ok {
		return is, true
	}
	if strings.HasPrefix(name, http.TrailerPrefix) || !httpguts.ValidHeaderFieldName(name) {
		return "", false
	}
	return strings.ToLower(name), true
}

// validValue reports whether a value may be sent: one with a line end would be two fields to
// whoever translates it to HTTP/1.1.
func validValue(value string) bool { return httpguts.ValidHeaderFieldValue(value) }
