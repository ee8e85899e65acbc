package negotiate_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// The extensions of the matrix: the one that is looked at, one that every card
// declares and every caller asks for, and one that nobody knows.
const (
	focus     = "https://example.com/ext/focus/v1"
	bystander = "https://example.com/ext/bystander/v1"
	stranger  = "https://example.com/ext/stranger/v1"
)

// terms is what cards, configuration and rules say about focus.
type terms struct {
	declared   string // "", "optional", "required"
	allowed    string // "" for no list, "listed", "others"
	denied     string // "", "config", "rule"
	required   string // "", "config", "rule"
	verify     bool
	activation string
}

// allTerms are all that there are, but for what the configuration refuses.
func allTerms() []terms {
	var all []terms
	for _, declared := range []string{"", "optional", "required"} {
		for _, allowed := range []string{"", "listed", "others"} {
			for _, denied := range []string{"", "config", "rule"} {
				for _, required := range []string{"", "config", "rule"} {
					if denied != "" && denied == required {
						continue
					}
					for _, verify := range []bool{false, true} {
						for _, activation := range []string{"echo", "declared"} {
							all = append(all, terms{declared, allowed, denied, required, verify, activation})
						}
					}
				}
			}
		}
	}
	return all
}

// fate is what must become of a call.
type fate struct {
	missing   bool // refused before the agent sees it
	broken    bool // refused after
	sent      []string
	activated []string // that the caller asked for
}

// fate says what A2A, the configuration and the rules want, one after the other.
func (c terms) fate(requested, echoed bool) fate {
	permitted := c.denied == "" && (c.allowed != "others" || c.required == "config")
	offered := c.declared != "" || c.required != ""
	needed := permitted && (c.declared == "required" || c.required != "")
	if needed && !requested {
		return fate{missing: true}
	}
	f := fate{sent: []string{bystander}, activated: []string{bystander}}
	if !requested || !permitted || !offered {
		return f
	}
	f.sent = []string{focus, bystander}
	if echoed || c.activation == "declared" {
		f.activated = f.sent
		return f
	}
	f.broken = needed && c.verify
	return f
}

// agent is an agent of the matrix.
func (c terms) agent(id string) (agents.Config, []policy.Rule) {
	a := agents.Config{ID: id}
	var rules []policy.Rule
	if c.denied == "rule" || c.required == "rule" {
		r := policy.Rule{Name: "about " + id, Agents: []string{id}, Extensions: &policy.RuleExtensions{}}
		if c.denied == "rule" {
			r.Extensions.Deny = []string{focus}
		} else {
			r.Extensions.Require = []string{focus}
		}
		rules = append(rules, r)
	}
	e := &a.Extensions
	e.Verify, e.Activation = c.verify, c.activation
	switch c.allowed {
	case "listed":
		e.Allow = []string{focus, bystander}
	case "others":
		e.Allow = []string{bystander}
	}
	if c.denied == "config" {
		e.Deny = []string{focus}
	}
	if c.required == "config" {
		e.Require = []string{focus}
	}
	return a, rules
}

// card declares what the terms say, on one side.
func (c terms) card(s wire.Side) func(string) string {
	list := []string{fmt.Sprintf(`{"uri":%q}`, bystander)}
	if c.declared != "" {
		list = append(list, fmt.Sprintf(`{"uri":%q,"required":%t}`, focus, c.declared == "required"))
	}
	return proxytest.CardDeclaring(proxytest.CardFor(s), list...)
}

// nameFor is the extensions header of a version.
func nameFor(v wire.Version) string {
	if v == wire.V10 {
		return "A2a-Extensions"
	}
	return "X-A2a-Extensions"
}

// refusals are what a missing extension is called, by side.
var refusals = map[wire.Side]struct{ status, code, grpc int }{
	proxytest.RPC10: {200, -32008, 0}, proxytest.REST10: {400, -32008, 0}, proxytest.GRPC10: {200, -32008, 9},
	proxytest.RPC03: {200, -32008, 0}, proxytest.REST03: {400, -32008, 0}, proxytest.GRPC03: {200, -32004, 12},
	proxytest.RPC01: {200, -32004, 0},
}

// TestExtensionMatrix makes calls of every side to agents of every side, under every
// combination of what card, configuration, rule, caller and agent can say about an
// extension, and compares with the rules written out one by one.
func TestExtensionMatrix(t *testing.T) {
	testenv.Long(t, "every combination of what can be said about an extension is called")
	t.Parallel()
	all := allTerms()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{{Name: "all", Effect: "allow"}}
		s.Bound, s.Docs = map[string]string{}, map[string]func(string) string{}
		s.Agent.Card.URL += "?"
		for i, c := range all {
			id := fmt.Sprint("a", i)
			a, rules := c.agent(id)
			a.Card.URL = s.Agent.Card.URL + secret.URL(id)
			s.More = append(s.More, a)
			s.Policy.Rules = append(s.Policy.Rules, rules...)
			s.Bound[id], s.Docs[id] = id, c.card(speakerAt(i))
		}
	})
	for i, c := range all {
		for j, caller := range proxytest.Sides {
			if proxytest.RaceEnabled && (i+j)%5 != 0 {
				continue // every side meets every other all the same
			}
			for _, requested := range []bool{false, true} {
				for _, echoed := range []bool{false, true} {
					m := matrixCall{terms: c, id: fmt.Sprint("a", i), caller: caller, agent: speakerAt(i), requested: requested, echoed: echoed, turn: i + j}
					m.run(w)
				}
			}
		}
	}
}

