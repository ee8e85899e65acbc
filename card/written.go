package card

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// InterfaceConfig is an entry of `agents[].interfaces:`, one way to reach the agent in place of
// what its card says.
type InterfaceConfig struct {
	// URL is where the gateway calls the agent: http or https. For GRPC it has no path, and may
	// also be host:port (which means https), grpcs:// or grpc://.
	URL secret.URL `yaml:"url" jsonschema:"required"`
	// Binding is JSONRPC, HTTP+JSON or GRPC.
	Binding string `yaml:"binding" jsonschema:"required,enum=JSONRPC,enum=HTTP+JSON,enum=GRPC"`
	// Version of A2A that the agent speaks there: 0.1, 0.2, 0.3 or 1.0.
	Version string `yaml:"version" jsonschema:"enum=0.1,enum=0.2,enum=0.3,enum=1.0"`
	// Tenant of the interface (1.0 only). The served card tells it to clients of 1.0, which repeat
	// it in each request. The gateway adds it to the requests of other clients. Default: none.
	Tenant string `yaml:"tenant,omitempty"`
}

// read is the interface that c writes down.
func (c InterfaceConfig) read() (Interface, error) {
	i := Interface{Tenant: c.Tenant}
	var known bool
	if i.Binding, known = wire.ParseBinding(c.Binding); !known {
		return i, keypath.At(fmt.Errorf("%q is not JSONRPC, HTTP+JSON or GRPC", c.Binding), "binding")
	}
	if i.Version, known = wire.ParseVersion(c.Version); !known || strings.TrimSpace(c.Version) == "" {
		return i, keypath.At(fmt.Errorf("%q is not 0.1, 0.2, 0.3 or 1.0", c.Version), "version")
	}
	switch {
	case i.Version == wire.V01 && i.Binding != wire.JSONRPC:
		return i, keypath.At(errors.New("A2A 0.1 has JSONRPC alone"), "binding")
	case i.Version != wire.V10 && i.Tenant != "":
		return i, keypath.At(errors.New("A2A has tenants from 1.0 on"), "tenant")
	}
	text := c.URL.Reveal()
	if i.Binding == wire.GRPC {
		if text = plainScheme(text); text != "" && !strings.Contains(text, "//") {
			text = "https://" + text
		}
	}
	u, err := secret.URL(text).Parse()
	switch {
	case err != nil || origin(text) == "":
		return i, keypath.At(secret.NotAbsolute(err), "url")
	case !isBare(text):
		return i, keypath.At(errors.New("must have neither a user name, a password nor a fragment"), "url")
	case i.Binding == wire.GRPC && (strings.Trim(u.Path, "/") != "" || u.RawQuery != ""):
		return i, keypath.At(errors.New("gRPC has neither path nor query"), "url")
	}
	if i.URL = text; i.Binding == wire.GRPC {
		i.URL = origin(text)
	}
	return i, nil
}

// Written are the interfaces that an operator has written down, nil for none, and what is
// wrong with them.
func Written(list []InterfaceConfig) ([]Interface, error) {
	var all []Interface
	var errs []error
	for n, c := range list {
		i, err := c.read()
		if before := len(all); err == nil {
			if all = add(all, i); len(all) == before {
				err = errors.New("is there twice")
			}
		}
		if err != nil {
			errs = append(errs, keypath.At(err, "interfaces", n))
		}
	}
	return all, errors.Join(errs...)
}
