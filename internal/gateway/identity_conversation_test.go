package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	diff "github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// federation is a gateway between the users of one issuer and two agents: one of their
// own system, which trusts the gateway's word, and one of another, which has an
// authorization server of its own.
type federation struct {
	*world

	g            *gateway.Gateway
	other        *authority // of the remote agent's system
	home, away   *door
	near, far    *gatewaytest.Agent
	homeA, awayA string // audiences
}

const (
	homeAudience = "urn:agents:home"
	awayAudience = "urn:agents:away"
)

// federated says who is who in the other system: two keys there are, and what each kind
// of caller may do.
const federated = `policy: {rules: [{name: all, effect: allow}]}
agents:
  - id: home
    card: %q
    credentials:
      - assertion: {audience: %q}
  - id: away
    card: %q
    credentials:
      - exchange: &exchange
          tokenURL: %q
          clientID: a2a-gateway
          clientSecret: gateway-secret
          audience: [%q]
          identity: {claim: email}
          permissions: {groups: {finance: [invoices.read], directors: [invoices.read, invoices.pay]}}
%s`

func newFederation(t *testing.T, f gatewaytest.Flavour) *federation {
	t.Helper()
	fed := &federation{world: newWorld(t)}
	fed.other = newAuthority(t, map[string]string{"alice": "anna", "dora": "dorothea", "anna": "anna"})
	fed.other.trust(fed.issuer.URL, fed.issuer.URL+"/jwks")
	fed.home = &door{audience: homeAudience}
	fed.away = &door{audience: awayAudience, scope: "invoices.read", further: "X-Payment-Token"}
	fed.away.trust(fed.other.URL, fed.other.URL+"/jwks")
	fed.near = gatewaytest.StartBehind(t, f, fed.home.before, nil)
	fed.far = gatewaytest.StartBehind(t, f, fed.away.before, fed.work)
	fed.g = fed.start(fed.configuration(""))
	fed.home.trust(fed.g.URL(), fed.g.URL()+"/.well-known/jwks.json")
	fed.other.trust(fed.g.URL(), fed.g.URL()+"/.well-known/jwks.json")
	return fed
}

// configuration is the file, with more of the agent away.
func (f *federation) configuration(more string) string {
	const paying = `      - header: X-Payment-Token
        on: auth-required
        exchange: {tokenURL: %q, clientID: a2a-gateway, clientSecret: gateway-secret, audience: [%q], subject: assertion,
          identity: {subjects: {alice: anna}}, permissions: {always: [invoices.read, invoices.pay]}}
`
	return f.yaml(plain, fmt.Sprintf(federated, f.near.CardURL, homeAudience, f.far.CardURL, f.other.tokenURL, awayAudience,
		fmt.Sprintf(paying, f.other.tokenURL, awayAudience)+more))
}

// work is what the agent away does: it asks what about, and for a token of its own kind
// before it pays. It waits for input then: at a task that waits for authorization, the
// Go SDKs' agents go on by themselves and take no message.
func (f *federation) work(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
	text := ec.Message.Parts[0].Text()
	say := func(state a2a.TaskState, parts ...*a2a.Part) a2a.Event {
		return a2a.NewStatusUpdateEvent(ec, state, a2a.NewMessageForTask(a2a.MessageRoleAgent, ec, parts...))
	}
	var events []a2a.Event
	if ec.StoredTask == nil {
		events = append(events, a2a.NewSubmittedTask(ec, ec.Message))
	}
	switch {
	case strings.HasPrefix(text, "ask"):
		return append(events, say(a2a.TaskStateInputRequired, a2a.NewTextPart("what about?")))
	case strings.HasPrefix(text, "pay") && !f.away.pays(ec.Message.ID):
		return append(events, say(a2a.TaskStateInputRequired, a2a.NewTextPart("who pays?"),
			a2a.NewDataPart(map[string]any{"authentication": map[string]any{
				"audience": awayAudience, "scopes": []any{"invoices.pay"},
			}})))
	}
	return append(events, say(a2a.TaskStateCompleted, a2a.NewTextPart("done: "+text)))
}

