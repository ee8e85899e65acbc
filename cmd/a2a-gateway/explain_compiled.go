package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	ownership "github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// compiled is what a configuration is compiled to, as far as it judges calls. Nothing of
// it listens, counts or connects.
type compiled struct {
	cfg    *config.Config
	book   *ext.Book
	extra  []*wire.Method // that extensions bring
	rules  *policy.Set
	limits *limits.Limiter
	panel  *pdp.Panel
	agents map[string]*fleetAgent
}

// fleetAgent is an agent of the configuration with its match rules.
type fleetAgent struct {
	*proxy.AgentConfig

	match *policy.Matcher // nil for none
	files *files.Rules
}

// compile reads a configuration and makes ready to ask it. The error is the operator's
// to mend.
func compile(path string) (*compiled, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	c := &compiled{cfg: cfg, agents: map[string]*fleetAgent{}}
	if err := c.build(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *compiled) build() error {
	var err error
	if c.book, err = c.cfg.Extensions.Compile(); err != nil {
		return err
	}
	c.extra = c.book.Extra().Methods()
	ids := c.cfg.RuleAgents()
	if c.rules, _, err = policy.Compile(c.cfg.Policy.Config, ids, c.extra...); err != nil {
		return err
	}
	c.limits, err = limits.New(c.cfg.Policy.Limits, limits.Options{Agents: ids, Methods: c.extra})
	if err != nil {
		return fmt.Errorf("policy.limits: %w", err)
	}
	c.panel, err = pdp.New(c.cfg.Policy.Authorizers, pdp.Options{Agents: ids, Methods: c.extra, Gateway: c.cfg.Server.ID})
	if err != nil {
		return err
	}
	for i := range c.cfg.Agents {
		a := &fleetAgent{AgentConfig: &c.cfg.Agents[i]}
		if a.match, err = policy.NewMatcher(a.Match); err != nil {
			return fmt.Errorf("agents[%d].%w", i, err)
		}
		if a.files, err = files.New(a.FileParts, c.cfg.Policy.FileParts); err != nil {
			return fmt.Errorf("agents[%d].fileParts: %w", i, err)
		}
		c.agents[a.ID] = a
	}
	return nil
}

func (c *compiled) close() {
	c.book.Close() // nil where the registry is wrong
	c.limits.Close()
	if c.panel != nil {
		c.panel.Close()
	}
}

// findAgent finds one by its id.
func (c *compiled) findAgent(id string) (*fleetAgent, error) {
	if a, ok := c.agents[id]; ok {
		return a, nil
	}
	return nil, fmt.Errorf("%q is none of %s", id, strings.Join(c.cfg.AgentIDs(), ", "))
}

// findMethod finds an operation by the name that any version, or an extension, has for it.
func (c *compiled) findMethod(name string) (*wire.Method, error) {
	table := wire.Methods()
	for i := range table {
		if m := &table[i]; slices.Contains([]string{m.Name, m.V03, m.V01, m.GRPC03}, name) && name != "" {
			return m, nil
		}
	}
	for _, m := range c.extra {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("neither A2A nor an extension of the registry has %q", name)
}

// ledger is one over a store, which shares tasks as the configuration says.
func (c *compiled) ledger(store ownership.Ledger) *ledger.Ledger {
	share := func(p *authn.Principal, agent string, m *wire.Method, r ownership.Record) bool {
		t := taskOf(&r)
		return c.rules.Shares(p, agent, m, &t) != ""
	}
	return ledger.New(store, ledger.Config{Scope: c.cfg.Policy.Tasks.Scope, Share: share})
}

// taskOf is a recorded task as rules see it.
func taskOf(r *ownership.Record) policy.Task {
	owner, issuer := ledger.OwnerOf(*r)
	return policy.Task{
		ID: r.ID, ContextID: r.Context, Skill: r.Skill,
		Owner: owner, Issuer: issuer, Tenant: r.Tenant, Created: r.Created,
	}
}

// wireLimits bound what a call may be.
func (c *compiled) wireLimits() wire.Limits {
	l := c.cfg.Server.Limits
	return wire.Limits{Body: int64(l.Body), Depth: l.JSONDepth, Members: l.JSONMembers, Parts: l.Parts}
}

// push reports whether calls may bring push notification configs.
func (c *compiled) push() bool { return c.cfg.Push.Passes() || c.cfg.Push.Relays() }
