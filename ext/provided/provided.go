// Package provided has the extensions that the gateway implements for agents that
// lack them, one file each.
//
// It owns what they add to answers and ask of requests. It does not own when they
// are called: package ext decides whether one is active in a call, and the proxy hands
// it the documents. It may import ext and internal/wire.
package provided

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// providers is every provider. One more is one more line.
var providers = [...]ext.Provider{
	timestamp{"github.com/a2aproject/a2a-samples/extensions/timestamp/v1"},
	timestamp{"github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"},
	traceability{},
	passport{},
	selection{},
}

// Providers returns every provider by its URI.
func Providers() map[string]ext.Provider {
	byURI := make(map[string]ext.Provider, len(providers))
	for _, p := range providers {
		byURI[p.Declared().URI] = p
	}
	return byURI
}

// holders are the indices of the objects whose metadata has key. Looking each up
// among the marks would take the square of a document's length.
func holders(doc *wire.Carriers, key string) map[int]bool {
	var have map[int]bool
	for i := range doc.Marks {
		m := &doc.Marks[i]
		if m.Listed || m.Key != key {
			continue
		}
		if have == nil {
			have = make(map[int]bool)
		}
		have[m.Carrier] = true
	}
	return have
}

// isSend reports whether a call gives the agent something to do, so that what its
// answer has was made in the call.
func isSend(method string) bool {
	m, ok := wire.Core(method)
	return ok && m.Sends()
}
