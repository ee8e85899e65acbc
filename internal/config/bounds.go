package config

import (
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// checkBounds checks what bounds calls beside the rules: limits, with the agents and methods that
// there are, and authorizers. It opens no files and asks nobody. A limiter without a store counts
// nothing, and is closed at once.
func (c *Config) checkBounds(extra []*wire.Method) []error {
	l, err := limits.New(c.Policy.Limits, limits.Options{Agents: c.RuleAgents(), Methods: extra})
	// Closing a nil limiter, as comes with an error, does nothing.
	l.Close()
	errs := []error{keypath.At(err, "policy", "limits")}
	return append(errs, c.Policy.Authorizers.Validate(), checkGuards(c, extra, false))
}

// checkGuards makes the guards ready as the gateway would, and asks nobody. files has the files that
// their services name opened, which Load does not.
func checkGuards(c *Config, extra []*wire.Method, files bool) error {
	g, err := guard.New(c.Policy.Guards, guard.Options{Agents: c.RuleAgents(), Methods: extra, Files: files})
	g.Close()
	return err
}

// checkPanel makes the authorizers ready as the gateway would, which opens the files that they
// name, and connects to none of them. It is for Check: Load opens no such files.
func (c *Config) checkPanel(extra []*wire.Method) error {
	p, err := pdp.New(c.Policy.Authorizers, pdp.Options{Agents: c.RuleAgents(), Methods: extra, Gateway: c.Server.ID})
	if err != nil {
		return err
	}
	p.Close()
	return nil
}
