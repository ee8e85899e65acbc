package card

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// checkBindings reports what is no binding, one that is there twice, or none at all.
func (c Config) checkBindings() error {
	if c.Bindings != nil && len(c.Bindings) == 0 {
		return keypath.At(errors.New("a card that offers none is visibility: none"), "card", "bindings")
	}
	for i, name := range c.Bindings {
		if b, known := wire.ParseBinding(name); !known || b.String() != name {
			return keypath.At(keypath.Point(fmt.Errorf("%q is not JSONRPC, HTTP+JSON or GRPC", name), i), "card", "bindings")
		}
		if slices.Contains(c.Bindings[:i], name) {
			return keypath.At(keypath.Point(fmt.Errorf("%q is listed twice", name), i), "card", "bindings")
		}
	}
	return nil
}

// CheckOffer reports bindings that would leave the served card without an address. JSON-RPC and
// HTTP+JSON are there always; taken says whether the listener takes gRPC, alone whether the
// agent has a host for itself, and below whether the gateway's URL has a path.
func (c Config) CheckOffer(taken, alone, below bool) error {
	if len(c.Bindings) != 1 || c.Bindings[0] != wire.GRPC.String() {
		return nil
	}
	switch {
	case !taken:
		return keypath.At(errors.New("GRPC alone leaves the card without an address, since the listener does not take it: "+
			"that needs server.tls or server.h2c"), "card", "bindings")
	case !alone && below:
		return keypath.At(errors.New("GRPC alone leaves the card without an address, since gRPC knows no path such as that of server.publicURL: "+
			"give the agent a host of its own (hosts)"), "card", "bindings")
	case !alone && c.Form == legacyForm:
		return keypath.At(errors.New(`GRPC alone leaves a card of form "0.3" without an address, since gRPC of 0.3 has no tenant to name the agent by: `+
			"give the agent a host of its own (hosts)"), "card", "bindings")
	}
	return nil
}
