package jwt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// claimReader reads mapped claims and keeps the first error.
type claimReader struct {
	claims map[string]any
	err    error
}

// names are the claims to look at: the configured one, or else the defaults.
func names(configured string, defaults []string) []string {
	if configured != "" {
		return []string{configured}
	}
	return defaults
}

// pick finds the first claim of the list that is present.
func (c *claimReader) pick(paths []string) (string, any) {
	for _, path := range paths {
		if v, ok := authn.LookupClaim(c.claims, path); ok && v != nil {
			return path, v
		}
	}
	return "", nil
}

// name reads a claim that names something: a string of printable characters.
// "" for a claim that is not there. Characters that cannot be printed could forge lines of logs.
func (c *claimReader) name(configured string, defaults ...string) string {
	path, v := c.pick(names(configured, defaults))
	if v == nil {
		return ""
	}
	s, ok := v.(string)
	bad := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	if (!ok || bad || len(s) > authn.MaxName) && c.err == nil {
		c.err = fmt.Errorf("claim %s is not a name", path)
	}
	return s
}

// list reads a claim that holds several names. A string is one name, or with
// spaced one per word (RFC 6749 §3.3).
func (c *claimReader) list(spaced bool, configured string, defaults ...string) []string {
	paths := names(configured, defaults)
	path, v := c.pick(paths)
	if v == nil {
		// Claims that do not fit a token are left out and only pointed to (OpenID
		// Connect Core §5.6.2; Entra does it with more than 200 groups). Going on
		// without them would slip past rules that deny by group.
		away, _ := c.claims["_claim_names"].(map[string]any)
		for _, name := range paths {
			if _, ok := away[name]; ok && c.err == nil {
				c.err = fmt.Errorf("claim %s is not in the token", name)
			}
		}
		return nil
	}
	if s, ok := v.(string); ok && spaced {
		return distinct(strings.Fields(s))
	}
	list, err := stringList(v)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("claim %s: %w", path, err)
	}
	return distinct(list)
}

// date reads a claim that says when something was.
func (c *claimReader) date(configured string, defaults ...string) time.Time {
	path, v := c.pick(names(configured, defaults))
	if v == nil {
		return time.Time{}
	}
	at, ok := jws.NumericDate(v)
	if !ok && c.err == nil {
		c.err = fmt.Errorf("claim %s is not a date", path)
	}
	return at
}

// actors reads the claim act.
func (c *claimReader) actors(issuer string, depth int) []authn.Actor {
	actors, err := readActors(c.claims, issuer, depth)
	if err != nil && c.err == nil {
		c.err = err
	}
	return actors
}

// stringList reads a string or a list of nothing but strings.
func stringList(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case []any:
		names := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, errors.New("list with something else than strings")
			}
			names = append(names, s)
		}
		return names, nil
	}
	return nil, errors.New("neither a string nor a list of strings")
}

// distinct drops empty names and repetitions, keeping the order.
// Nil for a list of nothing.
func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if n == "" || slices.Contains(out, n) {
			continue
		}
		if out == nil {
			out = make([]string, 0, len(names))
		}
		out = append(out, n)
	}
	return out
}
