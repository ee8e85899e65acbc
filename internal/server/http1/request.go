package http1

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/server/httpfield"
)

// exchange is a request and its answer. It is made anew for each: what a handler has left
// behind may refer to it.
type exchange struct {
	request  *http.Request
	response response
	body     body    // of the request
	url      url.URL // of the request, where its target is a plain path

	expects bool // 100 Continue, before its body is sent
}

var errMalformed = errors.New("malformed request head")

// parse makes a request of a head that package strict has let pass, with what begin says of
// the connection. What could not be so is an error all the same.
func (x *exchange) parse(ctx context.Context, begin *http.Request, head []byte) error {
	// One allocation for all strings of the request: each is a slice of this one.
	text := string(head) // of which all that the request says is a part
	line, rest, _ := strings.Cut(text, "\r\n")
	method, line, _ := strings.Cut(line, " ")
	target, proto, _ := strings.Cut(line, " ")

	r := begin.WithContext(ctx) // a copy
	r.Method, r.RequestURI = method, target
	switch minor, ok := strings.CutPrefix(proto, "HTTP/1."); {
	case !ok || len(minor) != 1:
		return errMalformed
	// Constants, not slices of text: compared and logged everywhere.
	case minor == "0":
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0
	default: // 1.1, and what is to be served like it (RFC 9110 §2.5)
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	}
	if err := fields(r, rest, bytes.Count(head, []byte("\n"))-2); err != nil {
		return err
	}
	// What it takes is much; package screen judges Host closely.
	if !httpguts.ValidHostHeader(r.Host) {
		return errMalformed
	}
	if err := x.locate(r); err != nil {
		return err
	}
	x.request = r
	return x.frame(r)
}

// locate reads the target. A path without escapes, which nearly all are, is what it says.
func (x *exchange) locate(r *http.Request) error {
	// The usual target saves url.Parse, which allocates and looks for everything a URL may have.
	if r.RequestURI[:min(1, len(r.RequestURI))] == "/" && !strings.HasPrefix(r.RequestURI, "//") {
		path, query, asks := strings.Cut(r.RequestURI, "?")
		if httpfield.PlainPath(path) {
			x.url = url.URL{Path: path, RawQuery: query, ForceQuery: asks && query == ""}
			r.URL = &x.url
			return nil
		}
	}
	target := r.RequestURI
	authority := r.Method == http.MethodConnect && !strings.HasPrefix(target, "/")
	if authority { // what CONNECT names has no scheme (RFC 9112 §3.2.3)
		target = "http://" + target
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return err
	}
	if authority {
		u.Scheme = ""
	}
	if u.Host != "" { // that is the host of the request, not the Host field's (RFC 9112 §3.2.2)
		r.Header["Host"] = []string{r.Host} // as HTTP/2 has it beside :authority, for others to compare
		r.Host = u.Host
	}
	if u.Scheme != "" && u.Host != "" && u.Path == "" {
		u.Path = emptyPath(r.Method)
	}
	r.URL = u
	return nil
}

// emptyPath is what a URI without a path stands for (RFC 9112 §3.2.1, §3.2.4).
func emptyPath(method string) string {
	if method == http.MethodOptions {
		return "*"
	}
	return "/"
}

// fields reads at most so many of them. Values of fields that have one are parts of one
// slice.
func fields(r *http.Request, text string, most int) error {
	// Sized for all fields but Host, which is no member of the map.
	h := make(http.Header, max(most-1, 0))
	values := make([]string, 0, max(most, 0))
	for text != "\r\n" {
		line, rest, whole := strings.Cut(text, "\r\n")
		name, value, named := strings.Cut(line, ":")
		if !whole || !named || name == "" || rest == "" {
			return errMalformed
		}
		text = rest
		// strict has refused a head with several.
		if name = httpfield.Canonical(name); name == "Host" {
			r.Host = trim(value)
			continue
		}
		if before, again := h[name]; again {
			h[name] = append(before, trim(value))
			continue
		}
		values = append(values, trim(value))
		n := len(values)
		// The capacity ends with the value: an append by a handler makes a new array.
		h[name] = values[n-1 : n : n]
	}
	r.Header = h
	return nil
}

