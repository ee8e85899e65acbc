package agents

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// AuthorizationConfig is agents[].authorization: what the gateway does with a task that waits
// for authorization (A2A 1.0 §7.6). If a credential with `on: auth-required` fits, the gateway
// answers the task by itself, once. Otherwise the task reaches the client, with what this
// section adds.
type AuthorizationConfig struct {
	// Hosts are the hosts that links in a task that waits for authorization may lead to, on any
	// port, besides the issuers of authn.oidc. An entry is a name in ASCII, with * for any labels
	// in front ("*.example.com"), or an address. A link with a user's name in it, or with a host
	// that clients may read differently, leads elsewhere. Default: any.
	Hosts []string `yaml:"hosts"`
	// Links says what the gateway does with a task whose link leads elsewhere than to hosts:
	// refuse (default; 502), or report (pass it on and record it).
	Links string `yaml:"links" jsonschema:"enum=refuse,enum=report"`
	// ResourceMetadata is the URL of the RFC 9728 document that says where to get a token for the
	// agent's system. The gateway puts it into the metadata of the task's status message, under
	// TaskAuthorization. Default: nothing is put there. The gateway's own document would not help,
	// because the caller already has a token for the gateway.
	ResourceMetadata string `yaml:"resourceMetadata"`
	// Message is the text of the gateway's own answer to a task that waits for authorization.
	// Default: "Authorization has been provided."
	Message string `yaml:"message"`
}

// ReportLinks is the value of `links` with which links of an agent's authentication demands pass,
// and are recorded.
const ReportLinks = "report"

const maxMessage = 1 << 10

// Validate reports what cannot work, naming the key.
func (c AuthorizationConfig) Validate() error {
	var errs []error
	for i, h := range c.Hosts {
		name := strings.TrimPrefix(h, "*.")
		u, err := url.Parse("https://" + name)
		if err != nil || u.Host != name || name == "" || u.Port() != "" || strings.Contains(name, "*") || !ASCII(name) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is not a host in ASCII without a port, or *. and a domain", h), i), "hosts"))
		}
	}
	if c.Links != "" && c.Links != "refuse" && c.Links != ReportLinks {
		errs = append(errs, keypath.At(fmt.Errorf("%q is not one of refuse, report", c.Links), "links"))
	}
	if c.ResourceMetadata != "" {
		u, err := url.Parse(c.ResourceMetadata)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			errs = append(errs, keypath.At(errors.New("not an absolute http(s) URL without credentials"), "resourceMetadata"))
		}
	}
	if len(c.Message) > maxMessage {
		errs = append(errs, keypath.At(fmt.Errorf("longer than %d bytes", maxMessage), "message"))
	}
	return errors.Join(errs...)
}

// ASCII reports whether s has characters of ASCII only.
func ASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
