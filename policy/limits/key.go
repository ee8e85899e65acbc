package limits

import (
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// The parts that a key can be made of.
const (
	partPrincipal = "principal"
	partClient    = "client"
	partTenant    = "tenant"
	partAgent     = "agent"
	partSkill     = "skill"
	partSource    = "source"
)

// partNames are the parts, for errors about others.
func partNames() []string {
	return []string{partPrincipal, partClient, partTenant, partAgent, partSkill, partSource}
}

// who is what a key is made from: a call, or the record of a task. Clients and sources
// are known of calls alone.
type who struct {
	principal, tenant, agent, skill string

	caller *authn.Principal
	source netip.Addr
}

// callOf is a call as keys see it.
func callOf(c *Call, p *authn.Principal) who {
	return who{principal: p.Key(), tenant: p.Tenant, agent: c.Agent, skill: c.Skill, caller: p, source: c.Source}
}

// known reports whether a key of these parts counts by something that is the caller's:
// all who have no tenant share one count.
func (w *who) known(parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		switch part {
		case partPrincipal:
			return true
		case partClient:
			return w.caller != nil && (w.caller.Workload != nil || w.caller.Client != "")
		case partTenant:
			return w.tenant != ""
		case partSource:
			return w.source.IsValid()
		}
		return false
	})
}

// recordOf is a task as keys see it: what is recorded of whose it is, so that it is counted
// for its maker whoever calls about it.
func recordOf(r *state.Record) who {
	return who{principal: r.Owner, tenant: r.Tenant, agent: r.Agent, skill: r.Skill}
}

// hashedFrom is the length from which values are hashed. Keys of stores are bounded, and
// claims are not.
const hashedFrom = 160

// appendValues writes the values of a key. Each has its length in front, so that no
// choice of values makes those of another caller; what is hashed begins with another
// character than a digit.
func appendValues(dst []byte, parts []string, w *who) []byte {
	begin := len(dst)
	for _, p := range parts {
		dst = w.append(dst, p)
	}
	// Short keys stay readable for who looks into the store.
	if len(dst)-begin < hashedFrom {
		return dst
	}
	sum := sha256.Sum256(dst[begin:])
	dst = append(dst[:begin], '#')
	return base64.RawURLEncoding.AppendEncode(dst, sum[:])
}

// append writes the value of one part.
func (w *who) append(dst []byte, part string) []byte {
	switch part {
	case partPrincipal:
		return appendText(dst, w.principal)
	case partClient:
		return appendClient(dst, w.caller)
	case partTenant:
		return appendText(dst, w.tenant)
	case partAgent:
		return appendText(dst, w.agent)
	case partSkill:
		return appendText(dst, w.skill)
	}
	return appendSource(dst, w.source)
}

// appendText writes a text with its length in front, as in 5:alice.
// The length keeps two values from reading as others together: a, bc and ab, c.
func appendText(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	dst = append(dst, ':')
	return append(dst, s...)
}

// appendClient names the software that calls: the workload that came with the user, or
// the client of the credential, which is one of its issuer's. "-" is for none.
// The first letter keeps a workload and a client of one name apart.
func appendClient(dst []byte, p *authn.Principal) []byte {
	switch {
	case p != nil && p.Workload != nil:
		return appendText(append(dst, 'w'), p.Workload.Key())
	case p != nil && p.Client != "":
		return appendText(appendText(append(dst, 'c'), p.Issuer), p.Client)
	}
	return append(dst, '-')
}

// appendSource names an address. One of IPv6 counts by its /64, which is what one
// customer has; "-" is for none.
func appendSource(dst []byte, a netip.Addr) []byte {
	a = a.Unmap().WithZone("")
	switch {
	case a.Is4():
		return append(a.AppendTo(append(dst, '[')), ']')
	case a.Is6():
		network, _ := a.Prefix(64) // never fails
		return append(network.Addr().AppendTo(append(dst, '[')), ']')
	}
	return append(dst, '-')
}

// holder names who has a place. Long ids are hashed, as keys are.
func holder(kind string, ids ...string) string {
	var b []byte
	for _, id := range ids {
		b = appendText(b, id)
	}
	if len(b) < hashedFrom {
		return kind + string(b)
	}
	sum := sha256.Sum256(b)
	return kind + "#" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// values are those of a key for people.
func (w *who) values(parts []string) string {
	list := make([]string, 0, len(parts))
	for _, p := range parts {
		list = append(list, p+"="+w.value(p))
	}
	return strings.Join(list, " ")
}

// value is the value of one part for people. It is asked of calls alone.
func (w *who) value(part string) string {
	switch part {
	case partPrincipal:
		return w.caller.String()
	case partClient:
		if w.caller.Workload != nil {
			return w.caller.Workload.String()
		}
		return w.caller.Client
	case partTenant:
		return w.tenant
	case partAgent:
		return w.agent
	case partSkill:
		return w.skill
	}
	return string(appendSource(nil, w.source))
}
