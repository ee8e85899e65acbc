package wellknown

import (
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ServeMetadata writes the document. One for an agent that does not exist is there as
// well.
//
// The resource in it is the URL that was asked for, without the well-known part, as RFC 9728 §3.3
// has clients compare it.
func (ds *Documents) ServeMetadata(x *exchange.Exchange) error {
	if _, err := ds.Screen(x); err != nil {
		return err
	}
	origin, path := ds.Resource(x)
	body, err := json.Marshal(ds.MetadataOf(origin + path))
	if err != nil {
		return err
	}
	return x.Publish("application/json", body)
}

// ServeKeys writes the gateway's public keys. They are nobody's secret, and say nothing
// of who may call.
func (ds *Documents) ServeKeys(x *exchange.Exchange) error {
	if _, err := ds.Screen(x); err != nil {
		return err
	}
	if ds.JWKS == nil {
		return ds.NoRoute(x)
	}
	return x.Publish("application/jwk-set+json", ds.JWKS())
}
