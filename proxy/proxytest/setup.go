package proxytest

import (
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// WithStreams has a gateway keep what its streams bring.
func WithStreams(change ...func(*stream.Config)) func(*Setup) {
	return func(s *Setup) {
		linger, again := quantity.Duration(30*time.Second), quantity.Duration(10*time.Second)
		s.Stream = stream.Config{Linger: &linger, Resubscribe: &again, Grammar: "enforce", Poll: quantity.Duration(100 * time.Millisecond)}
		for _, c := range change {
			c(&s.Stream)
		}
	}
}

// OnlyV10 is the card of an agent that speaks 1.0 over JSON-RPC alone.
func OnlyV10(base string) string {
	return `{"name":"New","description":"d","version":"1","supportedInterfaces":[
		{"url":"` + base + `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true},
		"defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"read","name":"Read","description":"r","tags":[]}]}`
}

// WithExtensions gives a gateway extensions to know, and the caller of WithTied.
func WithExtensions(entries ...ext.Entry) func(*Setup) {
	return func(s *Setup) {
		WithTied(s)
		s.Extensions = entries
	}
}

// WithMemory has messages remembered for a day.
func WithMemory(s *Setup) { s.Agent.Dedupe.Window = quantity.Duration(24 * time.Hour) }

// WithFileRules has an agent's files, and its callers', held to rules.
func WithFileRules(c files.Config) func(*Setup) {
	return func(s *Setup) {
		WithTied(s)
		s.Agent.FileParts = c
	}
}

// Setup is what a test may change before its gateway is built, by the functions that it
// hands to [NewGateway]. What a test leaves alone is what most tests want: one agent with the
// id "rec", everything in memory, and a policy that lets alice and bob do everything.
type Setup struct {
	Server server.Config
	Agent  agents.Config   // the first agent, the one that Gateway.Base leads to
	More   []agents.Config // further agents

	// Docs has the cards of further agents on the server of the first, by the query of the
	// URL that their cards are at.
	Docs   map[string]func(base string) string
	NoCard bool // the gateway begins without any agent's card

	// Who calls, and what they may do.
	Authn       schemes.Config
	Bound       map[string]string // further callers, and the one agent that each may use
	Tenants     map[string]string // further callers, and the tenant that each is of
	Policy      policy.Config
	Limits      limits.Config
	Authorizers pdp.Config
	Guards      guard.Config
	GuardWindow guard.Hold
	Approvals   approval.Calls
	Anomalies   *anomaly.Config // nil where nobody looks for any
	Extensions  ext.Registry
	Catalog     catalog.Config

	// Where the gateway keeps what it knows. All of them are one store in memory at first.
	Store  state.Ledger   // owners of tasks and contexts
	Steps  state.Steps    // what extensions have seen of tasks
	Counts state.Limits   // of Limits
	Values state.Values   // webhooks
	Sealer cursors.Sealer // of cursors and event ids; nil for one of the gateway's own

	// Notifications and streams.
	Push    string      // "passthrough", "relay" or "off", as push.Config has it
	Relay   push.Config // where Push is "relay"
	Stream  stream.Config
	Hub     stream.HubOptions // what else the hub has: for replicas
	Streams *openstreams.Streams
	Drain   func(func()) func() bool

	// The side of the agent, and of the operator.
	Upstream upstream.Options
	Breaker  bool // circuits may open; most tests fail calls on purpose
	Load     *overload.Ladder
	Content  audit.Content      // what of messages is captured
	Digest   audit.DigestConfig // which bodies have a digest in the records
	Level    string             // of the logs
	Traces   telemetry.Traces
	JWKS     func() []byte  // the document of public keys
	Signing  signature.Ring // signs the cards that the gateway serves
}

// shares is who uses whose tasks.
func (s *Setup) shares(rules *policy.Set, all []*agents.Agent) ledger.Config {
	c := ledger.Config{
		Scope: s.Policy.Tasks.Scope, Adopt: s.Policy.Tasks.Contexts == "adopt", Backend: agents.Backends(all),
	}
	if len(s.Policy.Tasks.Sharing) > 0 {
		c.Share = proxy.Sharing(rules)
	}
	return c
}

// Everyone is a policy that allows everything to all but mallory.
func Everyone() policy.Config {
	return policy.Config{Rules: []policy.Rule{{
		Name: "all", Effect: "allow", Subjects: []string{"alice", "bob", "tied"},
	}}}
}

// streaming is the configuration of streams. Agents of most tests say only what the test
// is about, which is no whole stream; where they or their client break off, that is it.
func (s Setup) streaming() stream.Config {
	if s.Stream.Grammar == "" {
		s.Stream.Grammar = "report"
	}
	if s.Stream.Linger == nil {
		s.Stream.Linger = new(quantity.Duration)
	}
	if s.Stream.Resubscribe == nil {
		s.Stream.Resubscribe = new(quantity.Duration)
	}
	return s.Stream
}

// WithTied adds the caller "tied", whose credential is good for the agent only. As it says which
// agent is meant, its calls need not: they may be gRPC calls, whose paths name no agent.
func WithTied(s *Setup) { s.Bound = map[string]string{"tied": "rec"} }

// name adds what bounds calls to the labels of metrics.
func (s *Setup) name(labels *metrics.Labels) {
	for _, l := range s.Limits.Each {
		labels.Limits = append(labels.Limits, l.Name)
	}
	for i := range s.Guards {
		labels.Guards = append(labels.Guards, s.Guards[i].Name)
	}
	for _, a := range s.Authorizers {
		labels.Authorizers = append(labels.Authorizers, a.Name)
	}
}

// WithRelay makes notifications go through the gateway.
func WithRelay(s *Setup) { s.Push = "relay" }

// OnlyInterface leaves the agent one interface.
func OnlyInterface(binding, version string) func(*Setup) {
	return func(s *Setup) {
		s.Agent.Card.URL += "?only"
		s.Docs = map[string]func(string) string{"only": func(base string) string {
			head, rest, _ := strings.Cut(Card(base), `"supportedInterfaces":[`)
			_, tail, _ := strings.Cut(rest, "],")
			return head + `"supportedInterfaces":[{"url":"` + base + `/rpc","protocolBinding":"` + binding +
				`","protocolVersion":"` + version + `"}],` + tail
		}}
	}
}

// WithColleagues lets amy and ann of one tenant use each other's tasks.
func WithColleagues(scope string) func(*Setup) {
	return func(s *Setup) {
		s.Tenants = map[string]string{"amy": "acme", "ann": "acme"}
		s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "amy", "ann")
		s.Policy.Tasks = policy.TasksConfig{Scope: scope}
	}
}
