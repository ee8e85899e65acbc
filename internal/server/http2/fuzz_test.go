package http2

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"
)

// FuzzServe has a server read what fuzzing makes up: it ends, panics nowhere, and hands on
// nothing that is no request.
func FuzzServe(f *testing.F) {
	settings := appendFrame(nil, frameSettings, 0, 0, 0)
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, pair := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/x?y"}, {"x-a", "b"}} {
		_ = enc.WriteField(hpack.HeaderField{Name: pair[0], Value: pair[1]})
	}
	head := append(appendFrame(nil, frameHeaders, flagEndHeaders, 1, block.Len()), block.Bytes()...)
	data := append(appendFrame(nil, frameData, flagEndStream, 1, 4), "body"...)
	f.Add(bytes.Join([][]byte{settings, head, data}, nil))
	f.Add(bytes.Join([][]byte{settings, head, appendReset(nil, 1, codeCancel)}, nil))
	f.Add(bytes.Join([][]byte{settings, head, appendWindowUpdate(nil, 1, 9), appendPing(nil, 0, make([]byte, 8)), data}, nil))
	f.Add(append(settings, appendGoAway(nil, 0, codeNo)...))
	s := &Server{
		Log: slog.New(slog.DiscardHandler), Head: 4 << 10, Streams: 10,
		Header: 100 * time.Millisecond, Idle: 100 * time.Millisecond, Write: time.Second, Ping: time.Second, Pong: time.Second,
	}
	bad := make(chan string, 1)
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		ok := httpguts.ValidHeaderFieldName(r.Method) && r.URL != nil && (r.Method == "CONNECT" || r.RequestURI[0] == '/' || r.RequestURI == "*")
		for name, values := range r.Header {
			for _, value := range values {
				ok = ok && httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value)
			}
		}
		if !ok {
			select {
			case bad <- r.Method + " " + r.RequestURI:
			default:
			}
		}
	})
	f.Fuzz(func(t *testing.T, text []byte) {
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Serve(context.Background(), near, nil)
		}()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		_ = far.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(far, preface)
		_, _ = far.Write(text)
		_ = far.Close()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("the connection does not end")
		}
		select {
		case what := <-bad:
			t.Fatalf("the handler had %q", what)
		default:
		}
	})
}

// seen is what a handler sees of a request.
type seen struct {
	Method, Host, Target, Path, Query string
	Header                            http.Header
	Length                            int64
}

// FuzzRequest compares what becomes of a head with what net/http makes of it: either both
// refuse it, or both hand on the same request.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "http", "localhost", "/", "x-a", "b", "cookie", "c")
	f.Add("OPTIONS", "https", "a:1", "*", "host", "b", "te", "trailers")
	f.Add("POST", "http", "", "//x/%2e?q#f", "content-length", "00", "expect", "100-continue")
	f.Add("CONNECT", "", "a:1", "", "X", "b", "connection", "close")
	f.Add("G T", "http", "u@h", "/a b", "trailer", "x", "", "")
	ours, theirs := make(chan seen, 1), make(chan seen, 1)
	look := func(to chan seen) http.HandlerFunc {
		return func(_ http.ResponseWriter, r *http.Request) {
			s := seen{Method: r.Method, Host: r.Host, Target: r.RequestURI, Header: r.Header, Length: r.ContentLength}
			if r.URL != nil {
				s.Path, s.Query = r.URL.Path, r.URL.RawQuery
			}
			to <- s
		}
	}
	url, _ := servingAt(f, look(ours))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	reference := &http.Server{Handler: look(theirs), Protocols: new(http.Protocols), DisableGeneralOptionsHandler: true} //nolint:gosec // of a test
	reference.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = reference.Serve(l) }()
	f.Cleanup(func() { _ = reference.Close() })

	f.Fuzz(func(t *testing.T, method, scheme, authority, path, name1, value1, name2, value2 string) {
		if len(method)+len(scheme)+len(authority)+len(path)+len(name1)+len(value1)+len(name2)+len(value2) > 2000 {
			return
		}
		pairs := []string{":method", method}
		for _, p := range [][2]string{{":scheme", scheme}, {":path", path}, {":authority", authority}, {name1, value1}, {name2, value2}} {
			if p[0] != "" && (p[0][0] != ':' || p[1] != "") {
				pairs = append(pairs, p[0], p[1])
			}
		}
		get := func(url string, from chan seen) (seen, bool) {
			c := dialRaw(t, url)
			defer c.Close()
			c.open(1, true, pairs...)
			if got := c.outcome(); got != "200" {
				return seen{}, false
			}
			return <-from, true
		}
		got, ok := get(url, ours)
		want, wanted := get("http://"+l.Addr().String(), theirs)
		if ok != wanted && !stricter(method, scheme, authority, path, ok) {
			t.Fatalf("%q: handed on %v, by net/http %v", pairs, ok, wanted)
		}
		for _, name := range []string{"Expect", "Trailer"} { // which net/http takes out, with or without a body
			delete(got.Header, name)
			delete(want.Header, name)
		}
		if ok && wanted && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n%+v\nby net/http\n%+v", pairs, got, want)
		}
	})
}

// stricter is where a request is refused here that net/http hands on: what is no method or
// host, and a scheme that is none.
func stricter(method, scheme, authority, path string, ok bool) bool {
	return !ok && (!httpguts.ValidHeaderFieldName(method) || !httpguts.ValidHostHeader(authority) || scheme == "" || path == "" ||
		strings.HasPrefix(path, "*"))
}
