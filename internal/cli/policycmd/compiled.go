package policycmd

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// compiled is what a configuration is compiled to, as far as it judges calls. Nothing of
// it listens, counts or connects.
// It is made for one run of a verb and closed at its end; Judge is what the answers come from.
type compiled struct {
	explain.Judge

	// egress is the proxy for outgoing connections, for cards and authorizers, agents are those of
	// the configuration by id, compiled.
	cfg    *config.Config
	egress *tunnel.Proxy
	agents map[string]*explain.Agent
}

// compile reads a configuration and makes ready to ask it. The error is the operator's
// to mend.
//
// The configuration is checked as it is when the gateway starts, with files of rules and keys
// read; secrets have to be there. With an error nothing stays open.
func compile(path string) (*compiled, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return nil, verb.Unread(path, err)
	}
	c := &compiled{cfg: cfg, agents: map[string]*explain.Agent{}}
	if err := c.build(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// build compiles the sections that judge calls, in the order of their needs: the methods of
// extensions are names that rules, limits and authorizers may use. Warnings are left to the verb
// validate.
func (c *compiled) build() error {
	cfg, l := c.cfg, c.cfg.Server.Limits
	c.Judge = explain.Judge{
		Authn: &cfg.Authn, Policy: cfg.Policy.Config, RuleAgents: cfg.RuleAgents(), Find: c.findAgent, PublicURL: cfg.Server.PublicURL,
		Wire: wire.Limits{Body: int64(l.Body), Depth: l.JSONDepth, Members: l.JSONMembers, Parts: l.Parts},
		Push: cfg.Push.Passes() || cfg.Push.Relays(),
	}
	// The section that is wrong is named in front of the error, unless the error names it itself.
	var err error
	if c.egress, err = tunnel.New(cfg.Egress); err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	if c.Book, err = cfg.Extensions.Compile(); err != nil {
		return err
	}
	extra := c.Book.Extra().Methods()
	if c.Rules, _, err = policy.Compile(c.Policy, c.RuleAgents, extra...); err != nil {
		return err
	}
	// Without a store: nothing is drawn from a limit here, only its size is told.
	c.Limits, err = limits.New(cfg.Policy.Limits, limits.Options{Agents: c.RuleAgents, Methods: extra})
	if err != nil {
		return fmt.Errorf("policy.limits: %w", err)
	}
	c.Panel, err = pdp.New(cfg.Policy.Authorizers, pdp.Options{Agents: c.RuleAgents, Methods: extra, Gateway: cfg.Server.ID, Egress: c.egress})
	if err != nil {
		return err
	}
	if err := c.makeGuards(false); err != nil {
		return err
	}
	for i := range cfg.Agents {
		a, err := explain.NewAgent(&cfg.Agents[i], cfg.Policy.FileParts)
		if err != nil {
			return fmt.Errorf("agents[%d].%w", i, err)
		}
		c.agents[a.ID] = a
	}
	return nil
}

// makeGuards makes the guards ready. files has the files that their services name opened, which only who asks these
// services needs.
func (c *compiled) makeGuards(files bool) (err error) {
	c.Guards.Close() // of before; nil for none
	c.Guards, err = guard.New(c.cfg.Policy.Guards, guard.Options{
		Agents: c.RuleAgents, Methods: c.Book.Extra().Methods(), Egress: c.egress, Files: files,
	})
	return err
}

// close ends what connects: hooks of extensions, the store of limits and authorizers.
func (c *compiled) close() {
	c.Book.Close() // nil where the registry is wrong
	c.Limits.Close()
	if c.Panel != nil {
		c.Panel.Close()
	}
	c.Guards.Close()
}

// findAgent finds one by its id.
// The error lists the ids there are, as most wrong ids are misspelt.
func (c *compiled) findAgent(id string) (*explain.Agent, error) {
	if a, ok := c.agents[id]; ok {
		return a, nil
	}
	return nil, fmt.Errorf("%q is none of %s%s", id, strings.Join(c.cfg.AgentIDs(), ", "), spelling.Hint(id, c.cfg.AgentIDs()))
}
