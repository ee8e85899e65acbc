package agents

import (
	"net/textproto"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// OwnedHeaders are set by the gateway or never sent; no configuration can let
// them through.
var OwnedHeaders = []string{
	"Authorization", "Cookie", "Set-Cookie", "Proxy-Authorization", "X-Api-Key", "Forwarded",
	"Via", "X-Request-Id", "A2a-Version", "Traceparent", "Tracestate", "Baggage", "Host",
	"Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Upgrade", "Te",
	"Trailer", "Keep-Alive", "Www-Authenticate", "X-Real-Ip", "True-Client-Ip",
	"X-Original-Url", "Last-Event-Id", "X-Rewrite-Url", "X-Http-Method-Override", "X-Client-Cert", "Client-Cert",
	ext.HeaderV10, ext.HeaderV03,
}

// OwnedPrefixes begin the names of the header fields that the gateway alone sets.
var OwnedPrefixes = []string{"X-Forwarded-", "X-Gateway-", "X-A2a-"}

// Owned reports whether a header belongs to the gateway.
func Owned(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	for _, o := range OwnedHeaders {
		if strings.EqualFold(name, o) {
			return true
		}
	}
	for _, prefix := range OwnedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
