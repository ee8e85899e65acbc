package ext

import (
	"errors"
	"fmt"
	"slices"
)

// Negotiate decides what goes to the agent: of what the client requested, that
// which the agent declares and the operator permits, in the client's order.
// Anything else is ignored, as A2A wants for unknown extensions.
//
// A call that does not request every required extension is refused with a
// *MissingError. Required is what the agent declares as required and what cfg
// requires. An extension that is not permitted cannot be required, since a
// client is never told of it; such a call goes on without it, and an agent that
// insists says so itself.
//
// A request without extensions to an agent without required ones costs no
// allocation.
func Negotiate(requested Set, declared []Declared, cfg Config) (Set, error) {
	var missing []string
	for _, uri := range cfg.Require {
		if !requested.Has(uri) && cfg.permits(uri) {
			missing = append(missing, uri)
		}
	}
	for i := range declared {
		d := &declared[i]
		if d.Required && !requested.Has(d.URI) && cfg.permits(d.URI) {
			missing = append(missing, d.URI)
		}
	}
	if missing != nil {
		slices.Sort(missing)
		return nil, &MissingError{URIs: slices.Compact(missing)}
	}
	var active Set
	for i, uri := range requested {
		if !cfg.permits(uri) || !offers(declared, &cfg, uri) {
			continue
		}
		if active == nil {
			active = make(Set, 0, len(requested)-i)
		}
		active = append(active, uri)
	}
	return active, nil
}

// offers reports whether the served card lists uri.
func offers(declared []Declared, cfg *Config, uri string) bool {
	for i := range declared {
		if declared[i].URI == uri {
			return true
		}
	}
	return slices.Contains(cfg.Require, uri)
}

// Effective returns what the served card shows, which is what Negotiate
// enforces: the agent's entries in its order, without those that are not
// permitted, marked required where cfg says so, then those that only cfg
// requires. An agent that lists a URI twice gets one entry, required if either
// was.
func Effective(declared []Declared, cfg Config) []Declared {
	out := make([]Declared, 0, len(declared)+len(cfg.Require))
	add := func(d Declared) {
		if !cfg.permits(d.URI) {
			return
		}
		for i := range out {
			if out[i].URI == d.URI {
				out[i].Required = out[i].Required || d.Required
				return
			}
		}
		out = append(out, d)
	}
	for _, d := range declared {
		add(d)
	}
	for _, uri := range cfg.Require {
		add(Declared{URI: uri, Required: true})
	}
	return out
}

// permits reports whether uri may be active on the agent at all.
func (c *Config) permits(uri string) bool {
	switch {
	case slices.Contains(c.Deny, uri):
		return false
	case len(c.Allow) == 0:
		return true
	}
	return slices.Contains(c.Allow, uri) || slices.Contains(c.Require, uri)
}

// Govern returns an agent's rules with the registry's blocked extensions denied.
// An agent that requires or allows by name what the registry blocks is an error:
// one of the two lines is a mistake, and guessing which would be worse.
func (r Registry) Govern(c Config) (Config, error) {
	var errs []error
	deny := slices.Clone(c.Deny)
	for _, e := range r {
		if e.Status != Blocked {
			continue
		}
		if slices.Contains(c.Require, e.URI) || slices.Contains(c.Allow, e.URI) {
			errs = append(errs, fmt.Errorf("extension %q is blocked by the registry", e.URI))
		}
		if !slices.Contains(deny, e.URI) {
			deny = append(deny, e.URI)
		}
	}
	c.Deny = deny
	return c, errors.Join(errs...)
}

// Description returns what the registry says about uri, or "".
func (r Registry) Description(uri string) string {
	for _, e := range r {
		if e.URI == uri {
			return e.Description
		}
	}
	return ""
}
