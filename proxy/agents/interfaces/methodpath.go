package interfaces

import (
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// agno takes JSON-RPC envelopes at an address for each method, below one base, and its cards
// name that of streams; so does python-a2a, which reads any envelope at its address of sends as
// one more message. No interface of JSON-RPC has such an address for anything else: the former
// are HTTP+JSON's, where there are no envelopes, the latter is a method's name.

// methodPaths are the ends of the addresses that agno has, and those that python-a2a has, by
// method.
var methodPaths = func() (paths [2]map[string]string) {
	for i := range paths {
		paths[i] = make(map[string]string)
		for _, m := range wire.Methods() {
			if at := m.Addresses[i]; at != "" {
				paths[i][m.Name] = at
			}
		}
	}
	return paths
}()

// IsMethodPath reports whether an interface's URL is that of sends or of streams alone.
func IsMethodPath(s wire.Side, u *url.URL) bool {
	_, paths := baseOfMethods(u.Path)
	return s.Binding == wire.JSONRPC && paths != nil
}

// baseOfMethods is a path without the end that names a send or a stream, and the ends that
// belong below it; none if it has no such end.
func baseOfMethods(path string) (base string, paths map[string]string) {
	for _, paths := range methodPaths {
		for _, m := range wire.Methods() {
			end := paths[m.Name]
			if base, ok := strings.CutSuffix(path, end); ok && end != "" && m.Sends() {
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
