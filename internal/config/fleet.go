package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// Fleet is the `fleet:` section: where agents come from, in addition to `agents:`.
type Fleet struct {
	// Files with further agents, as paths or patterns like "agents.d/*.yaml". Each has one key,
	// agents. The gateway reads each as strictly as the configuration and watches it too. Relative
	// paths in a file are relative to it. A pattern with a * may match no file.
	Files []string `yaml:"files"`
	// API permits operators to register agents by the admin API. The gateway keeps them in the
	// state, sealed, and shares them with the replicas there. Default false.
	API bool `yaml:"api"`
	// Kubernetes turns services of Kubernetes into agents, as their labels and annotations say.
	// Anybody who can write those decides which agents there are, and rules decide who may use them.
	// Restart to change.
	Kubernetes []discovery.Services `yaml:"kubernetes" reload:"restart"`
	// Limit is how many agents may come from elsewhere than files; default 1000. The API refuses
	// more agents, and the gateway leaves out those that it discovers.
	Limit int `yaml:"limit"`
}

// defaultFleet is Fleet.Limit where it is not set. Each agent costs a card that is fetched, health
// checks and labels of metrics, so that there has to be a bound.
const defaultFleet = 1000

// Defaults fills in what is not set.
// Zero counts as left out, as with all numbers of the configuration.
func (f *Fleet) Defaults() {
	if f.Limit == 0 {
		f.Limit = defaultFleet
	}
}

// Validate reports what cannot work, at its key below fleet.
func (f Fleet) Validate() error {
	var errs []error
	if f.Limit < 1 {
		errs = append(errs, keypath.At(errors.New("want at least 1"), "limit"))
	}
	for i := range f.Kubernetes {
		errs = append(errs, keypath.At(f.Kubernetes[i].Validate(), "kubernetes", i))
	}
	return errors.Join(errs...)
}

// Grows reports whether agents come from elsewhere than files.
func (f Fleet) Grows() bool { return f.API || len(f.Kubernetes) > 0 }

// RuleAgents are the agents that rules, limits and authorizers may name. Where agents come
// from elsewhere than files those that are named count, too: they may come.
//
// Patterns are left out, as they may name any number of agents. The list is in order and has no id
// twice where agents may come, and in the order of the file where none can.
func (c *Config) RuleAgents() []string {
	ids := c.AgentIDs()
	if !c.Fleet.Grows() {
		return ids
	}
	add := func(names []string) {
		for _, name := range names {
			if name != "" && !strings.Contains(name, "*") {
				ids = append(ids, name)
			}
		}
	}
	for i := range c.Policy.Rules {
		add(c.Policy.Rules[i].Agents)
	}
	for i := range c.Policy.Tasks.Sharing {
		add(c.Policy.Tasks.Sharing[i].Agents)
	}
	for i := range c.Policy.Limits.Each {
		add(c.Policy.Limits.Each[i].Agents)
	}
	for i := range c.Policy.Authorizers {
		add(c.Policy.Authorizers[i].Agents)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Enlisted is an agent that is in no file.
type Enlisted struct {
	Origin string // for people: where it comes from
	Agent  agents.Config
}

// Enlist is c with further agents, in their order, as far as they can be: each is held to
// what holds for those in files. What is wrong with one that is left out is said under its
// id; who comes later goes without an id or a host that is taken.
//
//	Origin "service prod/billing", Agent {ID: "billing", …}
//
// An agent that the API or Kubernetes has must not stop the gateway, which runs already: a mistake
// in one keeps out that one alone. The configuration that is returned has the rules and limits of
// c. The errors are shown at the console, and in the status of the service.
func (c *Config) Enlist(more []Enlisted) (*Config, map[string]error) {
	all := *c                          // c is in use while this is built
	all.Agents = slices.Clip(c.Agents) // who is appended to it is not in c
	book, err := c.Extensions.Compile()
	if err != nil {
		return &all, nil // c would not have been valid
	}
	defer book.Close()
	faults := map[string]error{}
	ids, hosts := map[string]string{}, map[string]bool{}
	for i := range c.Agents {
		ids[c.Agents[i].ID] = "the configuration's files"
		for _, h := range c.Agents[i].Hosts {
			hosts[bare(h)] = true
		}
	}
	// The gateway's own hosts are taken, too: an agent there would get the calls of the API and
	// the catalog.
	own := slices.Clone(c.Server.Hosts)
	if u, err := url.Parse(c.Server.PublicURL); err == nil {
		own = append(own, u.Host)
	}
	for _, h := range own {
		hosts[bare(h)] = true
	}
	for n := range more {
		a := &more[n].Agent
		errs := []error{a.Validate()}
		errs = append(errs, checkAgent(book, a)...)
		// checkUndeclared looks at a whole configuration: this one has the agent alone.
		errs = append(errs, (&Config{Policy: c.Policy, Agents: []agents.Config{*a}}).checkUndeclared()...)
		if by := ids[a.ID]; by != "" {
			errs = append(errs, keypath.At(fmt.Errorf("%q is taken by %s", a.ID, by), "id"))
		}
		for i, h := range a.Hosts {
			if hosts[bare(h)] {
				errs = append(errs, keypath.At(fmt.Errorf("%q is taken", h), "hosts", i))
			}
		}
		if n >= c.Fleet.Limit {
			errs = append(errs, fmt.Errorf("there are %d agents beside those in files (fleet.limit)", c.Fleet.Limit))
		}
		if err := errors.Join(errs...); err != nil {
			faults[a.ID] = errors.Join(faults[a.ID], fmt.Errorf("%s: %w", more[n].Origin, err))
			continue
		}
		ids[a.ID] = more[n].Origin
		for _, h := range a.Hosts {
			hosts[bare(h)] = true
		}
		all.Agents = append(all.Agents, *a)
	}
	return &all, faults
}

// bare is a host without its port, to compare by: whether two agents of one host on two
// ports were meant is not for the gateway to guess.
func bare(host string) string {
	u := url.URL{Host: strings.ToLower(host)}
	return strings.TrimSuffix(u.Hostname(), ".")
}
