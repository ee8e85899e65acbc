package card

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Visibility says who may read an agent's card.
type Visibility string

// The visibilities. The empty one means Public.
const (
	Public Visibility = "public" // anyone; all skills but hidden ones
	Caller Visibility = "caller" // callers with a credential; their skills only
	None   Visibility = "none"   // nobody
)

// Config is an agent's `card:` section. In the file it is either the URL alone
// or a mapping.
type Config struct {
	// URL is where the agent's own card is, in full: the gateway appends nothing to it. Usually it
	// ends in /.well-known/agent-card.json, for agents of version 0.2 and before in
	// /.well-known/agent.json.
	URL secret.URL `yaml:"url"`

	// Visibility says who may read the served card. It is public (the default: anybody, without a
	// credential), caller (callers with a credential, who see only their skills) or none (nobody).
	Visibility Visibility `yaml:"visibility" jsonschema:"enum=public,enum=caller,enum=none"`

	// Refresh is how often the gateway fetches the card again, at least 1s; default 5m. The
	// request is conditional, so that an unchanged card costs the agent little. After an error,
	// the gateway retries sooner.
	Refresh quantity.Duration `yaml:"refresh"`

	// Trust says which cards come into force, and what happens when a card has changed. Default:
	// any card does, and the gateway reports changes.
	Trust trust.Config `yaml:"trust"`

	// Form is which members the served card has: auto (the default), mixed, "1.0" or "0.3". With
	// auto, a request that names its version, by an A2A-Version header or in the query
	// (?A2A-Version=1.0), gets only that version's members. Any other request gets the mixed form,
	// with the members of 0.3 and 1.0 beside each other. Extended cards are in the version of the
	// call that asks for them.
	Form Form `yaml:"form" jsonschema:"enum=auto,enum=mixed,enum=1.0,enum=0.3"`

	// Requirements is how the served card says, in 1.0's members, which security schemes a caller
	// needs. It is auto (the default), omit, spec or go. No shape of securityRequirements suits
	// every SDK. The Go SDK refuses that of the specification (spec), and strict Protobuf readers
	// refuse that of the Go SDK (go). With auto, the gateway writes the schemes under names that
	// each SDK reads in its own shape. With omit, it leaves them out. 0.3's security, which says
	// the same, is not affected.
	Requirements Requirements `yaml:"requirements" jsonschema:"enum=auto,enum=omit,enum=spec,enum=go"`

	// Bindings are those that the served card offers: JSONRPC, HTTP+JSON and GRPC. Default: the
	// first two, and GRPC where the agent's own card has it and the listener takes it. The gateway
	// accepts calls in all of them whatever the card says. Entries of gRPC are host:port. Clients
	// that take them for URLs of another origin refuse the whole card.
	Bindings []string `yaml:"bindings" jsonschema:"enum=JSONRPC,enum=HTTP+JSON,enum=GRPC"`

	// Sign has the gateway sign the served card with its keys, whose public halves are at
	// /.well-known/jwks.json. Default: true. It costs 1 to 3 KiB in the card.
	Sign *bool `yaml:"sign"`

	// Limits bound the texts, lists and skills of the card.
	Limits Limits `yaml:"limits"`
}

// Signed reports whether the served card is signed.
func (c Config) Signed() bool { return c.Sign == nil || *c.Sign }

// Offers reports whether the served card offers a binding. has says whether the agent's own
// card does.
func (c Config) Offers(b wire.Binding, has bool) bool {
	if c.Bindings == nil {
		return has || b != wire.GRPC
	}
	return slices.Contains(c.Bindings, b.String())
}

// defaultRefresh is used where Config.Refresh is zero.
const defaultRefresh = 5 * time.Minute

const minRefresh = time.Second

// UnmarshalYAML reads the URL alone or the mapping. Unknown keys are errors.
func (c *Config) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Load(&c.URL)
	}
	type plain Config // without this method
	return n.Load((*plain)(c), yaml.WithKnownFields())
}

// Validate reports everything wrong with c.
func (c Config) Validate() error {
	var errs []error
	switch u, err := c.URL.Parse(); {
	case c.URL == "":
		errs = append(errs, keypath.At(keypath.Point(errors.New("url is missing"), "url"), "card"))
	case !strings.Contains(c.URL.Reveal(), "://"):
		errs = append(errs, keypath.At(keypath.Point(errors.New("url is not an absolute http or https URL: it lacks the scheme, http:// or https://"), "url"), "card"))
	case err != nil || origin(c.URL.Reveal()) == "":
		errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("url: %w", secret.NotAbsolute(err)), "url"), "card"))
	case u.Fragment != "":
		errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("url %s has a fragment", c.URL), "url"), "card"))
	}
	switch c.Visibility {
	case "", Public, Caller, None:
	default:
		errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("visibility %q is not public, caller or none", c.Visibility), "visibility"), "card"))
	}
	if c.Refresh != 0 && c.Refresh.Std() < minRefresh {
		errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("refresh is shorter than %v", minRefresh), "refresh"), "card"))
	}
	if err := c.Trust.Validate(); err != nil {
		errs = append(errs, keypath.At(err, "card", "trust"))
	}
	switch c.Form {
	case "", autoForm, MixedForm, modernForm, legacyForm:
	default:
		errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("form %q is not auto, mixed, 1.0 or 0.3", c.Form), "form"), "card"))
	}
	switch c.Requirements {
	case "", autoRequirements, omitRequirements, specRequirements, goRequirements:
	default:
		errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("requirements %q is not auto, omit, spec or go", c.Requirements), "requirements"), "card"))
	}
	if err := c.checkBindings(); err != nil {
		errs = append(errs, err)
	}
	if err := c.Limits.validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
