package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"
)

// read is how an answer was read, and where it ended.
type read struct {
	status  int
	length  int64
	header  http.Header
	trailer http.Header
	body    string
	end     int
}

// ours reads an answer that comes in pieces of a size.
func ours(text []byte, size int, verb string) (*read, error) {
	src := &pieces{from: bytes.NewReader(text), size: size}
	pool := &Pool{Options: Options{Other: &http.Transport{MaxIdleConnsPerHost: -1, MaxResponseHeaderBytes: 16 << 10}}, hosts: map[origin]*host{}}
	a := &answer{pool: pool, conn: newConn(src, origin{}), ctx: context.Background()}
	if err := a.receive(&http.Request{Method: verb}); err != nil {
		return nil, err
	}
	got := &read{status: a.StatusCode, length: a.ContentLength, header: a.Header}
	// Read would be done with the connection at the end.
	var body []byte
	var err error
	if a.phase != none {
		p := make([]byte, 100)
		for err == nil {
			var n int
			n, err = a.read(p)
			body = append(body, p[:n]...)
		}
	}
	got.body, got.trailer = string(body), said(a.Trailer)
	got.end = len(text) - src.from.Len() - a.conn.in.buffered()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return got, nil
}

// theirs reads it with net/http.
func theirs(text []byte, verb string) (*read, error) {
	in := bytes.NewReader(text)
	buffered := bufio.NewReader(in)
	for {
		resp, err := http.ReadResponse(buffered, &http.Request{Method: verb})
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			end := len(text) - in.Len() - buffered.Buffered()
			return &read{resp.StatusCode, resp.ContentLength, resp.Header, said(resp.Trailer), string(body), end}, nil
		}
	}
}

// said is trailers without those that were announced and did not come.
func said(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if len(values) > 0 {
			out[name] = values
		}
	}
	return out
}

// FuzzAnswer holds what is accepted of an agent against net/http: it takes the same bytes
// for the same answer, which ends at the same place. In whatever pieces they come, they
// are read alike.
func FuzzAnswer(f *testing.F) {
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for _, seed := range []string{
		answerOf("abc"), answerOf("abc") + answerOf("d"), "HTTP/1.1 204\r\n\r\nx", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nxy",
		chunked + "3\r\nabc\r\n0\r\nA: b\r\n\r\nx", chunked + "1;a=b \r\nx\r\n00000000\r\n\r\n", chunked + "1\t\r\nx\r\n0\r\na:\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "\r\nabc", "HTTP/1.1 304 X\r\nContent-Length: 3\r\n\r\nabc",
		ok + "Trailer: A, B\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 1\r\nC: 2\r\n\r\n", ok + "Connection: close, x\r\na: b\r\nA: c\r\n\r\n",
		"HTTP/1.1 101 X\r\n\r\nabc", ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ok + "X: a\r\n b\r\n\r\n",
		ok + "Content-Length : 3\r\n\r\nabc", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", ok + "X: \x00\r\n\r\n", ok + "Content-Length: 03\r\n\r\nabc",
		ok + "Pragma: no-cache\r\nContent-Length: 0\r\n\r\n", ok + "TE: x\r\nDate:\xff\r\nUPPER-lower_x: \t y \t\r\n\r\n",
	} {
		f.Add([]byte(seed), uint8(3), false)
		f.Add([]byte(seed), uint8(255), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8, head bool) {
		verb := http.MethodGet
		if head {
			verb = http.MethodHead
		}
		got, err := ours(text, 1+int(size), verb)
		whole, errWhole := ours(text, len(text)+1, verb)
		if !reflect.DeepEqual(got, whole) || (err == nil) != (errWhole == nil) || errors.Is(err, ErrFraming) != errors.Is(errWhole, ErrFraming) {
			t.Fatalf("in pieces of %d: %+v, %v; whole: %+v, %v", 1+int(size), got, err, whole, errWhole)
		}
		if err != nil {
			return
		}
		want, err := theirs(text, verb)
		if err != nil {
			t.Fatalf("%+v is refused by net/http: %v", got, err)
		}
		if got.header["Pragma"] != nil { // from which net/http makes another field
			delete(want.header, "Cache-Control")
			delete(got.header, "Cache-Control")
		}
		if want.status == http.StatusSwitchingProtocols { // whose end is the connection's
			got.length, want.length, want.end = 0, 0, got.end
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, and in net/http %+v", got, want)
		}
	})
}