// matrixCall is one call of the matrix.
type matrixCall struct {
	terms
	id                string
	caller, agent     wire.Side
	requested, echoed bool
	turn              int // what does not matter takes turns
}

func (m *matrixCall) run(w *proxytest.Gateway) {
	w.Helper()
	what := fmt.Sprintf("%+v", *m)
	// Either name will do, and it is the one that is answered under.
	asked, told := nameFor(speakerAt(m.turn).Version), nameFor(speakerAt(m.turn/7).Version)
	a := proxytest.Ask{Method: wire.SendMessage, Header: []string{asked + ": " + stranger + "," + bystander}}
	if m.requested {
		a.Header = []string{asked + ": " + focus + ", " + stranger + ",," + bystander}
	}
	if m.turn%3 == 0 {
		a.Method = wire.SendStreamingMessage
	}
	if m.caller == proxytest.RPC01 {
		a.Task = what
	}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		// The agent also says what nobody asked for.
		line := bystander + ", " + stranger + ",https://example.com/other, not a URI"
		if m.echoed {
			line = focus + "," + line
		}
		if m.agent == proxytest.GRPC10 && a.Method == wire.SendMessage {
			told = http.TrailerPrefix + told
		}
		rw.Header().Set(told, line)
		proxytest.Fluent(rw, r)
	})
	got := w.Speak(m.id, w.URL+"/agents/"+m.id, m.caller, a)
	want := m.fate(m.requested, m.echoed)
	if want.missing {
		w.Agent.Silent(w, what)
		m.refused(w, what, got)
		return
	}
	m.reached(w, what, want)
	if want.broken {
		bad := wire.BadAgentResponse
		if got.Err == nil || got.Err.Reason != bad.Reason && !proxytest.SameMeaning(m.caller, got.Err.Kind, bad) ||
			!strings.Contains(got.Err.Message, focus) {
			w.Errorf("%s: the agent activated nothing, and the caller got %d %v %s", what, got.Status, got.Err, got.Body)
		}
		return
	}
	got.OK(w, what)
	if said := got.Header[asked]; !slices.Equal(said, []string{strings.Join(want.activated, ",")}) {
		w.Errorf("%s: told %q are active, want %q", what, said, want.activated)
	}
	other := map[string]string{"A2a-Extensions": "X-A2a-Extensions", "X-A2a-Extensions": "A2a-Extensions"}[asked]
	if said := got.Header[other]; said != nil {
		w.Errorf("%s: told %s: %q", what, other, said)
	}
}

func speakerAt(i int) wire.Side { return proxytest.Sides[i%len(proxytest.Sides)] }

// refused checks the refusal of a call that did not ask for what it must.
func (m *matrixCall) refused(w *proxytest.Gateway, what string, got proxytest.Reply) {
	w.Helper()
	form := refusals[m.caller]
	if got.Err == nil || got.Status != form.status || got.Err.Code != form.code || got.Code != form.grpc {
		w.Fatalf("%s: got %d %v (gRPC %d), want %+v: %s", what, got.Status, got.Err, got.Code, form, got.Body)
	}
	if !strings.Contains(got.Err.Message, focus) {
		w.Errorf("%s: the message does not name the extension: %s", what, got.Err.Message)
	}
	if m.caller.Version == wire.V10 && (got.Err.Reason != "EXTENSION_SUPPORT_REQUIRED" || got.Err.Meta["extensions"] != focus) {
		w.Errorf("%s: details %s %v", what, got.Err.Reason, got.Err.Meta)
	}
}

// reached checks what the agent was asked for: a line for each extension, under the
// one name that its version has.
func (m *matrixCall) reached(w *proxytest.Gateway, what string, want fate) {
	w.Helper()
	seen := w.Agent.Take()
	if len(seen) == 0 {
		w.Errorf("%s: did not reach the agent", what)
	}
	for _, r := range seen {
		for name, lines := range r.Header {
			if !strings.Contains(strings.ToLower(name), "extensions") {
				continue
			}
			if name != nameFor(m.agent.Version) || !slices.Equal(lines, want.sent) {
				w.Errorf("%s: the agent got %s: %q, want %q", what, name, lines, want.sent)
			}
		}
		if r.Header[nameFor(m.agent.Version)] == nil || r.Side() != m.agent {
			w.Errorf("%s: the agent got %v", what, r.Header)
		}
	}
}
