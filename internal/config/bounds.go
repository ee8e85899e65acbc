package config

import (
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// checkBounds checks what bounds calls beside the rules. It opens no files and asks
// nobody.
func (c *Config) checkBounds(extra []*wire.Method) []error {
	l, err := limits.New(c.Policy.Limits, limits.Options{Agents: c.RuleAgents(), Methods: extra})
	l.Close()
	errs := []error{keypath.At(err, "policy", "limits")}
	return append(errs, c.Policy.Authorizers.Validate())
}

// checkPanel opens the files that authorizers name.
func (c *Config) checkPanel(extra []*wire.Method) error {
	p, err := pdp.New(c.Policy.Authorizers, pdp.Options{Agents: c.RuleAgents(), Methods: extra, Gateway: c.Server.ID})
	if err != nil {
		return err
	}
	p.Close()
	return nil
}
