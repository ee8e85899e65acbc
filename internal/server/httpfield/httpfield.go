// Package httpfield has what HTTP/1.1 and HTTP/2 share of header fields and of what they say:
// names as handlers know them, lists of tokens, the Date of an answer, paths that need no
// unescaping, and which answers have a body. Both servers beside it read and write by it, so
// that a handler cannot tell them apart.
//
// It may import nothing of ours.
package httpfield

import (
	"net/http"
	"net/textproto"
	"strings"
	"sync/atomic"
	"time"
)

// known are names that clients of A2A send and textproto has to make a new string of, in
// the forms that they come in: as SDKs write them, and in lower case, as HTTP/2 does.
var known = func() map[string]string {
	m := map[string]string{}
	for _, name := range []string{
		"A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Traceparent", "Tracestate", "Baggage", "X-Api-Key",
		"Last-Event-Id", "X-Request-Id", "Idempotency-Key", "Accept-Language", "Sec-Fetch-Mode", "Dpop",
		"Accept", "Accept-Encoding", "Authorization", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Type",
		"Cookie", "Expect", "Forwarded", "Host", "Origin", "Referer", "Te", "User-Agent", "Via", "If-None-Match", "Priority",
		"Grpc-Timeout", "Grpc-Encoding", "Grpc-Accept-Encoding", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
		"Sec-Fetch-Site", "Sec-Fetch-Dest",
	} {
		is := textproto.CanonicalMIMEHeaderKey(name)
		m[name], m[strings.ToLower(name)], m[is] = is, is, is
	}
	return m
}()

// Canonical is textproto's spelling of a name, which is a token: "x-api-key" is "X-Api-Key".
// Names that need no change, and those that are usual, cost no allocation.
func Canonical(name string) string {
	if isCanonical(name) {
		return name
	}
	if is, ok := known[name]; ok {
		return is
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

// isCanonical reports whether a name, which is a token, is spelled so already.
func isCanonical(name string) bool {
	for upper, i := true, 0; i < len(name); i++ {
		c := name[i]
		if upper && c >= 'a' && c <= 'z' || !upper && c >= 'A' && c <= 'Z' {
			return false
		}
		upper = c == '-'
	}
	return true
}

// HasToken reports whether a list of any number of lines has a token, which is in lower case
// (RFC 9110 §5.6.1): "Connection: keep-alive, Close" has "close".
func HasToken(lines []string, token string) bool {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			if SameToken(strings.Trim(element, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// SameToken compares with a token without regard to the case of ASCII letters: other letters
// that fold to them are longer.
func SameToken(s, token string) bool { return len(s) == len(token) && strings.EqualFold(s, token) }

// PlainPath reports whether a path has only what net/url neither escapes nor unescapes. Nearly
// all have; they are what they say, without being parsed.
func PlainPath(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("/-_.~:@$&+=", c) < 0:
			return false
		}
	}
	return true
}

// HasBody reports whether answers of a status may have a body (RFC 9110 §6.4.1).
func HasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// second is a moment as answers say it (RFC 9110 §6.6.1).
type second struct {
	unix int64
	text string
}

var lastSecond atomic.Pointer[second]

// Date is now, as the Date field says it. Formatting it costs as much as the rest of a small
// head; one format a second is enough.
func Date() string {
	now := time.Now()
	if s := lastSecond.Load(); s != nil && s.unix == now.Unix() {
		return s.text
	}
	s := &second{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastSecond.Store(s)
	return s.text
}
