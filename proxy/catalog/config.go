package catalog

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Access says who may read the catalog.
type Access string

// Who may read it. The empty one means caller.
const (
	ofCaller Access = "caller" // callers with a credential, each what they may use
	Public   Access = "public" // these, and anybody about agents whose cards are public
	None     Access = "none"   // nobody
)

// Config is the `catalog:` section.
type Config struct {
	// Access is caller (the default: a caller needs a credential), public (without one, a caller
	// sees the agents whose cards are public) or none (there is no catalog). The catalog shows a
	// caller only what that caller may use.
	Access Access `yaml:"access" jsonschema:"enum=caller,enum=public,enum=none"`
	// Page is how many agents GET /agents returns unless the query says; default 100.
	Page int `yaml:"page"`
	// LongestPage is how many agents a query may ask for, and how many a well-known document holds
	// before it links to another; default 1000.
	LongestPage int `yaml:"longestPage"`
	// Terms is how many terms a query may search for, each word counted; default 16.
	Terms int `yaml:"terms"`
	// Name is the host's name in the AI catalog; default: the host of server.publicURL.
	Name string `yaml:"name"`
}

// Bounds of the section.
const (
	defaultPage        = 100
	defaultLongestPage = 1000
	mostPage           = 10_000
	defaultTerms       = 16
	mostTerms          = 64
	mostName           = 200
)

// Defaults fills in what is not set.
func (c *Config) Defaults() {
	if c.Access == "" {
		c.Access = ofCaller
	}
	if c.LongestPage == 0 {
		c.LongestPage = max(defaultLongestPage, min(c.Page, mostPage))
	}
	if c.Page == 0 {
		c.Page = min(defaultPage, c.LongestPage)
	}
	if c.Terms == 0 {
		c.Terms = defaultTerms
	}
}

// Validate reports what cannot work, naming the key. It expects Defaults to have run.
func (c Config) Validate() error {
	var errs []error
	switch c.Access {
	case ofCaller, Public, None:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is none of caller, public, none", c.Access), "access"))
	}
	if c.LongestPage < 1 || c.LongestPage > mostPage {
		errs = append(errs, keypath.At(fmt.Errorf("want 1 to %d", mostPage), "longestPage"))
	}
	if c.Page < 1 || c.Page > c.LongestPage {
		errs = append(errs, keypath.At(errors.New("want 1 to longestPage"), "page"))
	}
	if c.Terms < 1 || c.Terms > mostTerms {
		errs = append(errs, keypath.At(fmt.Errorf("want 1 to %d", mostTerms), "terms"))
	}
	if len(c.Name) > mostName {
		errs = append(errs, keypath.At(fmt.Errorf("longer than %d bytes", mostName), "name"))
	}
	return errors.Join(errs...)
}
