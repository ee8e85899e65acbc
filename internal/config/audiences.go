package config

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// audience is whom a credential that an agent is given is for.
type audience struct {
	from string // who issues it; those of two issuers are not good for each other
	key  string // where the configuration says it, below the credential
	name string
	said bool // it is configured, and no default
}

// overheard warns of agents that are given credentials for one audience: an access token is good
// wherever its audience is, so that each agent could call the other in the name of the caller
// (RFC 9068 §4).
// Each pair is told once, at the later of the two. A token for two agents of one id cannot be: ids
// are unique.
func (c *Config) overheard() []string {
	type heard struct{ from, name string }
	// Audiences of different issuers are apart although they may be spelled the same.
	first := map[heard]string{} // the agent that an audience is the name of
	var warnings []string
	for i := range c.Agents {
		agent := &c.Agents[i]
		for j := range agent.Credentials {
			for _, a := range c.audiences(agent, &agent.Credentials[j]) {
				other, ok := first[heard{a.from, a.name}]
				if !ok || other == agent.ID {
					first[heard{a.from, a.name}] = agent.ID
					continue
				}
				is := "is"
				if !a.said {
					is = "is by default"
				}
				warnings = append(warnings, fmt.Sprintf("agents[%d].credentials[%d].%s: %s %q, as it is for agent %s: "+
					"each of the two can show the other what it was given", i, j, a.key, is, a.name, other))
			}
		}
	}
	return warnings
}

// audiences are those of one credential, as far as they are known before cards are. A secret that
// is the same for two agents, a value or a client's, is the operator's own choice and none of them.
func (c *Config) audiences(agent *agents.Config, cred *credentials.Credential) []audience {
	switch {
	case cred.Assertion != nil && cred.Assertion.Audience != "":
		return []audience{{"assertion", "assertion.audience", cred.Assertion.Audience, true}}
	case cred.Assertion != nil:
		return []audience{{"assertion", "assertion.audience", c.audienceOf(agent), false}}
	case cred.OAuth2 != nil && cred.OAuth2.Audience != "":
		return []audience{{cred.OAuth2.TokenURL.Reveal(), "oauth2.audience", cred.OAuth2.Audience, true}}
	case cred.Exchange != nil:
		var list []audience
		for _, name := range cred.Exchange.Audience {
			list = append(list, audience{cred.Exchange.TokenURL.Reveal(), "exchange.audience", name, true})
		}
		for _, name := range cred.Exchange.Resource {
			list = append(list, audience{cred.Exchange.TokenURL.Reveal(), "exchange.resource", name, true})
		}
		return list
	case cred.Passthrough && cred.Audience != "":
		return []audience{{"passthrough", "audience", cred.Audience, true}}
	}
	return nil
}

// audienceOf is what an assertion is for where its audience is not configured: the agent's
// origin, or of an agent that has it in common with others the URL of its card, which tells it
// from those as the URL of its interface will. Two with one card are told from each other by
// nothing.
func (c *Config) audienceOf(agent *agents.Config) string {
	own := agent.Origins()
	for i := range c.Agents {
		other := &c.Agents[i]
		if other.ID == agent.ID {
			continue
		}
		if slices.ContainsFunc(other.Origins(), func(o string) bool { return slices.Contains(own, o) }) {
			u, err := agent.Card.URL.Parse()
			if err != nil {
				return agent.ID
			}
			return credentials.Origin(u) + u.EscapedPath()
		}
	}
	// A card that is in the file itself may name no interface yet: the id is all there is.
	if len(own) == 0 {
		return agent.ID
	}
	return own[0]
}
