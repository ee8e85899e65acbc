package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// witness is a handler that remembers what it has been given, and how bodies ended.
type witness struct {
	mu  sync.Mutex
	all []string
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	said := r.Method + " " + r.RequestURI + " " + string(body)
	if err != nil {
		said += "!"
		rw.WriteHeader(http.StatusBadRequest)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, strings.TrimSpace(said))
}

// said is what has come since it was asked last.
func (w *witness) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}

// listeners are one without TLS and one with, and a way to reach each.
func listeners(t *testing.T, h http.Handler, change ...func(*Config)) map[string]func() net.Conn {
	t.Helper()
	open, private := plaintext(), secured(identity(t, t.TempDir(), "localhost"))
	for _, f := range change {
		f(&open)
		f(&private)
	}
	plain, encrypted := start(t, open, h), start(t, private, h)
	return map[string]func() net.Conn{
		"plaintext": func() net.Conn { return dial(t, plain) },
		"TLS": func() net.Conn {
			return tls.Client(dial(t, encrypted), &tls.Config{InsecureSkipVerify: true})
		},
	}
}

// statuses are those of all answers on a connection, which the server has to close.
func statuses(t *testing.T, c net.Conn) (all []int) {
	t.Helper()
	for br := bufio.NewReader(c); ; {
		if _, err := br.Peek(1); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the connection ended with %v after %v", err, all)
			}
			return all
		}
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Errorf("answer %d: %v", len(all), err)
			return all
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		all = append(all, resp.StatusCode)
	}
}

const (
	post   = "POST /first HTTP/1.1\r\nHost: localhost\r\n"
	chunks = post + "Transfer-Encoding: chunked\r\n\r\n"
	hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
	last   = "GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
)

