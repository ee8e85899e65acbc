package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// rulebook is a Policy.
type rulebook struct {
	watch

	asked verdict.Question
	err   error

	drafted verdict.Draft
	bounds  rules.ReplayBounds
	wait    bool          // a replay goes on until its time is over
	held    chan struct{} // what a replay waits for; nil for nothing
	more    bool          // there are more calls than are looked at
}

func (b *rulebook) Explain(_ context.Context, q *verdict.Question) (*verdict.Explanation, error) {
	b.asked = *q
	if b.err != nil {
		return nil, b.err
	}
	cost := int64(1)
	return &verdict.Explanation{
		Verdict: verdict.Denied, Rule: "no-interns", Reason: "denied by a rule", Error: "DENIED", Agent: q.Agent, Method: "SendMessage",
		Caller: verdict.Caller{Subject: "alice", Issuer: "api-keys", Claims: map[string]any{"level": 7.0}},
		StepUp: &verdict.SignIn{ACR: []string{"gold"}},
		Course: verdict.Course{
			Rules:  []verdict.Step{{Rule: "no-interns", Effect: "deny", Matches: true}, {Rule: "team", Effect: "allow", Failed: "groups: not a member"}},
			Limits: []verdict.Allowance{{Limit: "calls", What: "rate", Units: 10, Cost: &cost}},
		},
	}, nil
}

func (b *rulebook) Limits() ([]rules.CallerLimit, string) {
	return []rules.CallerLimit{{Name: "per-caller", Key: []string{"principal"}, Bounds: []rules.CallerBound{{What: "concurrency", Units: 2}}}}, "deny"
}

func (b *rulebook) Hits() rules.Hits {
	return rules.Hits{Since: time.Unix(1, 0).UTC(), Rules: []rules.Hit{{Rule: "team", Allow: 3, Shadow: 1}}}
}

func (b *rulebook) RulePlace(name string) string {
	return map[string]string{"finance": "config.yaml:12", "b": "rules.yaml:3"}[name]
}

// TestExplain: a question is read strictly, whoever may look may ask, and nothing is on record.
func TestExplain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { everyRole(c); c.ReadOnly = true })
	ask := func(body string) answer {
		return w.ask("POST", "/api/v1/policy/explain", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer))
			send(r, body)
		})
	}
	got := ask(`{"agent":"billing","skill":"refund","caller":{"subject":"alice","groups":["interns"],"claims":{"level":7}},"message":{"parts":[]}}`)
	if got.status != 200 || !strings.Contains(got.body, `"verdict":"denied","rule":"no-interns"`) {
		t.Error(got)
	}
	if q := w.rules.asked; q.Agent != "billing" || q.Skill != "refund" || q.Caller.Groups[0] != "interns" || string(q.Caller.Claims["level"]) != "7" || q.Message == nil {
		t.Errorf("asked %+v", q)
	}
	for body, want := range map[string]string{
		`{"agent":"billing","agents":["travel"]}`: "INVALID_QUESTION",
		`{"agent":"billing","agent":"travel"}`:    "INVALID_QUESTION",
		`[]`:                                      "INVALID_QUESTION",
		`{"agent":"` + strings.Repeat("a", 300<<10) + `"}`: "TOO_LARGE",
	} {
		if got := ask(body); !strings.Contains(got.body, `"code":"`+want+`"`) {
			t.Errorf("%.60s: %s, want %s", body, got, want)
		}
	}
	w.rules.err = api.QuestionInvalid{Member: "agent", Err: errors.New(`there is no agent "billing"`)}
	if got := ask(`{"agent":"billing"}`); got.status != 400 || !strings.Contains(got.body, `"detail":"agent: there is no agent \"billing\""`) {
		t.Error(got)
	}
	if events := w.recorded(); len(events) != 0 {
		t.Errorf("on record: %v", events)
	}
}

// TestHits: how often rules decided.
func TestHits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	want := `{"since":"1970-01-01T00:00:01Z","rules":[{"rule":"team","allow":3,"deny":0,"error":0,"shadow":1}]}`
	if got := w.ask("GET", "/api/v1/policy/hits", nil); got.body != want {
		t.Errorf("%s, want %s", got, want)
	}
}
