package approvals

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// Call is a call that waits, or has waited. It never changes.
type Call struct {
	ID      string    `json:"id"` // of the task that its caller is shown
	Agent   string    `json:"agent"`
	Skill   string    `json:"skill,omitzero"` // that it is for; "" where it says none
	Method  string    `json:"method"`
	Version string    `json:"version"` // of A2A, as the caller speaks it
	Binding string    `json:"binding"`
	Context string    `json:"context"` // that the task is in, as the caller knows it
	Message string    `json:"message"` // its id
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`

	Caller Caller `json:"caller"`
	Rules  []Rule `json:"rules"` // that ask, in the order of the file

	// Digest is the SHA-256 of Params, in hexadecimal: what people agree to is this, and nothing else.
	Digest string         `json:"digest"`
	Params jsontext.Value `json:"params"` // of the call: its message, in the caller's version
	// Told is what agents that are asked may see: the params of SendMessage in A2A 1.0; nil where none is.
	Told jsontext.Value `json:"told,omitzero"`

	Request Request `json:"request"`
}

// Caller is who has sent the call.
type Caller struct {
	Subject string   `json:"subject"`
	Issuer  string   `json:"issuer"`
	Tenant  string   `json:"tenant,omitzero"`
	Client  string   `json:"client,omitzero"`
	Selves  []string `json:"selves"` // names of the caller, and of all who act for it or answer for it
	Owner   string   `json:"owner"`  // authn.Principal.Key
	Circle  string   `json:"circle"` // of those whose task it is, by policy.tasks.scope (ledger.Ledger.Circle)
	Who     string   `json:"who"`    // authn.Principal.Remember
}

// Rule is one that asks for people.
type Rule struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // approval.Rule.Digest when the call came
	Asks   string `json:"asks"`   // who has to agree, in words
	Count  int    `json:"count"`

	Agents   []string `json:"agents,omitzero"`   // ids of those whose decisions count
	Advisers []string `json:"advisers,omitzero"` // ids of those who are asked for advice
}

// Asks says who has to agree, in words.
func (c *Call) Asks() string {
	var list []string
	for _, r := range c.Rules {
		if !slices.Contains(list, r.Asks) {
			list = append(list, r.Asks)
		}
	}
	return strings.Join(list, ", and ")
}

// Asked are the ids of the agents that are asked about the call, each once.
func (c *Call) Asked() (agents []string) {
	for _, r := range c.Rules {
		for _, id := range slices.Concat(r.Agents, r.Advisers) {
			if !slices.Contains(agents, id) {
				agents = append(agents, id)
			}
		}
	}
	return agents
}

// Decides reports whether some rule counts an agent's decision.
func (c *Call) Decides(agent string) bool {
	return slices.ContainsFunc(c.Rules, func(r Rule) bool { return slices.Contains(r.Agents, agent) })
}

// Attributes are what audit events say of a call.
func (c *Call) Attributes() map[string]string {
	rules := make([]string, len(c.Rules))
	for i, r := range c.Rules {
		rules[i] = r.Name
	}
	attrs := map[string]string{
		"approval": c.ID, "agent": c.Agent, "method": c.Method, "principal": c.Caller.Subject, "issuer": c.Caller.Issuer,
		"rules": strings.Join(rules, " "), "digest": c.Digest,
	}
	if c.Skill != "" {
		attrs["skill"] = c.Skill
	}
	return attrs
}

// Request is the request that has brought the call, without credentials.
type Request struct {
	Verb   string      `json:"verb"`
	URL    string      `json:"url"` // path and query
	Host   string      `json:"host"`
	Major  int         `json:"major"` // of HTTP
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
	Remote string      `json:"remote"` // the client's address

	// Where the routes led.
	Fixed string `json:"fixed,omitzero"`
	Agent string `json:"agent,omitzero"`
	Skill string `json:"skill,omitzero"`
	Rest  string `json:"rest,omitzero"`
	Tool  bool   `json:"tool,omitzero"` // it carries out a call of a tool
}

// prefix begins the id of every task that waits for approval, so that calls about other tasks need not
// ask the state.
const prefix = "approval-"

// newID makes the id of a task: unguessable, and nobody's yet.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return prefix + hex.EncodeToString(id[:])
}

// IsID reports whether an id has the form of those that Open gives calls.
func IsID(id string) bool {
	digits, ok := strings.CutPrefix(id, prefix)
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Vote is that somebody agrees.
type Vote struct {
	By     string    `json:"by"` // subject of a person, name of a token of the admin API, or "agent:" and an agent's id
	Groups []string  `json:"groups,omitzero"`
	Method string    `json:"method"` // how they had signed in: token, oidc or session; agent for an agent
	At     time.Time `json:"at"`
	Digest string    `json:"digest"` // of what they were shown
	Rules  []string  `json:"rules"`  // for which it counts

	Agent     string `json:"agent,omitzero"`     // its id; "" for a person
	Interface string `json:"interface,omitzero"` // of the agent, that has answered
	Backend   string `json:"backend,omitzero"`   // of the agent (approval.Kin)
}

// key tells voters apart. Ids of agents have no colon, and sums no dash: a person's name can look like an agent's.
func (v *Vote) key() string {
	if v.Agent != "" {
		return "agent-" + v.Agent
	}
	sum := sha256.Sum256([]byte(v.By))
	return hex.EncodeToString(sum[:16])
}

// Outcome is what has become of a call.
type Outcome struct {
	State standing.State `json:"state"`
	At    time.Time      `json:"at"`
	By    string         `json:"by,omitzero"`    // who has rejected it
	Why   string         `json:"why,omitzero"`   // for people
	Error string         `json:"error,omitzero"` // reason of the error that the agent or the gateway has answered, as docs/errors.md has it
	Until time.Time      `json:"until,omitzero"` // while it is sent: who has not said more by then has died

	// Task is what the agent calls the task, "" until it has shown one, and Context its context.
	Task    string `json:"task,omitzero"`
	Context string `json:"context,omitzero"`
	// Answered says that the agent has answered the call, which may be after it has shown a task.
	Answered bool `json:"answered,omitzero"`
	// Result is what the agent has answered to a call that is answered once, or the message that it has
	// streamed: the result of SendMessage in A2A 1.0, under the caller's names; nil for none, or one that is
	// too long to be kept.
	Result jsontext.Value `json:"result,omitzero"`
}

// Status is a call, and what has become of it until now.
type Status struct {
	Call
	Votes     []Vote
	Questions []Question // to agents, in the order of Asked; none where none is asked
	Outcome   Outcome    // its State is always there
}

// Dispatch is a call that enough people have agreed to, on its way to the agent.
type Dispatch struct {
	*Status
	Result Outcome // what has become of it; without a State until that is known
}

// longestResult bounds the answers that are kept for who waits, or asks later.
const longestResult = 1 << 20

// Keep has the outcome hold what the agent has answered, in the words of Outcome.Result, unless it is too long.
func (d *Dispatch) Keep(answer []byte) {
	if len(answer) <= longestResult {
		d.Result.Result = answer
	}
}

// agreed reports whether enough people have agreed for each of the rules.
func (s *Status) agreed() bool {
	for _, r := range s.Rules {
		if len(s.For(r.Name)) < r.Count {
			return false
		}
	}
	return true
}

// For are the votes that count for a rule: of agents that are one, one.
func (s *Status) For(rule string) []Vote {
	var list []Vote
	for _, v := range s.Votes {
		if slices.Contains(v.Rules, rule) && (v.Backend == "" || !slices.ContainsFunc(list, func(o Vote) bool { return o.Backend == v.Backend })) {
			list = append(list, v)
		}
	}
	return list
}