// TestL17_Framing: what the client is answered, in order, until the server closes the
// connection; and what a handler has seen.
func TestL17_Framing(t *testing.T) {
	t.Parallel()
	var w witness
	reach := listeners(t, &w)
	first := []string{"POST /first"}
	for _, tt := range []struct {
		name, sent string
		want       []int
		saw        []string
	}{
		{"in order", post + "Content-Length: 3\r\n\r\nabc" + last, []int{200, 200}, []string{"POST /first abc", "GET /last"}},
		{"chunks", chunks + "3\r\nabc\r\n0\r\n\r\n" + last, []int{200, 200}, []string{"POST /first abc", "GET /last"}},
		{"trailers", chunks + "0\r\nX: a\r\n\r\n" + last, []int{200, 200}, []string{"POST /first", "GET /last"}},
		{"HTTP/1.0", "GET /last HTTP/1.0\r\nHost: localhost\r\n\r\n", []int{200}, []string{"GET /last"}},
		{"an empty line between", post + "\r\n\r\n" + last, []int{200, 200}, []string{"POST /first", "GET /last"}},
		{"two empty lines between", post + "\r\n\r\n\r\n" + last, []int{200, 400}, first},
		{"bare LF", strings.ReplaceAll(last, "\r", ""), []int{400}, nil},
		{"bare CR", strings.ReplaceAll(last, "\n", ""), []int{400}, nil},
		{"bare LF in the request line", strings.Replace(last, "\r", "", 1), []int{400}, nil},
		{"folded line", post + "X: a\r\n b\r\n\r\n" + last, []int{400}, nil},
		{"fold first", "GET /last HTTP/1.1\r\n X: a\r\nHost: localhost\r\n\r\n", []int{400}, nil},
		{"space before the colon", post + "X : a\r\n\r\n" + last, []int{400}, nil},
		{"empty name", post + ": a\r\n\r\n" + last, []int{400}, nil},
		{"NUL in a value", post + "X: \x00\r\n\r\n" + last, []int{400}, nil},
		{"two spaces", "GET  /last HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{400}, nil},
		{"HTTP/0.9", "GET /last\r\n\r\n", []int{400}, nil},
		{"HTTP/1.2", "GET /first HTTP/1.2\r\nHost: localhost\r\n\r\n" + last, []int{200, 200}, []string{"GET /first", "GET /last"}},
		{"zeros in the version", "GET /last HTTP/01.01\r\nHost: localhost\r\n\r\n", []int{400}, nil},
		{"two digits in the version", "GET /last HTTP/1.10\r\nHost: localhost\r\n\r\n", []int{400}, nil},
		{"HTTP/2 in text", "GET /last HTTP/2.0\r\nHost: localhost\r\n\r\n", []int{505}, nil},
		{"HTTP/3 in text", "GET /last HTTP/3.0\r\nHost: localhost\r\n\r\n", []int{505}, nil},
		{"no Host", "GET /last HTTP/1.1\r\n\r\n", []int{400}, nil},
		{"no Host on HTTP/1.0", "GET /last HTTP/1.0\r\n\r\n", []int{400}, nil},
		{"two Hosts", post + "Host: localhost\r\n\r\n" + last, []int{400}, nil},
		{"two lengths", post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" + last, []int{400}, nil},
		{"list of lengths", post + "Content-Length: 3, 3\r\n\r\nabc" + last, []int{400}, nil},
		{"empty length", post + "Content-Length:\r\n\r\n" + last, []int{400}, nil},
		{"signed length", post + "Content-Length: +3\r\n\r\nabc" + last, []int{400}, nil},
		{"length and chunks", post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + last, []int{400}, nil},
		{"chunks on HTTP/1.0", strings.Replace(chunks, "1.1", "1.0", 1) + "0\r\n\r\n" + last, []int{400}, nil},
		{"chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + last, []int{400}, nil},
		{"another coding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + last, []int{501}, nil},
		{"chunked is not the last", post + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" + last, []int{400}, nil},
		{"chunked twice in a line", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + last, []int{400}, nil},
		{"no chunked", post + "Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n" + last, []int{400}, nil},
		{"chunked and nothing", post + "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n" + last, []int{400}, nil},
		{"an extension", chunks + "3;a=b\r\nabc\r\n0\r\n\r\n" + last, []int{400}, []string{"POST /first !"}},
		{"a chunk too long", chunks + "3\r\nabcd\r\n0\r\n\r\n" + last, []int{400}, []string{"POST /first abc!"}},
		{"a size too long", chunks + "000000003\r\nabc\r\n0\r\n\r\n" + last, []int{400}, []string{"POST /first !"}},
		{"a bare LF behind a size", chunks + "3\nabc\r\n0\r\n\r\n" + last, []int{400}, []string{"POST /first !"}},
		{"a broken trailer", chunks + "3\r\nabc\r\n0\r\nX : a\r\n\r\n" + last, []int{400}, []string{"POST /first abc!"}},
		{"a Host in trailers", chunks + "0\r\nHost: a\r\n\r\n" + last, []int{400}, []string{"POST /first !"}},
		{"a target too large", "GET /" + strings.Repeat("a", 64<<10) + " HTTP/1.1\r\n\r\n" + last, []int{414}, nil},
		{"a method too long", strings.Repeat("A", 64<<10) + " / HTTP/1.1\r\n\r\n" + last, []int{400}, nil},
		{"a head too large", post + "X: " + strings.Repeat("a", 48<<10) + "\r\n\r\n" + last, []int{431}, nil},
		{"after requests in order", post + "\r\n" + post + "Content-Length: 1\r\n\r\na" + chunks + "0\r\n\r\n" + "G@T" + last,
			[]int{200, 200, 200, 400}, []string{"POST /first", "POST /first a", "POST /first"}},
	} {
		for on, dial := range reach {
			c := dial()
			_, err := io.WriteString(c, tt.sent)
			must(t, err)
			if got := statuses(t, c); !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s: answered %v, want %v", tt.name, on, got, tt.want)
			}
			if saw := w.said(); !slices.Equal(saw, tt.saw) {
				t.Errorf("%s, %s: the handler saw %q, want %q", tt.name, on, saw, tt.saw)
			}
		}
	}
}

// smuggled are requests with another one hidden in them, for who reads their framing in
// another way than we do: by the length, by the chunks, by neither, or by a line that is
// not quite one.
func smuggled() map[string]string {
	all := map[string]string{
		"CL.TE":          post + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 5+len(hidden)) + hidden,
		"TE.CL":          post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + chunk(hidden) + "0\r\n\r\n",
		"CL.0 by a sign": post + fmt.Sprintf("Content-Length: +%d\r\n\r\n", len(hidden)) + hidden,
		"0.CL":           "GET /first HTTP/1.1\r\nHost: localhost\r\nContent-Length : 0\r\n\r\n" + hidden,
		"0.CL by a fold": post + fmt.Sprintf("Content-Length:\r\n %d\r\n\r\n", len(hidden)) + hidden,
		"Expect":         post + fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d, 0\r\n\r\n", len(hidden)) + hidden,
		"empty length":   post + "Content-Length:\r\n\r\n" + hidden,
		"huge length":    post + "Content-Length: 18446744073709551616\r\n\r\n" + hidden,
		"empty name":     post + ": x\r\nContent-Length: 0\r\n\r\n" + hidden,
		"LF LF":          post + "X: a\n\n" + hidden,
		"CR CR":          post + "X: a\r\r" + hidden,
		"LF CRLF":        post + "X: a\n\r\n" + hidden,
		"HTTP/1.0":       strings.Replace(chunks, "1.1", "1.0", 1) + "0\r\n\r\n" + hidden,
		"Host twice":     post + "Host: evil\r\n\r\n" + hidden,
		"line in target": "GET /first HTTP/1.1\nX: / HTTP/1.1\r\nHost: localhost\r\n\r\n" + hidden,
	}
	for i, line := range []string{
		"Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", " Transfer-Encoding: chunked", "\tTransfer-Encoding: chunked",
		"X: a\nTransfer-Encoding: chunked", "X: a\rTransfer-Encoding: chunked", "Transfer-Encoding:\r\n chunked",
		"Transfer-Encoding:\n chunked", "Transfer-Encoding: \x0bchunked", "Transfer-Encoding: chunked\x00", "Transfer-Encoding: xchunked",
		"Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity, chunked", "Transfer-Encoding: chunked;x", "Transfer-Encoding: 'chunked'",
		"Transfer-Encoding: \"chunked\"", "Transfer-Encoding: CHUNKED", "Transfer-Encoding: chunKed", "Transfer-Encoding:\tchunked",
		"Transfer-Encoding: chu\r\n nked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding", "Transfer-Encoding\x00: chunked", "Transfer\\Encoding: chunked",
		"Transf\xc3\xa9r-Encoding: chunked", "\x00Transfer-Encoding: chunked", "Transfer-Encoding: \xef\xbb\xbfchunked", "Transfer-Encoding; chunked",
	} {
		all[fmt.Sprintf("TE.%d, no length", i)] = post + line + "\r\n\r\n0\r\n\r\n" + hidden
		all[fmt.Sprintf("TE.%d, length", i)] = post + fmt.Sprintf("Content-Length: %d\r\n", 5+len(hidden)) + line + "\r\n\r\n0\r\n\r\n" + hidden
		all[fmt.Sprintf("TE.%d, length first", i)] = post + line + "\r\nContent-Length: 4\r\n\r\n" + chunk(hidden) + "0\r\n\r\n"
	}
	for i, body := range []string{
		"2;\nxx\r\n", "2;a\nxx\r\n", "2;a=\"\r\n\"\r\nab\r\n", "2\nab\r\n", "2\rab\r\n", "2\r\nab", "2\r\nab\n", "2\r\nab\r", "2 \r\nab\r\n",
		"0x2\r\nab\r\n", "+2\r\nab\r\n", "-2\r\nab\r\n", "2,2\r\nab\r\n", "100000002\r\nab\r\n", "f0000000000000002\r\nab\r\n", "2_\r\nab\r\n", "\x002\r\nab\r\n",
		"0 \r\n", "0;\r\n", "0\n", "0\r", "0\r\n\n", "0\r\n\r\r", "0\r\nX\r\n", "0\r\nX: a\n\n", "0\r\n X: a\r\n", "0\r\nContent-Length: 100\r\n", "",
	} {
		all[fmt.Sprintf("chunk %d", i)] = chunks + body + "0\r\n\r\n" + hidden
		all[fmt.Sprintf("chunk %d at the end", i)] = chunks + chunk("abc") + body + "\r\n" + hidden
		all[fmt.Sprintf("chunk %d around", i)] = chunks + body + chunk(hidden) + "\r\n" + hidden
	}
	delete(all, "chunk 27")        // with nothing wrong in it
	delete(all, "chunk 27 around") // a request, a chunk that is named by an empty line
	return all
}

func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

// TestL17_HiddenRequests: whatever the first request is taken for, the handler sees one
// at most, and what is hidden behind or in it is never one.
func TestL17_HiddenRequests(t *testing.T) {
	t.Parallel()
	var w witness
	for on, dial := range listeners(t, &w) {
		for name, sent := range smuggled() {
			c := dial()
			_, err := io.WriteString(c, sent+last)
			must(t, err)
			all := statuses(t, c)
			if len(all) != 1 || all[0] < 400 {
				t.Errorf("%s, %s: answered %v", name, on, all)
			}
			if saw := w.said(); len(saw) > 1 || len(saw) == 1 && (!strings.HasPrefix(saw[0], "POST /first ") || !strings.HasSuffix(saw[0], "!")) {
				t.Errorf("%s, %s: the handler saw %q", name, on, saw)
			}
		}
	}
}

// TestL06_ControlsInFields: no line end, NUL or other control character comes with a
// caller's field, over HTTP/1.1 or HTTP/2.
func TestL06_ControlsInFields(t *testing.T) {
	t.Parallel()
	var w witness
	reach := listeners(t, &w)
	var rec recorder
	h2 := start(t, plaintext(), &rec)
	for _, control := range []string{"\r", "\n", "\x00", "\x01", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f"} {
		for on, dial := range reach {
			for _, line := range []string{"X-A: b" + control + "c", "X-A: " + control, "X-A" + control + ": b", control + ": b"} {
				c := dial()
				_, _ = io.WriteString(c, post+line+"\r\n\r\n"+last)
				if got, saw := statuses(t, c), w.said(); !slices.Equal(got, []int{400}) || len(saw) > 0 {
					t.Errorf("%q, %s: answered %v, the handler saw %q", line, on, got, saw)
				}
			}
		}
		for _, field := range [][2]string{{"x-a", "b" + control + "c"}, {"x" + control + "a", "b"}} {
			if got := dialH2(t, h2).status(t, true, h2Get("/", field[0], field[1])...); got != 400 && got != -1 {
				t.Errorf("%q over HTTP/2: %d", field, got)
			}
		}
	}
	if n := rec.reached.Load(); n > 0 {
		t.Errorf("over HTTP/2 the handler was reached %d times", n)
	}
}

// TestMalformedIsCounted: once for a connection, by the name of the rule.
func TestMalformedIsCounted(t *testing.T) {
	t.Parallel()
	rules := make(chan string, 10)
	s := start(t, plaintext(), empty(), func(s *Server) { s.Malformed = func(rule string) { rules <- rule } })
	c := dial(t, s)
	_, _ = io.WriteString(c, post+"X : a\r\nY : b\r\n\r\n")
	statuses(t, c)
	if rule := <-rules; rule != "field_name" || len(rules) > 0 {
		t.Errorf("counted as %s, and %d more", rule, len(rules))
	}
}

// TestL17_Pieces: it does not matter how the bytes come.
func TestL17_Pieces(t *testing.T) {
	t.Parallel()
	var w witness
	sent := "\r\n" + post + "Content-Length: 3\r\n\r\nabc\r\n" + chunks + chunk("abc") + "0\r\nX: a\r\n\r\n" + last
	for on, dial := range listeners(t, &w) {
		c := dial()
		for i := range len(sent) {
			_, err := io.WriteString(c, sent[i:i+1])
			must(t, err)
		}
		if got := statuses(t, c); !slices.Equal(got, []int{200, 200, 200}) {
			t.Errorf("%s: answered %v", on, got)
		}
		if saw := w.said(); !slices.Equal(saw, []string{"POST /first abc", "POST /first abc", "GET /last"}) {
			t.Errorf("%s: the handler saw %q", on, saw)
		}
	}
}

// TestL21_SlowSecondHeader: a connection that has served one request is not given more
// time for the next head than a new one.
func TestL21_SlowSecondHeader(t *testing.T) {
	t.Parallel()
	for on, dial := range listeners(t, empty(), func(c *Config) {
		c.Timeouts.Header, c.Timeouts.Idle = quantity.Duration(time.Second), quantity.Duration(time.Hour)
	}) {
		c := dial()
		_, _ = io.WriteString(c, hidden+"GET / HTTP/1.1\r\nHost: loc")
		if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("%s: answer %q", on, got)
		}
	}
}

// TestL22_HeadToTheByte: the limit counts every byte of a head, and no other.
func TestL22_HeadToTheByte(t *testing.T) {
	t.Parallel()
	var w witness
	for on, dial := range listeners(t, &w) {
		for more, want := range map[int]int{0: 200, 1: 431} {
			line := "X: "
			line += strings.Repeat("a", 48<<10-len(last)-len(line)-len("\r\n")+more) + "\r\n"
			c := dial()
			_, _ = io.WriteString(c, strings.TrimSuffix(last, "\r\n")+line+"\r\n")
			if got := statuses(t, c); !slices.Equal(got, []int{want}) {
				t.Errorf("%s, %d bytes too many: %v", on, more, got)
			}
		}
	}
}
