package http1

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

const ok = "HTTP/1.1 200 OK\r\n"

// TestAnswers: what is in order is read as it is meant, and whether the connection has a
// further request.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, body string
		status     int
		kept       bool
	}{
		"length":               {ok + "Content-Length: 3\r\n\r\nabc", "abc", 200, true},
		"nothing":              {ok + "Content-Length: 0\r\n\r\n", "", 200, true},
		"no reason":            {"HTTP/1.1 204\r\n\r\n", "", 204, true},
		"empty reason":         {"HTTP/1.1 204 \r\n\r\n", "", 204, true},
		"not modified":         {"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", "", 304, true},
		"no content, a length": {"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", "", 204, false},
		"no content, chunks":   {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 204, false},
		"chunks":               {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", "abc0123456789", 200, true},
		"Chunks, extended":     {ok + "transfer-encoding: Chunked\r\n\r\n003;a=b;c \r\nabc\r\n1  \r\nd\r\n0\r\nA: b\r\n\r\n", "abcd", 200, true},
		"to the end":           {ok + "Connection: close\r\n\r\nabc", "abc", 200, false},
		"says it closes":       {ok + "Connection: x, Close\r\nContent-Length: 1\r\n\r\na", "a", 200, false},
		"old":                  {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "a", 200, false},
		"interim":              {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", "x", 200, true},
		"switched":             {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nanything", "", 101, false},
		"an error":             {"HTTP/1.1 503 Away\r\nContent-Length: 1\r\n\r\nx", "x", 503, true},
		"more behind":          {ok + "Content-Length: 3\r\n\r\nabcd", "abc", 200, false},
		"an answer behind":     {ok + "Content-Length: 0\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n", "", 200, false},
		"a line end behind":    {ok + "Content-Length: 1\r\n\r\na\r\n", "a", 200, false},
		"more behind chunks":   {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", "", 200, false},
		"space around":         {ok + "Content-Length: \t 3 \t\r\n\r\nabc", "abc", 200, true},
		"beyond ASCII":         {ok + "X: \xe4\xff\r\nContent-Length: 3\r\n\r\nabc", "abc", 200, true},
		"a large head":         {ok + "X: " + strings.Repeat("x", 60_000) + "\r\nContent-Length: 3\r\n\r\nabc", "abc", 200, true},
		"a large body":         {ok + "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000), strings.Repeat("x", 100_000), 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dials atomic.Int64
			p := newTestPool(t, &dials)
			serve := always(tt.text)
			url := rawAgent(t, serve)
			if !tt.kept {
				url = rawAgent(t, once(tt.text))
			}
			for range 2 {
				resp, body, err := send(t.Context(), p, "POST", url, "x")
				must(t, err)
				if resp.StatusCode != tt.status || body != tt.body {
					t.Errorf("%d %.100q", resp.StatusCode, body)
				}
			}
			if n := dials.Load(); tt.kept != (n == 1) {
				t.Errorf("%d connections for two requests", n)
			}
		})
	}
}

// TestEvilAnswers: what is read in more than one way, or does not end, is no answer.
func TestEvilAnswers(t *testing.T) {
	t.Parallel()
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for name, text := range map[string]string{
		"not HTTP":                 "SSH-2.0-OpenSSH\r\n\r\n",
		"another version":          "HTTP/2.0 200 OK\r\n\r\n",
		"another minor version":    "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n",
		"no status":                "HTTP/1.1 OK\r\n\r\n",
		"a long status":            "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
		"a short status":           "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
		"status 099":               "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
		"NUL in the reason":        "HTTP/1.1 200 O\x00K\r\nContent-Length: 0\r\n\r\n",
		"an empty line before":     "\r\n" + answerOf("x"),
		"two lengths":              ok + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"the same length twice":    ok + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
		"a list of lengths":        ok + "Content-Length: 3, 3\r\n\r\nabc",
		"a signed length":          ok + "Content-Length: +3\r\n\r\nabc",
		"a negative length":        ok + "Content-Length: -3\r\n\r\nabc",
		"a hexadecimal length":     ok + "Content-Length: 0x3\r\n\r\nabc",
		"an empty length":          ok + "Content-Length:\r\n\r\nabc",
		"a giant length":           ok + "Content-Length: 99999999999999999999\r\n\r\nabc",
		"length and chunks":        ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks and length":        ok + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		"another coding":           ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"an unknown coding":        ok + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"chunked twice":            ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks on 1.0":            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"folded":                   ok + "X: a\r\n Content-Length: 3\r\n\r\nabc",
		"folded with a tab":        ok + "X: a\r\n\tb\r\nContent-Length: 3\r\n\r\nabc",
		"a space behind a name":    ok + "Content-Length : 3\r\n\r\nabc",
		"no name":                  ok + ": 3\r\n\r\nabc",
		"no colon":                 ok + "Content-Length\r\n\r\nabc",
		"a line of spaces":         ok + "  \r\n\r\nabc",
		"a control in a name":      ok + "X\x01: 3\r\nContent-Length: 0\r\n\r\n",
		"NUL in a value":           ok + "X: a\x00b\r\nContent-Length: 0\r\n\r\n",
		"CR in a value":            ok + "X: a\rb\r\nContent-Length: 0\r\n\r\n",
		"CR CR LF":                 ok + "X: a\r\r\nContent-Length: 0\r\n\r\n",
		"bare LF":                  "HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
		"one bare LF":              ok + "X: y\nContent-Length: 1\r\n\r\nx",
		"a bare LF at the end":     ok + "Content-Length: 1\r\n\nx",
		"too many fields":          ok + strings.Repeat("X: y\r\n", 300) + "Content-Length: 0\r\n\r\n",
		"a head too large":         ok + "X: " + strings.Repeat("x", 70_000) + "\r\nContent-Length: 0\r\n\r\n",
		"a head without end":       ok + strings.Repeat("X: y\r\n", 20_000),
		"a line without end":       strings.Repeat("x", 100_000),
		"an interim storm":         strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 50) + answerOf("x"),
		"a large interim answer":   "HTTP/1.1 103 Early Hints\r\nX: " + strings.Repeat("x", 70_000) + "\r\n\r\n" + answerOf("x"),
		"an interim body":          "HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\nabc" + answerOf("x"),
		"no chunk size":            chunked + "xyz\r\n",
		"an empty chunk size":      chunked + "\r\nabc\r\n0\r\n\r\n",
		"a signed chunk size":      chunked + "+3\r\nabc\r\n0\r\n\r\n",
		"a prefixed chunk size":    chunked + "0x3\r\nabc\r\n0\r\n\r\n",
		"a space before the size":  chunked + " 3\r\nabc\r\n0\r\n\r\n",
		"a huge chunk":             chunked + "ffffffffffffffff\r\n",
		"a long chunk size":        chunked + "000000003\r\nabc\r\n0\r\n\r\n",
		"words behind the size":    chunked + "3 abc\r\nabc\r\n0\r\n\r\n",
		"a chunk that is longer":   chunked + "3\r\nabcdef\r\n0\r\n\r\n",
		"a chunk without CR":       chunked + "3\r\nabc\n0\r\n\r\n",
		"a chunk size without CR":  chunked + "3\nabc\r\n0\r\n\r\n",
		"a long extension":         chunked + "3;" + strings.Repeat("x", 300) + "\r\nabc\r\n0\r\n\r\n",
		"NUL in an extension":      chunked + "3;\x00\r\nabc\r\n0\r\n\r\n",
		"CR in an extension":       chunked + "3;\rx\r\nabc\r\n0\r\n\r\n",
		"trailers announced":       ok + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a bad trailer":            chunked + "0\r\nx\r\n\r\n",
		"a length in the trailers": chunked + "0\r\nContent-Length: 3\r\n\r\n",
		"a coding in the trailers": chunked + "0\r\nTransfer-Encoding: chunked\r\n\r\n",
		"large trailers":           chunked + "0\r\nX: " + strings.Repeat("x", 9_000) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dials atomic.Int64
			p := newTestPool(t, &dials)
			_, body, err := send(t.Context(), p, "POST", rawAgent(t, always(text)), "x")
			if !errors.Is(err, ErrFraming) {
				t.Errorf("%.100q, %v", body, err)
			}
			if p.kept() > 0 {
				t.Error("the connection is kept")
			}
		})
	}
}

