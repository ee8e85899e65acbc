package mediatype

import (
	"mime"
	"strconv"
	"strings"
)

// The media types of A2A's bodies, as they stand in Content-Type and Accept without parameters.
const (
	JSON    = "application/json"         // JSON-RPC, and HTTP+JSON of every version
	A2A     = "application/a2a+json"     // HTTP+JSON of 1.0 (A2A 1.0.1 §11.1)
	Problem = "application/problem+json" // errors alone (RFC 9457 §3)
	Events  = "text/event-stream"        // server-sent events (WHATWG HTML §9.2)
	GRPC    = "application/grpc"         // gRPC over HTTP/2
)

// OfRequest reports whether a request's Content-Type is one that A2A bodies have:
// application/json, or application/a2a+json (A2A 1.0 §11.1), with no parameter but a charset
// of UTF-8. Anything else is a chance for two parsers to read the body in two ways.
//
//	application/json                     true
//	application/json; charset=UTF-8      true
//	application/json; charset*=utf-8     false: RFC 2231's second way to write a parameter
//	application/json; charset=utf-16     false
//	text/plain                           false, which also keeps HTML forms of other sites out
func OfRequest(contentType string) bool {
	switch contentType {
	case JSON, A2A:
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != JSON && kind != A2A {
		return false
	}
	charset, ok := params["charset"]
	if ok && !strings.EqualFold(charset, "utf-8") || strings.ContainsRune(contentType, '*') {
		return false // an asterisk is RFC 2231's second way to write a parameter
	}
	return len(params) == 0 || ok && len(params) == 1
}

// Accepts reports whether an Accept header names the media type itself, and not
// with weight zero (RFC 9110 §12.5.1). Ranges such as */* do not count.
//
//	Accept: text/event-stream, application/json;q=0.5     both
//	Accept: application/json;q=0                          not application/json
//	Accept: */*                                           none
func Accepts(header, mediaType string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), mediaType) {
			continue
		}
		refused := false
		for param := range strings.SplitSeq(params, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			if q, err := strconv.ParseFloat(value, 64); strings.EqualFold(key, "q") && err == nil && q == 0 {
				refused = true
			}
		}
		return !refused
	}
	return false
}

// longest is how many bytes of a media type or charset are quoted to a caller.
const longest = 80

// Quoted is a media type as it may be quoted to a caller: without parameters, and in
// no letters but its own. What is no media type is not quoted at all, since whoever wrote it
// could write into the caller's log or page.
//
//	text/html; charset=utf-8   text/html
//	""                         no Content-Type
//	<b>hi</b>                  a malformed Content-Type
func Quoted(contentType string) string {
	if contentType == "" {
		return "no Content-Type"
	}
	media, _, err := mime.ParseMediaType(contentType)
	if media == "" && err != nil || !strings.Contains(media, "/") || len(media) > longest {
		return "a malformed Content-Type"
	}
	return media
}
