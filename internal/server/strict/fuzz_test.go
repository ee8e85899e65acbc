package strict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// corpus is what fuzzing begins with, beside what has been found.
var corpus = []string{
	get + "\r\n" + another,
	post + "Content-Length: 3\r\n\r\nabc" + another,
	chunks + "3\r\nabc\r\n0\r\n\r\n" + another,
	chunks + "a\r\n0123456789\r\n0\r\nX-A: b\r\n\r\n" + another,
	"\r\n" + get + "X: a\r\n b\r\n\r\n",
	post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + another,
	post + "Transfer-Encoding: chunked\r\nTransfer-encoding: x\r\n\r\n0\r\n\r\n" + another,
	post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + another,
	post + "Content-Length: 3\nX: a\r\n\r\nabc",
	chunks + "3;\nxx\r\nabc\r\n0\r\n\r\n" + another,
	chunks + "3\r\nabc\r\n0\r\nHost: a\r\n\r\n" + another,
	"GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"GET http://b/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + another,
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	chunks + "0\r\nX: " + strings.Repeat("a", 5000) + "\r\n\r\n" + another,
}

// FuzzDifferential: of any bytes, in any pieces, net/http sees behind the rules what it
// sees without them, as far as it sees anything; a request more would have been made up
// here, another one would be one request for us and another for who stands in front.
// The plain reference counts as many.
func FuzzDifferential(f *testing.F) {
	for i, data := range corpus {
		f.Add(data, []byte{0, byte(i), 255})
	}
	for i, tt := range cases {
		f.Add(tt.sent, []byte{byte(i), 0})
		f.Add(another+tt.sent+another, []byte{255})
	}
	f.Fuzz(func(t *testing.T, data string, sizes []byte) {
		if len(data) > 1<<16 {
			return
		}
		behind, without := read([]string{data}), requests(&wire{pieces: []string{data}})
		for i, got := range behind {
			if i >= len(without) {
				t.Fatalf("%q: request %d is %v, without the rules there is none", data, i, got)
			}
			want := without[i]
			if got.broken && strings.HasPrefix(want.body, got.body) {
				want.body, want.broken = got.body, true
			}
			if got != want {
				t.Fatalf("%q: request %d is %v, without the rules %v", data, i, got, want)
			}
		}
		if got, want := completed(data), reference(data); got != want {
			t.Fatalf("%q: %d requests are complete, by the reference %d", data, got, want)
		}
		pieces := cut(data, sizes)
		if apart := read(pieces); !slices.Equal(apart, behind) {
			t.Fatalf("%q in pieces of %v: %v, whole %v", data, sizes, apart, behind)
		}
		text, broken := passed(t, []string{data}, false)
		textApart, brokenApart := passed(t, pieces, false)
		if broken != brokenApart || text != textApart && !sized(broken) {
			t.Fatalf("%q in pieces of %v: %q passed, broken %q; whole: %q, %q", data, sizes, textApart, brokenApart, text, broken)
		}
	})
}

// message is a request as a client may send it, and as it is to be seen.
func message(t *rapid.T) (string, seen) {
	s := seen{
		method: rapid.StringMatching(`[A-Z]{1,8}`).Draw(t, "method"),
		target: rapid.StringMatching(`/[a-z0-9/._~:@!$&'()*+,=-]{0,20}(\?[a-z0-9=&]{0,10})?`).Draw(t, "target"),
		proto:  rapid.SampledFrom([]string{"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"}).Draw(t, "proto"),
		host:   rapid.StringMatching(`[a-z0-9.-]{1,12}(:[0-9]{1,4})?`).Draw(t, "host"),
	}
	lines := []string{"Host: " + s.host}
	for i := range rapid.IntRange(0, 8).Draw(t, "fields") {
		lines = append(lines, fmt.Sprintf("X-%d:%s", i, rapid.StringMatching(`[ \t]{0,2}([!-~]([ -~]{0,10}[!-~])?)?[ \t]{0,2}`).Draw(t, "value")))
	}
	s.body = rapid.StringMatching(`[\x00-\x7f]{0,64}`).Draw(t, "body")
	body := ""
	switch how := rapid.SampledFrom([]string{"length", "chunks", "none"}).Draw(t, "framing"); {
	case how == "none":
		s.body = ""
	case how == "length" || s.proto == "HTTP/1.0":
		lines, body = append(lines, fmt.Sprintf("Content-Length: %d", len(s.body))), s.body
	default:
		lines = append(lines, "Transfer-Encoding: chunked")
		for rest := s.body; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			body += fmt.Sprintf(rapid.SampledFrom([]string{"%x", "%X", "%04x"}).Draw(t, "hex"), n) + "\r\n" + rest[:n] + "\r\n"
			rest = rest[n:]
		}
		body += "0\r\n" + rapid.SampledFrom([]string{"", "X-Sum: 1\r\n"}).Draw(t, "trailer") + "\r\n"
	}
	lines = rapid.Permutation(lines).Draw(t, "lines")
	return s.method + " " + s.target + " " + s.proto + "\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n" + body, s
}

// TestWhatIsInOrderPasses: any requests in order, one behind the other and in any
// pieces, are seen as they were meant.
func TestWhatIsInOrderPasses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sent string
		var meant []seen
		for range rapid.IntRange(1, 4).Draw(t, "requests") {
			text, s := message(t)
			sent, meant = sent+text, append(meant, s)
		}
		got := read(cut(sent, rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "pieces")))
		if len(got) != len(meant) {
			t.Fatalf("%q was read as %v", sent, got)
		}
		for i := range got {
			got[i].fields = "" // the differential test is about these
			if got[i] != meant[i] {
				t.Fatalf("%q was read as %v, meant as %v", sent, got[i], meant[i])
			}
		}
	})
}
