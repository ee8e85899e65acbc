package config

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// Doubts returns warnings about what the sections on identity say together, about keys that
// are not shared as the state is, and about zeros that count as the default: all of it can be
// meant, and hardly is. No file is opened.
func (c *Config) Doubts() []string {
	warnings := append(c.identities(), c.uncertified()...)
	warnings = append(warnings, c.forgetful()...)
	warnings = append(warnings, c.Zeros...)
	warnings = append(warnings, c.unshared()...)
	warnings = append(warnings, c.misspelt()...)
	warnings = append(warnings, undecided(c)...)
	for i := range c.Agents {
		for j := range c.Agents[i].Credentials {
			cred, at := &c.Agents[i].Credentials[j], fmt.Sprintf("agents[%d].credentials[%d]", i, j)
			warnings = append(warnings, c.passedOn(at, cred)...)
			warnings = append(warnings, c.nobodys(at, cred)...)
		}
	}
	return append(warnings, c.overheard()...)
}

// wellKnown are where A2A has agents' cards: of 1.0 and 0.3, and of the versions before.
var wellKnown = []string{"agent-card.json", "agent.json"}

// misspelt warns of cards whose URL looks like a well-known one and is none. The name was changed
// between versions of A2A, and few remember which one has the hyphen.
func (c *Config) misspelt() (warnings []string) {
	for i := range c.Agents {
		u, err := c.Agents[i].Card.URL.Parse()
		if err != nil {
			continue // Validate says so
		}
		_, name, ok := strings.Cut(u.Path, "/.well-known/")
		if !ok || slices.Contains(wellKnown, name) {
			continue
		}
		if hint := spelling.Hint(strings.ReplaceAll(name, "_", "-"), wellKnown); hint != "" {
			warnings = append(warnings, fmt.Sprintf("agents[%d].card: the path ends in %s%s", i, name, hint))
		}
	}
	return warnings
}

// undecided warns of rules with effect approve whose approvers cannot decide, and of agents among them that
// are not there.
func undecided(c *Config) (warnings []string) {
	for i := range c.Policy.Rules {
		r := &c.Policy.Rules[i]
		if r.Effect != "approve" || r.Approvers == nil {
			continue
		}
		warn := func(key, text string) {
			warnings = append(warnings, fmt.Sprintf("policy.rules[%d].%s: %s", i, key, text))
		}
		can := askable(c, r, "approvers.agents", r.Approvers.Agents, warn)
		askable(c, r, "advisers", r.Advisers, warn)
		lacks := max(1, r.Approvers.Count) - can // people have to agree as well
		if lacks <= 0 {
			itself(r, can, warn)
			continue
		}
		if r.Approvers.Subjects == nil && r.Approvers.Groups == nil {
			warn("approvers", fmt.Sprintf("%d have to agree, and %d of the agents can: calls that wait can only expire", lacks+can, can))
			continue
		}
		if text := unmanned(c, r.Approvers, lacks); text != "" {
			warn("approvers", text)
		}
	}
	return warnings
}

// itself warns of calls to an approver that the rule names as one they are to: no agent decides about these, and
// too few others can.
func itself(r *policy.Rule, can int, warn func(key, text string)) {
	if r.Approvers.Subjects != nil || r.Approvers.Groups != nil || can > max(1, r.Approvers.Count) {
		return
	}
	targets := pattern.Compile(r.Agents)
	for k, id := range r.Approvers.Agents {
		if r.Agents != nil && targets.Match(id) {
			warn(fmt.Sprintf("approvers.agents[%d]", k), fmt.Sprintf("calls to %q cannot be approved: no agent decides about calls to itself, and the other approvers are too few", id))
		}
	}
}

// unmanned says why so many people cannot agree; "" where they can. Without an identity provider, people have
// the tokens of the admin API, which have names and no groups.
func unmanned(c *Config, a *approval.Approvers, count int) string {
	switch {
	case c.Admin.Off():
		return `nobody can decide about calls that wait: admin.address is "off"`
	case c.Admin.OIDC != nil:
		return ""
	case a.Groups != nil:
		return "nobody has a group without admin.oidc: calls that wait can only expire"
	}
	subjects := pattern.Compile(a.Subjects)
	if have := len(c.Admin.Names(time.Now(), subjects.Match)); have < count {
		return fmt.Sprintf("%d people have to agree, and without admin.oidc the subjects match %d names of admin.tokens", count, have)
	}
	return ""
}

// askable counts the agents of a list that can be asked, and warns of the others.
func askable(c *Config, r *policy.Rule, key string, list []string, warn func(key, text string)) (can int) {
	for k, id := range list {
		at := fmt.Sprintf("%s[%d]", key, k)
		i := slices.IndexFunc(c.Agents, func(a agents.Config) bool { return a.ID == id })
		switch {
		case i < 0 && c.Fleet.Grows(): // it may come
			can++
		case i < 0:
			warn(at, fmt.Sprintf("there is no agent %q: it is not asked, and abstains", id))
		case len(r.Agents) == 1 && r.Agents[0] == id:
			warn(at, fmt.Sprintf("the rule is about calls to %q alone, and no agent is asked about calls to itself", id))
		default:
			can++
			for n := range c.Agents[i].Credentials {
				if cred := &c.Agents[i].Credentials[n]; cred.Passthrough || cred.Exchange != nil {
					warn(at, fmt.Sprintf("agents[%d].credentials[%d] is made of a caller's token: the gateway shows it to nobody when it asks %q", i, n, id))
				}
			}
		}
	}
	return can
}

