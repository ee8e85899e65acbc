package proxy

import (
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// agno takes JSON-RPC envelopes at an address for each method, below one base, and its cards
// name that of streams. No interface of JSON-RPC has such an address for anything else: it is
// HTTP+JSON's, where there are no envelopes.

// methodPaths are the ends of the addresses that agno has.
var methodPaths = map[string]string{
	wire.SendMessage:          "/message:send",
	wire.SendStreamingMessage: "/message:stream",
	wire.GetTask:              "/tasks:get",
	wire.CancelTask:           "/tasks:cancel",
}

// isMethodPath reports whether an interface's URL is that of sends or of streams alone.
func isMethodPath(s wire.Side, u *url.URL) bool {
	return s.Binding == wire.JSONRPC && baseOfMethods(u.Path) != u.Path
}

// baseOfMethods is a path without the end that names a send or a stream.
func baseOfMethods(path string) string {
	for _, name := range [...]string{wire.SendMessage, wire.SendStreamingMessage} {
		if base, ok := strings.CutSuffix(path, methodPaths[name]); ok {
			return base
		}
	}
	return path
}

// methodURL is where a method is called, of an interface whose URL is that of one; u itself
// for methods that agno does not have.
func methodURL(u *url.URL, m *wire.Method) *url.URL {
	path := methodPaths[m.Name]
	if path == "" {
		return u
	}
	at := *u
	at.Path = baseOfMethods(u.Path) + path
	if u.RawPath != "" {
		at.RawPath = baseOfMethods(u.RawPath) + path
	}
	return &at
}