// person is the header of a user.
func (f *federation) person(name string, groups []string, claims map[string]any) http.Header {
	f.t.Helper()
	all := map[string]any{"email": name + "@example.com"}
	for k, v := range claims {
		all[k] = v
	}
	token, err := f.issuer.Issue(name, demo.IssueOptions{Groups: groups, Client: "desk", Claims: all})
	if err != nil {
		f.t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

// speaker is a client in a conversation.
type speaker struct {
	*testing.T
	http   *http.Client
	client gatewaytest.Client
}

func (f *federation) speaker(t *testing.T, who http.Header, agent string, fl gatewaytest.Flavour, sdk gatewaytest.SDK) *speaker {
	t.Helper()
	hc := gatewaytest.HTTPClient(t, who, nil)
	c, _ := gatewaytest.Dial(t, sdk, hc, f.g.URL()+"/agents/"+agent, fl.Version, fl.Binding)
	return &speaker{t, hc, c}
}

// says sends a message, in the task if there is one, and gives the task that answers.
func (s *speaker) says(text string, in *a2a.Task) *a2a.Task {
	s.Helper()
	r := say(text)
	if in != nil {
		r.Message.ContextID = in.ContextID
		if !in.Status.State.Terminal() {
			r.Message.TaskID = in.ID
		}
	}
	answer, err := gatewaytest.Send(s.Context(), s.client, s.http, r)
	if err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	task, ok := answer.(*a2a.Task)
	if !ok {
		s.Fatalf("%s: answered by %T", text, answer)
	}
	return task
}

// refused sends a message that must be refused.
func (s *speaker) refused(text string) {
	s.Helper()
	if answer, err := s.client.SendMessage(s.Context(), say(text)); err == nil {
		s.Errorf("%s: answered by %+v", text, answer)
	}
}

// TestA23_Conversation: a user of one system talks to agents of two, in several turns
// each. Each agent learns who calls in the words of its own system, by a token that is
// good there and nowhere else, and nothing of the caller's.
func TestA23_Conversation(t *testing.T) {
	t.Parallel()
	for _, flavour := range gatewaytest.Flavours() {
		for _, sdk := range flavour.SDKs() {
			t.Run(flavour.Name+" "+string(sdk), func(t *testing.T) {
				t.Parallel()
				f := newFederation(t, flavour)
				alice := f.person("alice", []string{"finance"}, map[string]any{"act": map[string]any{"sub": "planner"}})
				f.talk(t, alice, flavour, sdk)
				f.apart(t, alice)
			})
		}
	}
}

func (f *federation) talk(t *testing.T, alice http.Header, flavour gatewaytest.Flavour, sdk gatewaytest.SDK) {
	away := f.speaker(t, alice, "away", flavour, sdk)
	asked := away.says("ask", nil)
	if asked.Status.State != a2a.TaskStateInputRequired {
		t.Fatalf("state %s", asked.Status.State)
	}
	told := away.says("about this", asked)
	if told.ID != asked.ID || told.ContextID != asked.ContextID || told.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the second turn ended as %+v", told)
	}
	paid := away.says("pay", told)
	if paid.ContextID != asked.ContextID || paid.ID == asked.ID || paid.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the third turn ended as %+v", paid)
	}
	v := f.away.last()
	want := map[string]any{"sub": "anna", "scope": "invoices.read", "act": map[string]any{
		"sub": "a2a-gateway", "act": map[string]any{"sub": "planner"},
	}}
	if d := diff.Diff(want, pick(v.who, "sub", "scope", "act")); d != "" {
		t.Errorf("the agent away was told (-want +got):\n%s", d)
	}
	want = map[string]any{"sub": "anna", "scope": "invoices.pay invoices.read"}
	if d := diff.Diff(want, pick(v.paying, "sub", "scope")); d != "" {
		t.Errorf("the agent away was told of who pays (-want +got):\n%s", d)
	}

	home := f.speaker(t, alice, "home", flavour, sdk)
	asked = home.says("input", nil)
	if told := home.says("this", asked); told.Status.State != a2a.TaskStateCompleted {
		t.Errorf("at home the second turn ended as %+v", told)
	}
	f.assertion(t, asked)
}

// assertion is what the agent at home was told in the last turn.
func (f *federation) assertion(t *testing.T, in *a2a.Task) {
	want := map[string]any{
		"sub": "alice", "client_id": "desk", "groups": []any{"finance"},
		"sub_id": map[string]any{"format": "iss_sub", "iss": f.issuer.URL, "sub": "alice"},
		"act": map[string]any{"sub": "test", "iss": f.g.URL(), "act": map[string]any{
			"sub": "planner", "iss": f.issuer.URL,
		}},
		"a2a": map[string]any{
			"agent": "home", "method": "SendMessage", "skills": []any{"work", "rest"},
			"task": string(in.ID), "context": in.ContextID,
		},
	}
	if d := diff.Diff(want, pick(f.home.last().who, "sub", "client_id", "groups", "sub_id", "act", "a2a")); d != "" {
		t.Errorf("the agent at home was told (-want +got):\n%s", d)
	}
}

// apart makes sure that what is good in one place is seen and taken in no other.
func (f *federation) apart(t *testing.T, alice http.Header) {
	own := strings.TrimPrefix(alice.Get("Authorization"), "Bearer ")
	there, here := f.away.last(), f.home.last()
	for name, secret := range map[string]string{
		"the caller's token": own, "the other agent's token": there.bearer, "the paying token": there.second,
	} {
		if f.home.holds(secret) {
			t.Errorf("the agent at home saw %s", name)
		}
	}
	for _, v := range f.home.all() {
		if f.away.holds(v.bearer) {
			t.Error("the agent away saw an assertion for the agent at home")
		}
	}
	if f.away.holds(own) || own == there.bearer {
		t.Error("the agent away saw the caller's token")
	}
	for name, token := range map[string]string{"the caller's": own, "an exchanged": there.bearer} {
		if _, err := f.home.admit(token); err == nil {
			t.Errorf("the agent at home takes %s token", name)
		}
	}
	for name, token := range map[string]string{"the caller's": own, "the gateway's": here.bearer} {
		if _, err := f.away.admit(token); err == nil {
			t.Errorf("the agent away takes %s token", name)
		}
	}
	for name, token := range map[string]string{"an exchanged token": there.bearer, "an assertion": here.bearer} {
		header := http.Header{"Authorization": {"Bearer " + token}}
		status, _, err := try(client(t), http.MethodPost, f.g.URL()+"/agents/home", sendHeader(header), sendBody("SendMessage", "1"))
		if err != nil || status != http.StatusUnauthorized {
			t.Errorf("the gateway answers %d (%v) to %s", status, err, name)
		}
	}
}

// pick are some of the claims.
func pick(claims map[string]any, names ...string) map[string]any {
	some := map[string]any{}
	for _, name := range names {
		if v, ok := claims[name]; ok {
			some[name] = v
		}
	}
	return some
}