// unshared warns of keys that every replica would make for itself. A directory that the file
// names may be one that they share.
func (c *Config) unshared() []string {
	own := c.Keys.Dir == "" || c.Keys.Dir == filepath.Join(c.Server.DataDir, "keys")
	if c.State.Driver != redisDriver || !own || len(c.Keys.Signing) > 0 && len(c.Keys.Sealing) > 0 {
		return nil
	}
	return []string{"keys: gateways can share their state in Redis, and each would make keys of its own: what one of them seals or signs " +
		"the others cannot open or vouch for. Where there are several, write keys.signing and keys.sealing, or keys.dir, a directory that they share"}
}

// uncertified warns of certificates that are asked for and do not do what they are for: those that
// are lost with every restart, as CAs limit how many they give for a name, and those for other names
// than the one that clients are given.
func (c *Config) uncertified() []string {
	if c.Server.TLS == nil || c.Server.TLS.ACME == nil {
		return nil
	}
	var warnings []string
	if c.State.Driver == "memory" {
		warnings = append(warnings, "server.tls.acme: state.driver is memory: every restart asks the CA for new certificates, "+
			"and CAs give a few a week")
	}
	u, err := url.Parse(c.Server.PublicURL)
	if err == nil && len(c.Server.TLS.Certificates) == 0 && !c.Server.TLS.ACME.Has(u.Hostname()) {
		warnings = append(warnings, fmt.Sprintf("server.tls.acme.domains: %s of server.publicURL is not among them: "+
			"no certificate is for the URL that clients are given", strings.ToLower(u.Hostname())))
	}
	return warnings
}

// forgetful warns of a state that forgets whose a task is before its stream is forgotten. Both
// times are those of the configuration, with their defaults.
func (c *Config) forgetful() []string {
	var warnings []string
	linger := quantity.Duration(0)
	if c.Streams.Linger != nil {
		linger = *c.Streams.Linger
	}
	for _, wait := range []struct {
		key string
		of  quantity.Duration
	}{{"streams.linger", linger}, {"streams.retain", c.Streams.Retain}} {
		if kept := c.State.KeptFor(); wait.of.Std() > kept {
			warnings = append(warnings, fmt.Sprintf("state.retention: %s is shorter than %s, %s: "+
				"who comes back to a stream after that is a stranger to its task", quantity.Duration(kept), wait.key, wait.of))
		}
	}
	return warnings
}

// passedOn warns of tokens that reach an agent without what they are bound to: their
// proofs are for the gateway, and stay there.
func (c *Config) passedOn(at string, cred *credentials.Credential) []string {
	if !cred.Passthrough {
		return nil
	}
	var warnings []string
	for i := range c.Authn.OIDC {
		is := &c.Authn.OIDC[i]
		if is.SenderConstrained && carrier(is.Header) == carrier(cred.Header) {
			warnings = append(warnings, fmt.Sprintf("%s.passthrough: tokens of %s are bound to their senders "+
				"(senderConstrained), and no proof comes with them: the agent has to refuse them, or would take stolen ones",
				at, is.Issuer))
		}
	}
	return warnings
}

// carrier is the header that a credential comes in, in the spelling of net/http.
func carrier(name string) string {
	if name == "" {
		return "Authorization"
	}
	return http.CanonicalHeaderKey(name)
}

// nobodys warns of an exchange of tokens that no caller can have, by the combinations of
// credentials that make a call: RFC 8693 exchanges a token of somebody's, and a caller with an API
// key or a certificate has none. Such calls would all fail, one by one.
func (c *Config) nobodys(at string, cred *credentials.Credential) []string {
	if cred.Exchange == nil || len(c.Authn.OIDC) == 0 { // then it is an error
		return nil
	}
	all := c.Authn.Combinations
	switch cred.Exchange.Subject {
	case "", "token":
		user := func(k authn.Combination) bool { return c.isToken(k.User) }
		if len(all) > 0 && !slices.ContainsFunc(all, user) {
			return []string{at + ".exchange.subject: none of the callers that authn.combinations lets in has a token: " +
				"it can be had for nobody"}
		}
	case "client":
		if !slices.ContainsFunc(all, func(k authn.Combination) bool { return c.isToken(k.Client) }) {
			return []string{at + ".exchange.subject: no client comes with a token beside the user's credential " +
				"(authn.combinations): it can be had for nobody"}
		}
	}
	return nil
}

// isToken reports whether a combination means a token by name: of any issuer, or of one of them.
func (c *Config) isToken(name string) bool {
	return name == "oidc" || slices.ContainsFunc(c.Authn.OIDC, func(i jwt.Issuer) bool { return i.Issuer == name })
}
