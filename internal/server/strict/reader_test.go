package strict

import (
	"strings"
	"testing"
)

const (
	get     = "GET / HTTP/1.1\r\nHost: a\r\n"
	post    = "POST / HTTP/1.1\r\nHost: a\r\n"
	chunks  = post + "Transfer-Encoding: chunked\r\n\r\n"
	another = "GET /second HTTP/1.1\r\nHost: a\r\n\r\n"
)

// cases are what breaks a rule, one or more for each, and what passes as a whole.
var cases = []struct {
	sent   string
	broken string // "" where all of it passes
}{
	{get + "\r\n", ""},
	{"OPTIONS * HTTP/1.0\r\nhOST:a\r\n\r\n", ""},
	{get + "X:\r\nX-Y: \r\nX: a b\tc \t\r\n!#$%&'*+-.^_`|~09azAZ: \xff\x80\r\n\r\n", ""},
	{"M-SEARCH http://a/?%zz[]{}|\" HTTP/1.1\r\nHost: \r\n\r\n", ""},
	{"\r\n\r\n" + get + "\r\n", "empty_line"},
	{"\n" + get + "\r\n", "empty_line"},
	{"\r" + get + "\r\n", "empty_line"},
	{" " + get + "\r\n", "method"},
	{"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
	{"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
	{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "target"},
	{"GET\r\n", "method"},
	{"GET /\r\n", "target"},
	{"GET /\n", "target"},
	{"GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", "target"},
	{"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", "target"},
	{"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", "target"},
	{"GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", "target"},
	{"GET /  HTTP/1.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / a HTTP/1.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "version"},
	{"GET / http/1.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.2\r\nHost: a\r\n\r\n", ""},
	{"POST / HTTP/1.9\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
	{"GET / HTTP/1.10\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1,1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.1\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.1\rHost: a\r\n\r\n", "line_end"},
	{"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "line_end"},
	{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", "other_version"},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "other_version"},
	{"GET / HTTP/0.9\r\nHost: a\r\n\r\n", "other_version"},
	{"GET / HTTP/9.9\r\nHost: a\r\n\r\n", "other_version"},
	{"GET / HTTP/01.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/01.01\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.01\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/11.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/2\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/2.\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/x.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.x\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/2.0\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/-1.1\r\nHost: a\r\n\r\n", "version"},
	{"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "folded_line"},
	{get + " b\r\n\r\n", "folded_line"},
	{get + "\tb\r\n\r\n", "folded_line"},
	{get + "\n", "line_end"},
	{get + "\r\r\n", "line_end"},
	{get + "X: a\n\r\n", "line_end"},
	{get + "X: a\rY: b\r\n\r\n", "line_end"},
	{get + "X : a\r\n\r\n", "field_name"},
	{get + "X\t: a\r\n\r\n", "field_name"},
	{get + "X\r\n\r\n", "field_name"},
	{get + ": a\r\n\r\n", "field_name"},
	{get + "X(): a\r\n\r\n", "field_name"},
	{get + "X\x00: a\r\n\r\n", "field_name"},
	{get + "\xc3\xa9: a\r\n\r\n", "field_name"},
	{get + "X: \x00\r\n\r\n", "field_value"},
	{get + "X: a\x0bb\r\n\r\n", "field_value"},
	{get + "X: a\x7f\r\n\r\n", "field_value"},
	{"GET / HTTP/1.1\r\n\r\n", "host"},
	{"GET / HTTP/1.0\r\n\r\n", "host"},
	{get + "HOST: a\r\n\r\n", "host"},
	{get + "Host: b\r\n\r\n", "host"},
	{post + "Content-Length: 0\r\n\r\n", ""},
	{post + "cONTENT-lENGTH:3  \r\n\r\nabc", ""},
	{post + "Content-Length: 9999999999\r\n\r\nabc", ""},
	{post + "Content-Length: 10000000000\r\n\r\n", "content_length"},
	{post + "Content-Length: 18446744073709551617\r\n\r\n", "content_length"},
	{post + "Content-Length: \r\n\r\n", "content_length"},
	{post + "Content-Length:\r\n\r\n", "content_length"},
	{post + "Content-Length: 03\r\n\r\n", "content_length"},
	{post + "Content-Length: 00\r\n\r\n", "content_length"},
	{post + "Content-Length: +3\r\n\r\n", "content_length"},
	{post + "Content-Length: -3\r\n\r\n", "content_length"},
	{post + "Content-Length: 0x3\r\n\r\n", "content_length"},
	{post + "Content-Length: 3 3\r\n\r\n", "content_length"},
	{post + "Content-Length: 3, 3\r\n\r\n", "content_length"},
	{post + "Content-Length: 3;a\r\n\r\n", "content_length"},
	{post + "Content-Length:\t3\r\n\r\n", "content_length"},
	{post + "Content-Length: 3\t\r\n\r\n", "content_length"},
	{post + "Content-Length: 3\n\r\n", "content_length"},
	{post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", "content_length"},
	{post + "Content-Length: 3\r\nX: 1\r\ncontent-length: 4\r\n\r\n", "content_length"},
	{chunks + "3\r\nabc\r\n0\r\n\r\n" + another, ""},
	{post + "transfer-encoding:chunked \r\n\r\n0\r\n\r\n" + another, ""},
	{post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "length_and_encoding"},
	{post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", "length_and_encoding"},
	{post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", "transfer_encoding"},
	{"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: \x0bchunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked\x00\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding:\tchunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked\xa0\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked\n\r\n", "line_end"},
	{post + "Transfer-Encoding: chunked\r\n chunked\r\n\r\n", "folded_line"},
	{post + "Transfer-Encoding: identity, chunked\r\n\r\n", "other_encoding"},
	{post + "Transfer-Encoding: gzip,chunked \r\n\r\n", "other_encoding"},
	{post + "Transfer-Encoding: x-a , deflate,  Chunked\r\n\r\n", "other_encoding"},
	{post + "Transfer-Encoding: chunk, chunked\r\n\r\n", "other_encoding"},
	{post + "Transfer-Encoding: chunkedx, chunked\r\n\r\n", "other_encoding"},
	{post + "Transfer-Encoding: Chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked, chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: CHUNKED, chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked, gzip\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked, gzip, chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunked, gzip\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked,\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunked,\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: , chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, , chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: ,\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: identity\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip;a=b, chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip;a=\", chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunked;a=b\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunked x\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, xchunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunkedx\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip,\tchunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunked\x00\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: gzip, chunked\n\r\n", "line_end"},
	{post + "Transfer-Encoding: gzip,\r\n chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: xchunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunkedx\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked;q=1\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: \"chunked\"\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding:\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: \r\n chunked\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chun\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked x\r\n\r\n", "transfer_encoding"},
	{post + "Transfer-Encoding: chunked , gzip\r\n\r\n", "transfer_encoding"},
	{chunks + "00000003\r\nabc\r\n00000000\r\n\r\n", ""},
	{chunks + "aB\r\n" + strings.Repeat("\n", 0xab) + "\r\n0\r\n\r\n", ""},
	{chunks + "000000003\r\nabc\r\n0\r\n\r\n", "chunk_size"},
	{chunks + "ffffffffff\r\n", "chunk_size"},
	{chunks + "\r\n", "chunk_size"},
	{chunks + "-1\r\n", "chunk_size"},
	{chunks + "+3\r\nabc\r\n0\r\n\r\n", "chunk_size"},
	{chunks + "0x3\r\nabc\r\n0\r\n\r\n", "chunk_size"},
	{chunks + "3_0\r\nabc\r\n0\r\n\r\n", "chunk_size"},
	{chunks + "3\nabc\r\n0\r\n\r\n", "chunk_size"},
	{chunks + "3\rabc\r\n0\r\n\r\n", "chunk_size"},
	{chunks + " 3\r\nabc\r\n0\r\n\r\n", "chunk_extension"},
	{chunks + "3 \r\nabc\r\n0\r\n\r\n", "chunk_extension"},
	{chunks + "3\t\r\nabc\r\n0\r\n\r\n", "chunk_extension"},
	{chunks + "3;a\r\nabc\r\n0\r\n\r\n", "chunk_extension"},
	{chunks + "3;a=\"\n\"\r\nabc\r\n0\r\n\r\n", "chunk_extension"},
	{chunks + "3\r\nabc\r\n0;a\r\n\r\n", "chunk_extension"},
	{chunks + "3\r\nabcd\r\n0\r\n\r\n", "chunk_end"},
	{chunks + "3\r\nabc\n0\r\n\r\n", "chunk_end"},
	{chunks + "3\r\nabc0\r\n\r\n", "chunk_end"},
	{chunks + "3\r\nabc\r0\r\n\r\n", "chunk_end"},
	{chunks + "0\r\n\n", "line_end"},
	{chunks + "0\r\n\r\r\n", "line_end"},
	{chunks + "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "field_name"},
	{chunks + "0\r\nX : a\r\n\r\n", "field_name"},
	{chunks + "0\r\n X: a\r\n\r\n", "folded_line"},
	{chunks + "0\r\nX: \x00\r\n\r\n", "field_value"},
	{chunks + "0\r\nHost: a\r\n\r\n", "trailer"},
	{chunks + "0\r\nContent-Length: 3\r\n\r\n", "trailer"},
	{chunks + "0\r\nTransfer-Encoding: chunked\r\n\r\n", "trailer"},
	{chunks + "0\r\nX: " + strings.Repeat("a", head) + "\r\n\r\n", "trailer"},
	{get + "X: " + strings.Repeat("a", head-len(get)-len("X: \r\n\r\n")) + "\r\n\r\n", ""},
	{get + "X: " + strings.Repeat("a", head-len(get)-len("X: \r\n\r\n")+1) + "\r\n\r\n", "head_size"},
	{"GET /" + strings.Repeat("a", 2*head) + " HTTP/1.1\r\n", "target_size"},
	{"GET /" + strings.Repeat("a", head-len("GET / HTTP/1.1\r\n")) + " HTTP/1.1\r\nHost: a\r\n\r\n", "head_size"},
	{strings.Repeat("A", longestMethod) + " / HTTP/1.1\r\nHost: a\r\n\r\n", ""},
	{strings.Repeat("A", longestMethod+1) + " / HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
	{strings.Repeat("A", 2*head), "method"},
}

// sized are the rules about how much there is of something: where they are broken, what
// has passed depends on how it came.
func sized(broken string) bool { return broken == "head_size" || broken == "target_size" }

func TestL17_Rules(t *testing.T) {
	t.Parallel()
	for _, tt := range cases {
		whole, broken := passed(t, []string{tt.sent}, false)
		if broken != tt.broken {
			t.Errorf("%.100q: broken %q, want %q", tt.sent, broken, tt.broken)
		}
		if tt.broken == "" && whole != tt.sent {
			t.Errorf("%.100q passed as %.100q", tt.sent, whole)
		}
		inPieces, brokenThere := passed(t, bytewise(tt.sent), false)
		if brokenThere != broken || !sized(broken) && inPieces != whole {
			t.Errorf("%.100q in pieces: %.100q, broken %q", tt.sent, inPieces, brokenThere)
		}
		if n := len(read([]string{tt.sent})); tt.broken != "" && n > 0 && !strings.HasPrefix(tt.sent, chunks) {
			t.Errorf("%.100q: net/http has read %d requests", tt.sent, n)
		}
	}
}

// TestEmptyLine: one before a request is ignored, and is not the request's nor a body's.
func TestEmptyLine(t *testing.T) {
	t.Parallel()
	body := post + "Content-Length: 3\r\n\r\n\r\n\x00"
	for sent, want := range map[string]string{
		"\r\n" + another: another, another + "\r\n" + another: another + another,
		body + "\r\n" + another: body + another, chunks + "0\r\n\r\n\r\n" + another: chunks + "0\r\n\r\n" + another,
	} {
		for _, pieces := range [][]string{{sent}, bytewise(sent)} {
			if got, broken := passed(t, pieces, false); got != want || broken != "" {
				t.Errorf("%q passed as %q, broken %q", sent, got, broken)
			}
		}
	}
}

// TestL17_BrokenChunks: the handler's read fails where a body of chunks breaks a rule,
// and nothing after it is a request.
func TestL17_BrokenChunks(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"3;a\r\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r0\r\n\r\n", "\r\n", "x\r\n",
		"3\rabc\r\n", "3\r\nabc\r\n0\r\n\n", "3\r\nabc\r\n0\r\n\rx", "3\r\nabc\r\n0\r\nX : a\r\n\r\n", "0\r\nX", "0\r\nX: a\n\r\n",
	} {
		for _, pieces := range [][]string{{chunks + body + another}, bytewise(chunks + body + another)} {
			got := read(pieces)
			if len(got) != 1 || !got[0].broken {
				t.Errorf("%q was read as %v", body, got)
			}
		}
	}
}

// TestL17_TrailersAreDropped: nobody sees them, and what follows is the next request.
func TestL17_TrailersAreDropped(t *testing.T) {
	t.Parallel()
	sent := chunks + "3\r\nabc\r\n0\r\nX-A: b\r\nX-Content-Length: 7\r\n\r\n" + another
	want := chunks + "3\r\nabc\r\n0\r\n\r\n" + another
	for _, pieces := range [][]string{{sent}, bytewise(sent), cut(sent, []byte{6, 30, 2})} {
		if got, broken := passed(t, pieces, false); got != want || broken != "" {
			t.Errorf("%q passed, broken %q", got, broken)
		}
	}
}

// TestPreface: HTTP/2 passes unread where it may be spoken, and only by its whole preface.
func TestPreface(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sent   string
		h2c    bool
		broken string
	}{
		{http2Preface + "\x00\x00\x00\x04\x00\n", true, ""},
		{http2Preface, false, "other_version"},
		{"P", true, ""},
		{"POST / HTTP/1.1\r\nHost: a\r\n\r\n", true, ""},
		{"PRI / HTTP/1.1\r\nHost: a\r\n\r\n", true, ""},
		{"PRI * HTTP/1.1\r\nHost: a\r\n\r\n", true, ""},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r", true, "other_version"},
		{"PRI * HTTP/2.0\r\n\r\n", true, "other_version"},
		{"PRI * HTTP/2.0\r\nHost: a\r\n\r\n", true, "other_version"},
		{"PRI * HTTP/2.1\r\n\r\nSM\r\n\r\n", true, "other_version"},
		{another + http2Preface, true, "other_version"},
	} {
		line := min(prefaceLine, len(tt.sent)) // net/http asks for so much first
		for _, pieces := range [][]string{{tt.sent}, bytewise(tt.sent), {tt.sent[:line], tt.sent[line:]}} {
			got, broken := passed(t, pieces, tt.h2c)
			if broken != tt.broken || tt.broken == "" && got != tt.sent {
				t.Errorf("%q in %d pieces: %q passed, broken %q", tt.sent, len(pieces), got, broken)
			}
			if strings.HasPrefix(tt.sent, "PRI * HTTP/2") && tt.broken != "" && strings.Contains(got, "\r\n\r\nS") {
				t.Errorf("%q: %q passed", tt.sent, got)
			}
		}
	}
}
