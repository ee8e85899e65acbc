package config

import (
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// checkUndeclared makes sure that agents are told which skills a call is allowed for,
// where it is passed on for any of them: an agent that is not told would do what the
// caller asks for under a skill that the caller may not use. An assertion that is only shown on
// auth-required comes too late, once the agent has begun.
func (c *Config) checkUndeclared() []error {
	if c.Policy.Skills.Undeclared != "require-any" {
		return nil
	}
	var errs []error
	for i := range c.Agents {
		told := func(cred credentials.Credential) bool {
			return cred.Assertion != nil && cred.On != "auth-required"
		}
		if a := &c.Agents[i]; !slices.ContainsFunc(a.Credentials, told) {
			errs = append(errs, keypath.At(errors.New("agent "+a.ID+" gets no assertion with every call; "+
				"policy.skills.undeclared: require-any needs one, to tell it which skills the caller may use"),
				"agents", i, "credentials"))
		}
	}
	return errs
}
