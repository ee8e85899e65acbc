package credentials

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// subject is who p is in the other system. Without an Identity it is the subject, as
// authenticated.
func (i *Identity) subject(p *authn.Principal) (string, error) {
	if i == nil {
		return p.Subject, nil
	}
	if len(i.Issuers) > 0 && !slices.Contains(i.Issuers, p.Issuer) {
		return "", fmt.Errorf("%w: the caller's issuer is not one of identity.issuers", ErrNobody)
	}
	value, ok := i.value(p)
	if !ok || value == "" {
		return "", fmt.Errorf("%w: the credential has no %s", ErrNobody, i.claim())
	}
	if len(i.Subjects) == 0 {
		return value, nil
	}
	subject, ok := i.Subjects[value]
	if !ok {
		return "", fmt.Errorf("%w: identity.subjects has no entry", ErrNobody)
	}
	return subject, nil
}

// claim is the name of the claim to look at.
func (i *Identity) claim() string {
	if i.Claim == "" {
		return "subject"
	}
	return i.Claim
}

// value is what a principal has under the name. The first few are what the gateway made
// of the credential, whatever its claims are called.
func (i *Identity) value(p *authn.Principal) (string, bool) {
	switch i.claim() {
	case "subject":
		return p.Subject, true
	case "client":
		return p.Client, true
	case "tenant":
		return p.Tenant, true
	case "email":
		// An address that the issuer did not verify could be anybody's.
		if verified, said := p.Claims["email_verified"]; said && verified != true && verified != "true" {
			return "", false
		}
	}
	v, _ := p.Claim(i.claim())
	s, ok := v.(string)
	return s, ok
}

// scopes is what p may do in the other system, sorted, each once: what follows from its
// scopes and groups, and what everybody may. Of a demand that names scopes only those
// are left, beside the last: the demand comes from the agent, and can narrow but not
// widen. That nothing is left is ErrNobody.
func (m *Permissions) scopes(p *authn.Principal, d *Demand) ([]string, error) {
	granted := make([]string, 0, 4)
	for _, s := range p.Scopes {
		granted = append(granted, m.Scopes[s]...)
	}
	for _, g := range p.Groups {
		granted = append(granted, m.Groups[g]...)
	}
	narrowed := d != nil && len(d.Scopes) > 0
	if narrowed {
		granted = slices.DeleteFunc(append(granted, m.Always...), func(s string) bool { return !slices.Contains(d.Scopes, s) })
	}
	if narrowed && len(granted) == 0 {
		return nil, fmt.Errorf("%w: permissions gives none of the scopes that the task demands", ErrNobody)
	}
	granted = append(granted, m.Always...)
	if len(granted) == 0 {
		return nil, fmt.Errorf("%w: permissions gives no scope", ErrNobody)
	}
	slices.Sort(granted)
	return slices.Compact(granted), nil
}

// scopeText is the scope parameter or claim of what p may do: without Permissions that
// is own.
func (m *Permissions) scopeText(p *authn.Principal, d *Demand, own []string) (string, error) {
	if m == nil {
		return strings.Join(own, " "), nil
	}
	scopes, err := m.scopes(p, d)
	return strings.Join(scopes, " "), err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