// trim takes off optional whitespace, spaces and tabs (RFC 9110 §5.6.3).
func trim(value string) string { return strings.Trim(value, " \t") }

// frame settles where the body ends, whether the connection goes on after it, and what of
// that the handler is told in another way than by fields.
func (x *exchange) frame(r *http.Request) error {
	r.Close = closes(r)
	r.Body = http.NoBody
	switch {
	// strict has refused all but "chunked", and that with a Content-Length.
	case r.Header["Transfer-Encoding"] != nil:
		delete(r.Header, "Transfer-Encoding")
		r.TransferEncoding, r.ContentLength = []string{"chunked"}, -1
	case r.Header["Content-Length"] != nil:
		n, err := strconv.ParseInt(r.Header["Content-Length"][0], 10, 64)
		if err != nil || n < 0 {
			return errMalformed
		}
		r.ContentLength = n
	}
	if err := announce(r); err != nil {
		return err
	}
	if r.ContentLength != 0 {
		// A length of -1 is that of chunks.
		x.body.left, x.body.chunked = max(r.ContentLength, 0), r.ContentLength < 0
		r.Body = &x.body
	}
	return x.expectation(r)
}

// errExpectation is about an expectation that nobody here can meet (RFC 9110 §10.1.1).
var errExpectation = errors.New("unknown expectation")

// expectation reads Expect. 100-continue (RFC 9110 §10.1.1) asks to be invited before the body is
// sent; HTTP/1.0 does not have it.
func (x *exchange) expectation(r *http.Request) error {
	switch lines := r.Header["Expect"]; {
	case lines == nil:
	case mentions(lines[0], "100-continue"):
		x.expects = r.ContentLength != 0 && r.ProtoMinor > 0
	case lines[0] != "":
		return errExpectation
	}
	return nil
}

// announce has the names of trailers that are to come in the request, as net/http does.
// Their values never are: strict drops them.
func announce(r *http.Request) error {
	lines := r.Header["Trailer"]
	if lines == nil || r.ContentLength >= 0 { // there will be none
		return nil
	}
	delete(r.Header, "Trailer")
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			if name = textproto.CanonicalMIMEHeaderKey(trim(name)); name == "" {
				continue
			}
			switch name {
			// These decide where the message ends, and must not come behind it (RFC 9110 §6.5.1).
			case "Transfer-Encoding", "Trailer", "Content-Length":
				return errMalformed
			}
			if r.Trailer == nil {
				r.Trailer = http.Header{}
			}
			r.Trailer[name] = nil
		}
	}
	return nil
}

// closes reports whether a client says that it sends nothing more on its connection
// (RFC 9112 §9.3).
func closes(r *http.Request) bool {
	connection := r.Header["Connection"]
	if r.ProtoMinor == 0 && !httpfield.HasToken(connection, "keep-alive") {
		return true
	}
	return connection != nil && httpfield.HasToken(connection, "close")
}

// ends reports whether the answer to a request is the last on its connection. A client of
// HTTP/1.0 that asks for it to be kept may say close as well, as with net/http.
func ends(r *http.Request) bool {
	connection := r.Header["Connection"]
	switch {
	case r.ProtoMinor == 0:
		return connection == nil || !mentions(connection[0], "keep-alive")
	case connection == nil:
		return false
	}
	return r.Close || mentions(connection[0], "close")
}

// mentions reports whether a line has a token between commas or spaces. Of what is no list
// of tokens net/http makes that, so that none who was understood is not now.
func mentions(line, token string) bool {
	for word := range strings.FieldsFuncSeq(line, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
		if httpfield.SameToken(word, token) {
			return true
		}
	}
	return false
}
