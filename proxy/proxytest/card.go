package proxytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// CardDeclaring makes cards with other extensions.
func CardDeclaring(doc func(string) string, list ...string) func(string) string {
	return func(base string) string {
		return strings.Replace(doc(base), `"extensions":[{"uri":"urn:declared"}]`, `"extensions":[`+strings.Join(list, ",")+`]`, 1)
	}
}

// Card is a card with an interface for each version and binding.
func Card(base string) string {
	const list = `{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
		{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
		{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.1"},
		{"url":"%[1]s/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
		{"url":"%[1]s/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}`
	return fmt.Sprintf(`{"name":"Recorder","description":"d","version":"1","supportedInterfaces":[`+list+`],
		"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true,
			"extensions":[{"uri":"urn:declared"}]},
		"defaultInputModes":[],"defaultOutputModes":[],
		"skills":[{"id":"read","name":"Read","description":"r","tags":[]},
			{"id":"write it","name":"Write","description":"w","tags":[]}]}`, base)
}

// preferred is the order in which each caller would have an agent's interfaces:
// its own, other bindings of its version, then other versions, 0.1 last.
var preferred = map[wire.Side][]wire.Side{
	RPC10:  {RPC10, REST10, GRPC10, RPC03, REST03, GRPC03, RPC01},
	REST10: {REST10, RPC10, GRPC10, RPC03, REST03, GRPC03, RPC01},
	GRPC10: {GRPC10, RPC10, REST10, RPC03, REST03, GRPC03, RPC01},
	RPC03:  {RPC03, REST03, GRPC03, RPC10, REST10, GRPC10, RPC01},
	REST03: {REST03, RPC03, GRPC03, RPC10, REST10, GRPC10, RPC01},
	GRPC03: {GRPC03, RPC03, REST03, RPC10, REST10, GRPC10, RPC01},
	RPC01:  {RPC01, RPC03, REST03, GRPC03, RPC10, REST10, GRPC10},
}

// BestInterface is the one of these that a caller would have.
func BestInterface(caller wire.Side, has []wire.Side) wire.Side {
	for _, s := range preferred[caller] {
		if slices.Contains(has, s) {
			return s
		}
	}
	return wire.Side{}
}

// CardWithModes is a card with these modes; skills are what follows a skill's id.
func CardWithModes(top string, skills ...string) func(string) string {
	return func(base string) string {
		list := make([]string, 0, len(skills))
		for _, s := range skills {
			list = append(list, `{"name":"s","description":"d","tags":[],"id":`+s+`}`)
		}
		before, _, _ := strings.Cut(Card(base), `"defaultInputModes"`)
		return before + top + `,"skills":[` + strings.Join(list, ",") + `]}`
	}
}

// InterfaceOf is a card's entry for a side of the agent at base.
func InterfaceOf(base string, s wire.Side, tenant string) string {
	at := map[wire.Binding]string{wire.JSONRPC: base + "/rpc", wire.HTTPJSON: base + "/rest", wire.GRPC: base}[s.Binding]
	if tenant != "" {
		tenant = `,"tenant":"` + tenant + `"`
	}
	return fmt.Sprintf(`{"url":%q,"protocolBinding":%q,"protocolVersion":%q%s}`, at, s.Binding, s.Version, tenant)
}

// CardFor makes cards of an agent that has these interfaces only.
func CardFor(list ...wire.Side) func(string) string {
	return func(base string) string {
		var all []string
		for _, s := range list {
			all = append(all, InterfaceOf(base, s, ""))
		}
		return CardWith(base, all...)
	}
}

// CardWith is the usual card with other interfaces.
func CardWith(base string, interfaces ...string) string {
	before, rest, _ := strings.Cut(Card(base), `"supportedInterfaces":[`)
	_, after, _ := strings.Cut(rest, "]")
	return before + `"supportedInterfaces":[` + strings.Join(interfaces, ",") + "]" + after
}
