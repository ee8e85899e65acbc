package hook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is an entry of `extensions[].hooks`.
type Config struct {
	// URL is where the gateway posts the phases; http or https.
	URL secret.URL `yaml:"url"`
	// Phases are the phases of a call to post: request, response, event.
	Phases []Phase `yaml:"phases" jsonschema:"enum=request,enum=response,enum=event"`
	// Timeout is how long the service may take to answer, 1ms to 30s. Default 1s.
	Timeout quantity.Duration `yaml:"timeout"`
	// OnFailure says what happens if the service gives no answer, or a malformed one: deny (default)
	// or pass.
	OnFailure string `yaml:"onFailure" jsonschema:"enum=deny,enum=pass"`
	// Headers are what the gateway sends with every callout.
	Headers []Header `yaml:"headers"`
}

// What OnFailure may be, beside empty.
const (
	denying = "deny"
	passing = "pass"
)

// The bounds of Timeout, and what it is when empty.
const (
	leastTimeout   = time.Millisecond
	mostTimeout    = 30 * time.Second
	defaultTimeout = time.Second
)

var errURL = errors.New("not an absolute http or https URL without user and fragment")

// Validate reports what cannot work, naming the key. It never shows URL or a
// header's value: either may hold a credential.
func (c Config) Validate() error {
	var errs []error
	if _, unread := c.URL.Parse(); unread != nil {
		errs = append(errs, keypath.At(secret.NotAbsolute(unread), "url"))
	} else if !goodURL(c.URL) {
		errs = append(errs, keypath.At(errURL, "url"))
	}
	if err := checkPhases(c.Phases); err != nil {
		errs = append(errs, keypath.At(err, "phases"))
	}
	if d := c.timeout(); d < leastTimeout || d > mostTimeout {
		errs = append(errs, keypath.At(fmt.Errorf("%v is not between %v and %v", d, leastTimeout, mostTimeout), "timeout"))
	}
	switch c.OnFailure {
	case "", denying, passing:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is not deny or pass", c.OnFailure), "onFailure"))
	}
	return errors.Join(append(errs, checkHeaders(c.Headers)...)...)
}

// goodURL reports an address that can be posted to. Users would be credentials in a place that is
// logged.
func goodURL(s secret.URL) bool {
	u, err := s.Parse()
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		u.Hostname() != "" && u.User == nil && !strings.Contains(s.Reveal(), "#")
}

// checkPhases returns the first phase that is wrong. Without a phase the service would never be
// called.
func checkPhases(phases []Phase) error {
	if len(phases) == 0 {
		return errors.New("none is given; want request, response or event")
	}
	for i, p := range phases {
		switch {
		case p != Request && p != Response && p != Event:
			return keypath.Point(fmt.Errorf("%q is not request, response or event", p), i)
		case slices.Contains(phases[:i], p):
			return keypath.Point(fmt.Errorf("%q is given twice", p), i)
		}
	}
	return nil
}

// checkHeaders returns what is wrong with names and values. Two values of one name cannot be told
// apart by all services, so that each name is given once.
func checkHeaders(headers []Header) []error {
	var errs []error
	seen := make(map[string]bool, len(headers))
	for i, h := range headers {
		name := http.CanonicalHeaderKey(h.Name)
		switch {
		case !httpguts.ValidHeaderFieldName(h.Name):
			errs = append(errs, keypath.At(fmt.Errorf("%q is no header name", h.Name), "headers", i, "name"))
		case ownHeader(name):
			errs = append(errs, keypath.At(fmt.Errorf("%s is set by the gateway", name), "headers", i, "name"))
		case seen[name]:
			errs = append(errs, keypath.At(fmt.Errorf("%s is given twice", name), "headers", i, "name"))
		}
		seen[name] = true
		if h.Value.IsZero() || !httpguts.ValidHeaderFieldValue(h.Value.Reveal()) {
			errs = append(errs, keypath.At(errors.New("empty, or has control characters"), "headers", i, "value"))
		}
	}
	return errs
}

// ownHeader reports whether a header belongs to the connection or to the body.
func ownHeader(name string) bool {
	switch name {
	case "Host", "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Accept", "Accept-Encoding", "Expect":
		return true
	}
	return strings.HasPrefix(name, "Content-")
}

// timeout is the effective time for one callout.
func (c Config) timeout() time.Duration {
	if c.Timeout == 0 {
		return defaultTimeout
	}
	return c.Timeout.Std()
}

// header is what every callout carries.
func (c Config) header() http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"a2a-gateway"},
	}
	for _, own := range c.Headers {
		h.Set(own.Name, own.Value.Reveal())
	}
	return h
}
