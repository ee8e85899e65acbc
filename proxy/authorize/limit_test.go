package authorize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestLimitRefusals: what a caller reads when a limit is reached, on every side, and that
// the agent hears of nothing.
func TestLimitRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limits string
		lost   bool
		first  int // calls that pass

		kind      *wire.Kind
		rpc       int // gRPC status
		text      string
		retry     string // of Retry-After
		standing  string // of RateLimit
		limitName string
	}{
		"rate": {
			limits: `each: [{name: calm, rate: {units: 1, per: 1h}}]`, first: 1,
			kind: wire.RateLimited, rpc: 8, text: "too many calls in a short time (limit calm)",
			retry: `^3(600|5\d\d)$`, standing: `^"calm";r=0;t=3(600|5\d\d)$`, limitName: "calm",
		},
		"quota": {
			limits: `each: [{name: cheap, quota: {units: 2, per: month}, cost: {methods: {SendMessage: 2}}}]`, first: 1,
			kind: wire.RateLimited, rpc: 8, text: "the calls of this month are used up (limit cheap)",
			retry: `^\d+$`, standing: `^"cheap";r=0;t=\d+$`, limitName: "cheap",
		},
		"size": {
			limits: `each: [{name: brief, methods: [SendMessage], bytes: 4B}]`,
			kind:   wire.TooLarge, rpc: 8, text: "the request is too large (limit brief)", limitName: "brief",
		},
		"hidden": {
			limits: "headers: off\neach: [{name: calm, rate: {units: 1, per: 1h}}]", first: 1,
			kind: wire.RateLimited, rpc: 8, text: "too many calls in a short time (limit calm)",
			retry: `^3(600|5\d\d)$`, limitName: "calm",
		},
		"everybody's": {
			limits: `each: [{name: all, key: [], rate: {units: 1, per: 1h}}]`, first: 1,
			kind: wire.RateLimited, rpc: 8, text: "too many calls in a short time (limit all)",
			retry: `^3(600|5\d\d)$`, limitName: "all",
		},
		"uncountable": {
			limits: "onLoss: deny\neach: [{name: calm, rate: {units: 1000, per: 1h}}]", lost: true,
			kind: wire.Unavailable, rpc: 14, text: "the call cannot be counted at the moment", retry: `^1$`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewLimitedGateway(t, tt.limits, func(s *proxytest.Setup) {
				if tt.lost {
					s.Counts = lost{}
				}
			})
			calls := tt.first
			for range tt.first {
				w.Speak("carol", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, name)
			}
			w.Agent.Take()
			for _, s := range proxytest.Sides {
				got := w.Speak("carol", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s)})
				what := fmt.Sprintf("%s over %s", name, s)
				if kind := tt.kind; s == proxytest.GRPC03 && kind == wire.TooLarge {
					got.Refused(t, what, wire.RateLimited) // 0.3 has no more than the status
				} else {
					got.Refused(t, what, kind)
				}
				if got.Err == nil || !strings.Contains(got.Err.Message, tt.text) {
					t.Errorf("%s: %+v, want %q", what, got.Err, tt.text)
				}
				if s.Binding == wire.GRPC && got.Code != tt.rpc || s.Binding != wire.GRPC && got.Status != tt.kind.HTTP {
					t.Errorf("%s: status %d, of gRPC %d", what, got.Status, got.Code)
				}
				proxytest.WantHeader(t, what, got, "Retry-After", tt.retry)
				proxytest.WantHeader(t, what, got, "RateLimit", tt.standing)
				w.Agent.Silent(t, what)
				calls++
				r := lastRecord(w, calls)
				if proxytest.TextOf(r["limit"]) != tt.limitName || r["reason"] != tt.kind.Reason || r["agent"] != "rec" {
					t.Errorf("%s: record %v", what, r)
				}
			}
			if n := w.Measured("rate_limited_total")[fmt.Sprintf("limit=%q", tt.limitName)]; tt.limitName != "" && n != "7" {
				t.Errorf("%s: metrics %v", name, w.Measured("rate_limited_total"))
			}
		})
	}
}