// TestCutAnswers: an answer that ends before its end is an error, wherever that is.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	for _, whole := range []string{
		answerOf("abc"), ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + answerOf("x"),
	} {
		for n := range len(whole) {
			var dials atomic.Int64
			p := newTestPool(t, &dials)
			_, body, err := send(t.Context(), p, "POST", rawAgent(t, once(whole[:n])), "x")
			if !errors.Is(err, io.ErrUnexpectedEOF) || p.kept() > 0 {
				t.Fatalf("%q: %q, %v", whole[:n], body, err)
			}
			p.CloseIdleConnections()
		}
	}
}

// TestTrailers: they are there once the body has ended.
func TestTrailers(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	url := rawAgent(t, always(ok+"Trailer: a, \r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\na: b\r\nC: d\r\nc: e\r\n\r\n"))
	resp, err := p.RoundTrip(request(t.Context(), "GET", url, ""))
	must(t, err)
	if v, announced := resp.Trailer["A"]; !announced || v != nil || len(resp.Trailer) != 1 {
		t.Errorf("before: %v", resp.Trailer)
	}
	_, err = io.ReadAll(resp.Body)
	must(t, err)
	if resp.Trailer.Get("A") != "b" || len(resp.Trailer["C"]) != 2 || p.kept() != 1 {
		t.Errorf("after: %v, %d connections", resp.Trailer, p.kept())
	}
}

// TestHead: an answer to HEAD has fields about a body, and none.
func TestHead(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ""} {
		var dials atomic.Int64
		p := newTestPool(t, &dials)
		url := rawAgent(t, always(ok+fields+"\r\n"))
		for range 2 {
			resp, body, err := send(t.Context(), p, http.MethodHead, url, "")
			must(t, err)
			if body != "" || strings.Contains(fields, "5") != (resp.ContentLength == 5) {
				t.Errorf("%q: %d, %q", fields, resp.ContentLength, body)
			}
		}
		if dials.Load() != 1 {
			t.Errorf("%q: %d connections", fields, dials.Load())
		}
	}
}
