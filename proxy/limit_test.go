package proxy_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
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
			w := limited(t, tt.limits, func(s *setup) {
				if tt.lost {
					s.counts = lost{}
				}
			})
			calls := tt.first
			for range tt.first {
				w.speak("carol", w.base, rpc10, ask{method: wire.SendMessage}).ok(t, name)
			}
			w.agent.take()
			for _, s := range sides {
				got := w.speak("carol", w.base, s, ask{method: wire.SendMessage, task: taskFor(s)})
				what := fmt.Sprintf("%s over %s", name, s)
				if kind := tt.kind; s == grpc03 && kind == wire.TooLarge {
					got.refused(t, what, wire.RateLimited) // 0.3 has no more than the status
				} else {
					got.refused(t, what, kind)
				}
				if got.err == nil || !strings.Contains(got.err.Message, tt.text) {
					t.Errorf("%s: %+v, want %q", what, got.err, tt.text)
				}
				if s.Binding == wire.GRPC && got.code != tt.rpc || s.Binding != wire.GRPC && got.status != tt.kind.HTTP {
					t.Errorf("%s: status %d, of gRPC %d", what, got.status, got.code)
				}
				headed(t, what, got, "Retry-After", tt.retry)
				headed(t, what, got, "RateLimit", tt.standing)
				w.agent.silent(t, what)
				calls++
				r := w.lastRecord(calls)
				if text(r["limit"]) != tt.limitName || r["reason"] != tt.kind.Reason || r["agent"] != "rec" {
					t.Errorf("%s: record %v", what, r)
				}
			}
			if n := w.measured("rate_limited_total")[fmt.Sprintf("limit=%q", tt.limitName)]; tt.limitName != "" && n != "7" {
				t.Errorf("%s: metrics %v", name, w.measured("rate_limited_total"))
			}
		})
	}
}

// headed holds a header to a pattern; "" is for none.
func headed(t *testing.T, what string, got said, name, pattern string) {
	t.Helper()
	value := got.header.Get(name)
	if pattern == "" && value != "" || !regexp.MustCompile(pattern).MatchString(value) {
		t.Errorf("%s: %s is %q, want %q", what, name, value, pattern)
	}
}

// text is a member that may be absent.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// TestLimitStandings: answers of every side, streams too, say where the caller stands.
// One caller's calls do not count for another.
func TestLimitStandings(t *testing.T) {
	t.Parallel()
	w := limited(t, `each: [{name: day, quota: {units: 100, per: month}}, {name: hidden, quota: {units: 100}, mode: shadow}]`)
	left := 100
	for _, s := range sides {
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			left--
			got := w.speak("carol", w.base, s, ask{method: method, task: taskFor(s)})
			what := fmt.Sprintf("%s over %s", method, s)
			got.ok(t, what)
			headed(t, what, got, "RateLimit", fmt.Sprintf(`^"day";r=%d;t=\d+$`, left))
			headed(t, what, got, "RateLimit-Policy", `^"day";q=100;w=\d+$`)
		}
	}
	other := w.speak("dave", w.base, rpc10, ask{method: wire.SendMessage})
	headed(t, "another caller", other, "RateLimit", `^"day";r=99;t=\d+$`)
}

// TestLimitsTellNothing: who has no business on an agent reads of no limit and uses up
// none, and neither does a call that the rules deny.
func TestLimitsTellNothing(t *testing.T) {
	t.Parallel()
	w := limited(t, `each: [{name: all, key: [], rate: {units: 1, per: 1h}}]`, func(s *setup) {
		s.policy = everyone()
		s.policy.Rules[0].Subjects = []string{"alice", "bob"}
		s.policy.Rules = append(s.policy.Rules, denyMethod(wire.CancelTask, "bob"))
	})
	for range 3 {
		wantStatus(t, "a stranger", w.call("mallory", "SendMessage", message("")), 404)
		wantStatus(t, "a denied call", w.call("bob", "CancelTask", `{"id":"none"}`), 200, 403, 404)
	}
	wantStatus(t, "the first", w.call("alice", "SendMessage", message("")), 200)
	w.agent.take()
	wantStatus(t, "the second", w.call("bob", "SendMessage", message("")), 429)
	got := w.call("mallory", "SendMessage", message(""))
	wantStatus(t, "a stranger", got, 404)
	if got.header.Get("RateLimit") != "" || got.header.Get("Retry-After") != "" {
		t.Errorf("a stranger reads %v", got.header)
	}
	w.agent.silent(t, "refused calls")
}

// denyMethod is a rule against one method for one caller.
func denyMethod(method, who string) policy.Rule {
	return policy.Rule{Name: "deny", Effect: "deny", Methods: []string{method}, Subjects: []string{who}}
}

// TestLimitShadow: what a shadow limit would refuse is recorded, beside what shadow rules
// would.
func TestLimitShadow(t *testing.T) {
	t.Parallel()
	w := limited(t, `each: [{name: tried, rate: {units: 1, per: 1h}, bytes: 4B, mode: shadow}]`, func(s *setup) {
		rule := denyMethod(wire.SendMessage, "alice")
		rule.Name, rule.Mode = "shade", "shadow"
		s.policy.Rules = append(s.policy.Rules, rule)
	})
	for n := range 2 {
		wantStatus(t, "a shadow", w.call("alice", "SendMessage", message("")), 200)
		r := w.lastRecord(n + 1)
		if joined(r["shadow"]) != "deny shade,tried" || r["limit"] != nil {
			t.Errorf("record %v", r)
		}
	}
	if got := w.measured("rate_limited_total"); len(got) > 0 && got[`limit="tried"`] != "0" {
		t.Errorf("metrics %v", got)
	}
}

// TestLimitsWithoutStore: while the state is away each gateway counts by itself, and says
// so, or lets calls pass.
func TestLimitsWithoutStore(t *testing.T) {
	t.Parallel()
	for onLoss, last := range map[string]int{"local": 429, "allow": 200} {
		w := limited(t, "onLoss: "+onLoss+"\neach: [{name: calm, rate: {units: 2, per: 1h}}]", func(s *setup) {
			s.counts = lost{}
		})
		for range 2 {
			wantStatus(t, onLoss, w.call("alice", "SendMessage", message("")), 200)
		}
		wantStatus(t, onLoss, w.call("alice", "SendMessage", message("")), last)
		if n := w.measured("limits_uncounted_total")[`limit="calm"`]; n != "3" {
			t.Errorf("%s: metrics %v", onLoss, w.measured("limits_uncounted_total"))
		}
	}
}
