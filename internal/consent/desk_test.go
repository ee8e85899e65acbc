package consent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// bureau is a desk with what it sends.
type bureau struct {
	*Desk
	held  chan struct{} // what is sent ends when it is closed; nil for at once
	mu    sync.Mutex
	sent  []string
	rules *policy.Set
	fleet *fleet
}

func newBureau(t *testing.T, rules ...policy.Rule) *bureau {
	t.Helper()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	return newBureauOn(t, memory, rules...)
}

// newBureauOn is one of several gateways with one state.
func newBureauOn(t *testing.T, values state.Values, rules ...policy.Rule) *bureau {
	t.Helper()
	tel, err := telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: io.Discard}}, "test")
	must(t, err)
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	log, err := audit.Open(audit.Config{Dir: filepath.Join(t.TempDir(), "audit")}, "gw", tel)
	must(t, err)
	t.Cleanup(func() { _ = log.Close() })
	b := &bureau{fleet: newFleet()}
	b.follow(t, rules...)
	b.Desk = New(Options{
		Values: values, Index: values, Kept: time.Hour, Audit: log, Telemetry: tel, Console: func() string { return "https://console.example" },
		Now: func() (*Now, func()) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return &Now{
				Rules: b.rules, Send: b.send, Token: func(name string) bool { return name == "lead" },
				Timeout: func(string, string) time.Duration { return time.Minute }, Dial: new(net.Dialer).DialContext, Agents: b.fleet,
			}, func() {}
		},
	})
	t.Cleanup(b.Close)
	return b
}

