package explain

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	ownership "github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Judge says what becomes of calls by what a configuration was compiled to. It is for any
// number of questions at once.
type Judge struct {
	Authn      *schemes.Config // who vouches for callers
	Policy     policy.Config
	Rules      *policy.Set // that Policy was compiled to
	RuleAgents []string    // that rules may name
	Book       *ext.Book
	Limits     *limits.Limiter // nil for none
	Panel      *pdp.Panel
	Guards     *guard.Set // nil for none
	// Find finds an agent by its id. The error names what there is, as far as that helps.
	// It is a function, since the agents of a running gateway change while it runs.
	Find      func(id string) (*Agent, error)
	PublicURL string
	Wire      wire.Limits // of what a call may be
	Push      bool        // calls may bring push notification configs
}

// Agent is one of the fleet, with what its section was compiled to.
type Agent struct {
	*agents.Config

	// Both are compiled when the agent is made, so that an error in its section is told before any
	// call is judged.
	match *policy.Matcher // nil for none
	files *files.Rules
}

// NewAgent compiles the section of an agent.
// fileParts are the defaults of the policy, which the agent's own section overrides key by key.
// The errors are those that the configuration check reports.
func NewAgent(c *agents.Config, fileParts files.Config) (*Agent, error) {
	a := &Agent{Config: c}
	var err error
	if a.match, err = policy.NewMatcher(c.Match); err != nil {
		return nil, err
	}
	if a.files, err = files.New(c.FileParts, fileParts); err != nil {
		return nil, fmt.Errorf("fileParts: %w", err)
	}
	return a, nil
}

// FindMethod finds an operation by the name that any version, or an extension, has for it.
// As in rules, message/send and SendMessage are the same operation. The error is for people.
func (jd *Judge) FindMethod(name string) (*wire.Method, error) {
	table := wire.Methods()
	for i := range table {
		if m := &table[i]; slices.Contains([]string{m.Name, m.V03, m.V01, m.GRPC03}, name) && name != "" {
			return m, nil
		}
	}
	var names []string
	for _, m := range jd.Book.Extra().Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	for i := range table {
		names = append(names, table[i].Name, table[i].V03, table[i].V01)
	}
	return nil, fmt.Errorf("neither A2A nor an extension of the registry has %q%s", name, spelling.Hint(name, names))
}

// ledger is one over a store, which shares tasks as the configuration says.
// Backends are left out: contexts are only those of the described task.
func (jd *Judge) ledger(store ownership.Ledger) *ledger.Ledger {
	share := func(p *authn.Principal, agent string, m *wire.Method, r ownership.Record) bool {
		t := taskOf(&r)
		return jd.Rules.Shares(p, agent, m, &t) != ""
	}
	return ledger.New(store, ledger.Config{
		Scope: jd.Policy.Tasks.Scope, Share: share, Adopt: jd.Policy.Tasks.Contexts == "adopt",
	})
}

// taskOf is a recorded task as rules see it.
func taskOf(r *ownership.Record) policy.Task {
	owner, issuer := ledger.OwnerOf(*r)
	return policy.Task{
		ID: r.ID, ContextID: r.Context, Skill: r.Skill,
		Owner: owner, Issuer: issuer, Tenant: r.Tenant, Created: r.Created,
	}
}