// TestLimitStandings: answers of every side, streams too, say where the caller stands.
// One caller's calls do not count for another.
func TestLimitStandings(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, `each: [{name: day, quota: {units: 100, per: month}}, {name: hidden, quota: {units: 100}, mode: shadow}]`)
	left := 100
	for _, s := range proxytest.Sides {
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			left--
			got := w.Speak("carol", w.Base, s, proxytest.Ask{Method: method, Task: proxytest.NewTaskID(s)})
			what := fmt.Sprintf("%s over %s", method, s)
			got.OK(t, what)
			proxytest.WantHeader(t, what, got, "RateLimit", fmt.Sprintf(`^"day";r=%d;t=\d+$`, left))
			proxytest.WantHeader(t, what, got, "RateLimit-Policy", `^"day";q=100;w=\d+$`)
		}
	}
	other := w.Speak("dave", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage})
	proxytest.WantHeader(t, "another caller", other, "RateLimit", `^"day";r=99;t=\d+$`)
}

// TestLimitsTellNothing: who has no business on an agent reads of no limit and uses up
// none, and neither does a call that the rules deny.
func TestLimitsTellNothing(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, `each: [{name: all, key: [], rate: {units: 1, per: 1h}}]`, func(s *proxytest.Setup) {
		s.Policy = proxytest.Everyone()
		s.Policy.Rules[0].Subjects = []string{"alice", "bob"}
		s.Policy.Rules = append(s.Policy.Rules, denyMethod(wire.CancelTask, "bob"))
	})
	for range 3 {
		proxytest.WantStatus(t, "a stranger", w.Call("mallory", "SendMessage", proxytest.Message("")), 404)
		proxytest.WantStatus(t, "a denied call", w.Call("bob", "CancelTask", `{"id":"none"}`), 200, 403, 404)
	}
	proxytest.WantStatus(t, "the first", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
	w.Agent.Take()
	proxytest.WantStatus(t, "the second", w.Call("bob", "SendMessage", proxytest.Message("")), 429)
	got := w.Call("mallory", "SendMessage", proxytest.Message(""))
	proxytest.WantStatus(t, "a stranger", got, 404)
	if got.Header.Get("RateLimit") != "" || got.Header.Get("Retry-After") != "" {
		t.Errorf("a stranger reads %v", got.Header)
	}
	w.Agent.Silent(t, "refused calls")
}

// denyMethod is a rule against one method for one caller.
func denyMethod(method, who string) policy.Rule {
	return policy.Rule{Name: "deny", Effect: "deny", Methods: []string{method}, Subjects: []string{who}}
}

// TestLimitShadow: what a shadow limit would refuse is recorded, beside what shadow rules
// would.
func TestLimitShadow(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, `each: [{name: tried, rate: {units: 1, per: 1h}, bytes: 4B, mode: shadow}]`, func(s *proxytest.Setup) {
		rule := denyMethod(wire.SendMessage, "alice")
		rule.Name, rule.Mode = "shade", "shadow"
		s.Policy.Rules = append(s.Policy.Rules, rule)
	})
	for n := range 2 {
		proxytest.WantStatus(t, "a shadow", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
		r := lastRecord(w, n+1)
		if proxytest.JoinedText(r["shadow"]) != "deny shade,tried" || r["limit"] != nil {
			t.Errorf("record %v", r)
		}
	}
	if got := w.Measured("rate_limited_total"); len(got) > 0 && got[`limit="tried"`] != "0" {
		t.Errorf("metrics %v", got)
	}
}

// TestLimitsWithoutStore: while the state is away each gateway counts by itself, and says
// so, or lets calls pass.
func TestLimitsWithoutStore(t *testing.T) {
	t.Parallel()
	for onLoss, last := range map[string]int{"local": 429, "allow": 200} {
		w := proxytest.NewLimitedGateway(t, "onLoss: "+onLoss+"\neach: [{name: calm, rate: {units: 2, per: 1h}}]", func(s *proxytest.Setup) {
			s.Counts = lost{}
		})
		for range 2 {
			proxytest.WantStatus(t, onLoss, w.Call("alice", "SendMessage", proxytest.Message("")), 200)
		}
		proxytest.WantStatus(t, onLoss, w.Call("alice", "SendMessage", proxytest.Message("")), last)
		if n := w.Measured("limits_uncounted_total")[`limit="calm"`]; n != "3" {
			t.Errorf("%s: metrics %v", onLoss, w.Measured("limits_uncounted_total"))
		}
	}
}
