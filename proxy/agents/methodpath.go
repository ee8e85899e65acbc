package agents

import (
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// agno takes JSON-RPC envelopes at an address for each method, below one base, and its cards
// name that of streams; so does python-a2a, which reads any envelope at its address of sends as
// one more message. No interface of JSON-RPC has such an address for anything else: the former
// are HTTP+JSON's, where there are no envelopes, the latter is a method's name.

// methodPaths are the ends of the addresses that agno has, and those that python-a2a has. What
// the latter streams is no JSON-RPC: a stream is asked for where sends are, and answered with
// the task.
var methodPaths = [...]map[string]string{
	{
		wire.SendMessage:          "/message:send",
		wire.SendStreamingMessage: "/message:stream",
		wire.GetTask:              "/tasks:get",
		wire.CancelTask:           "/tasks:cancel",
	},
	{
		wire.SendMessage: "/tasks/send",
		wire.GetTask:     "/tasks/get",
		wire.CancelTask:  "/tasks/cancel",
	},
}

// IsMethodPath reports whether an interface's URL is that of sends or of streams alone.
func IsMethodPath(s wire.Side, u *url.URL) bool {
	_, paths := baseOfMethods(u.Path)
	return s.Binding == wire.JSONRPC && paths != nil
}

// baseOfMethods is a path without the end that names a send or a stream, and the ends that
// belong below it; none if it has no such end.
func baseOfMethods(path string) (base string, paths map[string]string) {
	for _, paths := range methodPaths {
		for _, name := range [...]string{wire.SendMessage, wire.SendStreamingMessage} {
			if base, ok := strings.CutSuffix(path, paths[name]); ok && paths[name] != "" {
				return base, paths
			}
		}
	}
	return path, nil
}

// MethodURL is where a method is called, of an interface whose URL is that of one; u itself
// for methods that have no address of their own.
func MethodURL(u *url.URL, m *wire.Method) *url.URL {
	base, paths := baseOfMethods(u.Path)
	path := paths[m.Name]
	if path == "" {
		return u
	}
	at := *u
	at.Path = base + path
	if u.RawPath != "" {
		raw, _ := baseOfMethods(u.RawPath)
		at.RawPath = raw + path
	}
	return &at
}