// follow puts other rules in force.
func (b *bureau) follow(t *testing.T, rules ...policy.Rule) {
	t.Helper()
	set, _, err := policy.Compile(policy.Config{Rules: rules}, []string{"billing"})
	must(t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = set
}

// send is in the place of the proxy.
func (b *bureau) send(_ context.Context, st *approvals.Status) {
	if b.held != nil {
		<-b.held
	}
	b.mu.Lock()
	b.sent = append(b.sent, st.ID)
	b.mu.Unlock()
	_ = b.Store.Settle(context.Background(), &st.Call, approvals.Outcome{State: standing.Sent})
}

// open has a call of alice's wait under rules.
func (b *bureau) open(t *testing.T, within time.Duration, rules ...string) *approvals.Call {
	t.Helper()
	c := &approvals.Call{Agent: "billing", Method: "SendMessage", Digest: "d", Created: time.Now(), Expires: time.Now().Add(within),
		Caller: approvals.Caller{Subject: "alice", Issuer: "api-keys", Selves: []string{"alice"}, Owner: "owner-of-alice"}}
	for _, name := range rules {
		r := b.rules.Approval(name)
		c.Rules = append(c.Rules, approvals.Rule{Name: name, Digest: r.Digest, Asks: r.Asks(), Count: r.Count, Agents: r.Agents, Advisers: r.Advisers})
	}
	must(t, b.Store.Open(t.Context(), c))
	return c
}

// stands waits until a call stands so.
func (b *bureau) stands(t *testing.T, c *approvals.Call, want standing.State) *approvals.Status {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		st, err := b.Look(t.Context(), c.ID)
		must(t, err)
		if st.Outcome.State == want {
			return st
		}
		if time.Now().After(end) {
			t.Fatalf("the call is %s, want %s", st.Outcome.State, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func person(name string, groups ...string) *Person {
	return &Person{Name: name, Method: "token", Approver: approval.Approver{Subject: name, Groups: groups}}
}

// refunds asks so many of the leads.
func refunds(count int) policy.Rule {
	return policy.Rule{Name: "refunds", Effect: "approve", Approvers: &approval.Approvers{Subjects: []string{"lead", "cfo", "alice"}, Count: count}}
}

// TestAgree: the last who has to agree has the call sent, once.
func TestAgree(t *testing.T) {
	t.Parallel()
	b := newBureau(t, refunds(2), policy.Rule{Name: "law", Effect: "approve", Approvers: &approval.Approvers{Groups: []string{"law"}}})
	c := b.open(t, time.Hour, "refunds", "law")
	for i, step := range []struct {
		who  *Person
		code string
		want standing.State
	}{
		{person("lead"), "", standing.Waiting},
		{person("lead"), "APPROVAL_DECIDED", standing.Waiting}, // again
		{person("alice"), "NOT_AN_APPROVER", standing.Waiting},
		{person("mallory"), "NOT_AN_APPROVER", standing.Waiting},
		{person("jura", "law"), "", standing.Waiting},
		{person("cfo"), "", standing.Sent},
	} {
		_, err := b.Agree(t.Context(), c.ID, "d", step.who)
		var r *Refusal
		if errors.As(err, &r); err != nil && r == nil || (r != nil) != (step.code != "") || r != nil && r.Code != step.code {
			t.Errorf("%d: %v", i, err)
		}
		b.stands(t, c, step.want)
	}
	for code, err := range map[string]error{
		"APPROVAL_DECIDED": second(b.Agree(t.Context(), c.ID, "d", person("lead"))),
		"APPROVAL_DIGEST":  second(b.Agree(t.Context(), b.open(t, time.Hour, "law").ID, "e", person("jura", "law"))),
		"NO_SUCH_APPROVAL": second(b.Reject(t.Context(), "approval-0", "d", "", person("lead"))),
	} {
		var r *Refusal
		if !errors.As(err, &r) || r.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	if len(b.sent) != 1 {
		t.Errorf("sent %v", b.sent)
	}
}

func second(_ *approvals.Status, err error) error { return err }

// TestRuleHasChanged: nobody decides about a call whose rule is another one by now, and the call ends.
func TestRuleHasChanged(t *testing.T) {
	t.Parallel()
	b := newBureau(t, refunds(1))
	c := b.open(t, time.Hour, "refunds")
	b.follow(t, refunds(2))
	if err := second(b.Agree(t.Context(), c.ID, "d", person("lead"))); err == nil || !strings.Contains(err.Error(), "the rule refunds has changed") {
		t.Error(err)
	}
	closed := make(chan struct{})
	defer close(closed)
	go b.Run(closed)
	if st := b.stands(t, c, standing.Void); st.Outcome.Why != "the rule refunds has changed since the call came" {
		t.Errorf("%+v", st.Outcome)
	}
	later := b.open(t, time.Hour, "refunds")
	must(t, second(b.Agree(t.Context(), later.ID, "d", person("lead"))))
	must(t, second(b.Agree(t.Context(), later.ID, "d", person("cfo"))))
	b.stands(t, later, standing.Sent)
}

// TestRulesOfOthers: a call that has come since this gateway's rules are in force waits for a gateway that
// knows its rule.
func TestRulesOfOthers(t *testing.T) {
	t.Parallel()
	b := newBureau(t, refunds(1))
	if !b.asked() {
		t.Error("no call is asked for")
	}
	c := b.open(t, time.Hour, "refunds")
	st, err := b.Look(t.Context(), c.ID)
	must(t, err)
	st.Rules[0].Digest = "another gateway's"
	b.void(t.Context(), st)
	b.stands(t, c, standing.Waiting)
	st.Created = time.Now().Add(-time.Hour)
	b.void(t.Context(), st)
	b.stands(t, c, standing.Void)
}

// TestReject: only an approver rejects a call, whose caller is told the reason.
func TestReject(t *testing.T) {
	t.Parallel()
	b := newBureau(t, refunds(1))
	c := b.open(t, time.Hour, "refunds")
	if err := second(b.Reject(t.Context(), c.ID, "d", "no", person("mallory"))); err == nil || !strings.Contains(err.Error(), "you are none of approvers.subjects") {
		t.Error(err)
	}
	must(t, second(b.Reject(t.Context(), c.ID, "d", "no", person("lead"))))
	if st := b.stands(t, c, standing.Rejected); st.Outcome.Why != "no" || st.Outcome.By != "lead" {
		t.Errorf("%+v", st.Outcome)
	}
}

// TestFinish waits for calls that are on their way, as long as it may, and begins no other.
func TestFinish(t *testing.T) {
	t.Parallel()
	b := newBureau(t, refunds(1))
	b.held = make(chan struct{})
	first, later := b.open(t, time.Hour, "refunds"), b.open(t, time.Hour, "refunds")
	must(t, second(b.Agree(t.Context(), first.ID, "d", person("lead"))))
	b.stands(t, first, standing.Sending)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if b.Finish(ctx); b.Sending() != 1 {
		t.Errorf("%d are on their way", b.Sending())
	}
	must(t, second(b.Agree(t.Context(), later.ID, "d", person("lead"))))
	time.AfterFunc(50*time.Millisecond, func() { close(b.held) })
	if b.Finish(t.Context()); b.Sending() != 0 {
		t.Errorf("%d are on their way", b.Sending())
	}
	b.stands(t, first, standing.Sent)
	b.stands(t, later, standing.Approved)
}

// TestLeftBehind: a call that was approved and not sent is sent by whoever finds it; one whose time is over
// ends; one that was on its way with a gateway that is gone is given up.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	b := newBureau(t, refunds(1))
	approved, late, lost := b.open(t, time.Hour, "refunds"), b.open(t, 20*time.Millisecond, "refunds"), b.open(t, time.Hour, "refunds")
	must(t, b.Store.Vote(t.Context(), approved, approvals.Vote{By: "lead", Rules: []string{"refunds"}}))
	if _, err := b.Store.Decide(t.Context(), lost, approvals.Outcome{State: standing.Sending, Until: time.Now().Add(-time.Second)}); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	defer close(closed)
	go b.Run(closed)
	b.stands(t, approved, standing.Sent)
	b.stands(t, late, standing.Expired)
	b.stands(t, lost, standing.Lost)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		list, err := b.Store.Waiting(t.Context())
		must(t, err)
		if len(list) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still open: %v", list[0].Outcome)
		}
	}
	if len(b.sent) != 1 || b.sent[0] != approved.ID {
		t.Errorf("sent %v", b.sent)
	}
}

// TestStays: a token that is gone takes its owner's vote away; how people have signed in stays.
func TestStays(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	for v, want := range map[string]bool{"lead token": true, "gone token": false, "gone session": true} {
		by, method, _ := strings.Cut(v, " ")
		if got := b.Stays(approvals.Vote{By: by, Method: method}); got != want {
			t.Errorf("%s: %v", v, got)
		}
	}
}

// TestNotices: approvers hear of a call that waits, with all but its message; a receiver that is away for a
// moment is tried again.
func TestNotices(t *testing.T) {
	t.Parallel()
	got := make(chan map[string]any, 10)
	var tries atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/json" && tries.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var doc map[string]any
		if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
			t.Error(err)
		}
		doc["path"] = r.URL.Path
		got <- doc
	}))
	t.Cleanup(hook.Close)
	b := newBureau(t, refunds(1))
	b.Store.Configure(approval.Calls{Notify: []approval.Notify{
		{URL: secret.New(hook.URL + "/json")}, {URL: secret.New(hook.URL + "/slack"), Format: approval.FormatSlack},
	}, Wait: quantity.Duration(time.Second)})
	c := b.open(t, time.Hour, "refunds")
	c.Params = []byte(`{"message":"hush"}`)
	b.Begun(c)
	for range 2 {
		var doc map[string]any
		select {
		case doc = <-got:
		case <-time.After(20 * time.Second):
			t.Fatal("no notice came")
		}
		text, _ := json.Marshal(doc)
		switch doc["path"] {
		case "/slack":
			if s, _ := doc["text"].(string); !strings.HasPrefix(s, "alice asks billing for something that one of lead or cfo or alice has to approve, until ") ||
				!strings.HasSuffix(s, " https://console.example/ui/approvals/"+c.ID) {
				t.Errorf("slack got %s", text)
			}
		default:
			if doc["approval"] != c.ID || doc["caller"] != "alice" || doc["url"] != "https://console.example/ui/approvals/"+c.ID || strings.Contains(string(text), "hush") {
				t.Errorf("the hook got %s", text)
			}
		}
	}
}

// TestPrintable: what a reader of a reason prints steers no terminal.
func TestPrintable(t *testing.T) {
	t.Parallel()
	if got := printable("nö\x1b[2J\u202eno\nyes 🙂"); got != "nö [2J no yes 🙂" {
		t.Errorf("%q", got)
	}
}
