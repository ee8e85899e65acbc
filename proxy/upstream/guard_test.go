package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// pieces is a connection on which bytes come in pieces of a size.
type pieces struct {
	net.Conn
	from *bytes.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) { return p.from.Read(b[:min(len(b), p.size)]) }

func (p *pieces) Write(b []byte) (int, error) { return len(b), nil }

// through reads everything that a guard lets through of one answer.
func through(text string, size int) (string, error) {
	g := &guard{Conn: &pieces{from: bytes.NewReader([]byte(text)), size: size}}
	_, _ = g.Write([]byte("GET"))
	got, err := io.ReadAll(g)
	return string(got), err
}

func TestGuard(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name, good, behind string
		err                error
	}{
		{"length", head + "Content-Length: 3\r\n\r\nabc", "", nil},
		{"length and more", head + "Content-Length: 3\r\n\r\nabc", "x", errStray},
		{"no body", head + "Content-Length: 0\r\n\r\n", "x", errStray},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", errStray},
		{"no reason", "HTTP/1.1 204\r\n\r\n", "", nil},
		{"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", "abc", errStray},
		{"same length twice", head + "Content-Length: 3\r\ncontent-length:3\r\n\r\nabc", "x", errStray},
		{"chunks", head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", "x", errStray},
		{"trailers", head + "Transfer-Encoding: Chunked\r\n\r\n0\r\nA: b\r\n\r\n", "\r\n", errStray},
		{"to the end", head + "\r\nabc", "", nil},
		{"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head + "Content-Length: 1\r\n\r\nx", "x", errStray},
		{"switched", "HTTP/1.1 101 Switching Protocols\r\n\r\nanything", "", nil},
		{"bare line ends", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "x", errStray},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 2, 7, 4096} {
			got, err := through(tt.good+tt.behind, size)
			if got != tt.good || !errors.Is(err, tt.err) {
				t.Errorf("%s in pieces of %d: %q, %v", tt.name, size, got, err)
			}
		}
	}
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\n"
	for name, text := range map[string]string{
		"not HTTP":            "SSH-2.0-OpenSSH\r\n",
		"another version":     "HTTP/2.0 200 OK\r\n\r\n",
		"no status":           "HTTP/1.1 OK\r\n\r\n",
		"long status":         "HTTP/1.1 2000 OK\r\n\r\n",
		"two lengths":         head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"a list of lengths":   head + "Content-Length: 3, 3\r\n\r\nabc",
		"signed length":       head + "Content-Length: +3\r\n\r\nabc",
		"length and chunks":   head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"another coding":      head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"chunked twice":       head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"folded":              head + "X: a\r\n Content-Length: 3\r\n\r\nabc",
		"space in a name":     head + "Content-Length : 3\r\n\r\nabc",
		"no name":             head + ": 3\r\n\r\nabc",
		"no colon":            head + "Content-Length\r\n\r\nabc",
		"line of spaces":      head + "  \r\n\r\nabc",
		"chunks on 1.0":       "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"bad trailer":         head + "Transfer-Encoding: chunked\r\n\r\n0\r\nx\r\n\r\n",
		"no chunk size":       head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"huge chunk":          head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		"chunk without end":   head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n",
		"head without end":    head + strings.Repeat("X: y\r\n", 20_000),
		"interim without end": strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 5_000),
	} {
		for _, size := range []int{1, 4096} {
			if _, err := through(text, size); !errors.Is(err, errFrames) {
				t.Errorf("%s in pieces of %d: %v", name, size, err)
			}
		}
	}
}

// TestGuardBetweenRequests: what comes while nothing was asked breaks the
// connection, what comes after the next request does not.
func TestGuardBetweenRequests(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
	for _, ask := range []bool{true, false} {
		g := &guard{Conn: &pieces{from: bytes.NewReader([]byte(answer + answer)), size: len(answer)}}
		p := make([]byte, 100)
		_, _ = g.Write([]byte("GET"))
		if n, err := g.Read(p); n != len(answer) || err != nil {
			t.Fatal(n, err)
		}
		if ask {
			_, _ = g.Write([]byte("GET"))
		}
		if n, err := g.Read(p); ask != (n == len(answer) && err == nil) || !ask && !errors.Is(err, errStray) {
			t.Errorf("asked %v: %d bytes, %v", ask, n, err)
		}
	}
}

// FuzzGuard holds where the guard sees the end of an answer against where
// net/http does.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", "HTTP/1.1 204 No Content\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\nx",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nabc", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nxy",
		"HTTP/1.1 200 OK\nContent-Length: 1\n\nxy", "HTTP/1.1 304 X\r\nContent-Length: 3\r\n\r\nabc",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		got, err := through(string(text), 1+int(size))
		whole, errWhole := through(string(text), len(text)+1)
		if got != whole || errors.Is(err, errStray) != errors.Is(errWhole, errStray) {
			t.Fatalf("in pieces of %d: %q, %v; whole: %q, %v", 1+int(size), got, err, whole, errWhole)
		}
		if !errors.Is(err, errStray) {
			return
		}
		// The guard says that the answer has ended and something follows: then
		// net/http must have read exactly as much.
		in := bytes.NewReader(text)
		buffered := bufio.NewReader(in)
		for {
			resp, err := http.ReadResponse(buffered, nil)
			if err != nil {
				return // net/http refuses more than the guard does
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				return
			}
			if resp.StatusCode >= 200 {
				break
			}
		}
		if n := len(text) - in.Len() - buffered.Buffered(); n != len(got) {
			t.Fatalf("the guard ends the answer at %d, net/http at %d: %q", len(got), n, text)
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	text := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 13:00:00 GMT\r\n" +
		"Content-Length: 600\r\n\r\n" + strings.Repeat("x", 600))
	from := bytes.NewReader(text)
	g := &guard{Conn: &pieces{from: from, size: 4096}}
	p := make([]byte, 8<<10)
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(text)
		g.asked.Store(true)
		if n, err := g.Read(p); n != len(text) || err != nil {
			b.Fatal(n, err)
		}
	}
}
