package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// Replay implements Policy.
func (b *rulebook) Replay(ctx context.Context, d *verdict.Draft, bounds rules.ReplayBounds) (*verdict.Replayed, error) {
	b.drafted, b.bounds = *d, bounds
	if b.held != nil {
		b.held <- struct{}{} // it reads
		<-b.held
	}
	if b.wait {
		<-ctx.Done()
		return nil, records.ErrBusy
	}
	return &verdict.Replayed{Calls: 3, More: b.more, Touched: []verdict.Touched{}, Changes: []verdict.Redecided{{Seq: 7, Was: "allow", Now: "deny", To: "none"}}}, b.err
}

// Check implements Policy.
func (b *rulebook) Check(text string) (*verdict.Checked, error) {
	b.drafted.Rules = text
	return &verdict.Checked{Mistakes: slices.Repeat([]verdict.Mistake{{Line: 3, Column: 5, Text: "no"}}, 60), Warnings: []string{"odd"}}, b.err
}

// TestCheckRules: what is wrong with a draft is the answer, as far as somebody reads it.
func TestCheckRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	ask := func(body string) answer {
		return w.ask("POST", "/api/v1/policy/check", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer))
			send(r, body)
		})
	}
	got := ask(`{"rules":"[{name: none}]"}`)
	if got.status != 200 || strings.Count(got.body, `{"line":3,"column":5,"text":"no"}`) != 50 || w.rules.drafted.Rules != "[{name: none}]" {
		t.Error(got)
	}
	for body, want := range map[string]string{
		`{"rule":""}`: "INVALID_QUESTION",
		`{"rules":"` + strings.Repeat("a", 300<<10) + `"}`: "TOO_LARGE",
	} {
		if got := ask(body); !strings.Contains(got.body, `"code":"`+want+`"`) {
			t.Errorf("%.60s: %s, want %s", body, got, want)
		}
	}
	if events := w.recorded(); len(events) != 0 {
		t.Errorf("on record: %v", events)
	}
}

// replays is a world to ask for replays in.
func replays(t *testing.T, change func(*Config)) (*world, func(body string) answer) {
	t.Helper()
	w := newWorld(t, func(c *Config) {
		everyRole(c)
		c.ReadOnly = true
		if change != nil {
			change(c)
		}
	})
	return w, func(body string) answer {
		return w.ask("POST", "/api/v1/policy/replay", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer))
			send(r, body)
		})
	}
}

// TestReplay: a draft is read strictly, whoever may look may ask, and nothing is on record.
func TestReplay(t *testing.T) {
	t.Parallel()
	w, ask := replays(t, nil)
	got := ask(`{"rules":"[{name: none, effect: deny}]","since":"2026-01-01T00:00:00Z","records":5}`)
	if got.status != 200 || !strings.Contains(got.body, `"calls":3,"more":false`) || !strings.Contains(got.body, `"seq":7,`) {
		t.Error(got)
	}
	if d := w.rules.drafted; d.Rules != "[{name: none, effect: deny}]" || d.Since.Year() != 2026 || w.rules.bounds != (rules.ReplayBounds{Records: 5, Sample: usualSample, Bytes: usualContent}) {
		t.Errorf("asked %+v with %+v", d, w.rules.bounds)
	}
	for body, want := range map[string]string{
		`{"rules":"","limit":1}`:    "INVALID_QUESTION",
		`[]`:                        "INVALID_QUESTION",
		`{"rules":"","records":-1}`: "INVALID_QUESTION",
		`{"rules":"","since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`: "INVALID_QUESTION",
		`{"rules":"` + strings.Repeat("a", 300<<10) + `"}`:                           "TOO_LARGE",
	} {
		if got := ask(body); !strings.Contains(got.body, `"code":"`+want+`"`) {
			t.Errorf("%.60s: %s, want %s", body, got, want)
		}
	}
	w.rules.err = rules.DraftInvalid{Line: 3, Err: errors.New("draft:3:5: rules[0].effect: no")}
	if got := ask(`{"rules":"x"}`); got.status != 400 || !strings.Contains(got.body, `"code":"INVALID_DRAFT","detail":"draft:3:5: rules[0].effect: no","line":3`) {
		t.Error(got)
	}
	if events := w.recorded(); len(events) != 0 {
		t.Errorf("on record: %v", events)
	}
}

// TestReplayLimits: what is more than a limit is refused, by the limit's name.
func TestReplayLimits(t *testing.T) {
	t.Parallel()
	bounds := func(time time.Duration) func(*Config) {
		return func(c *Config) { c.Replay = Replay{Records: 10, Time: quantity.Duration(time), Sample: 2} }
	}
	w, ask := replays(t, bounds(time.Millisecond))
	refused := func(body, name string) {
		t.Helper()
		if got := ask(body); got.status != 400 || !strings.Contains(got.body, `"code":"REPLAY_LIMIT"`) || !strings.Contains(got.body, name) {
			t.Errorf("%s: %s, want %s", body, got, name)
		}
	}
	refused(`{"rules":"","records":11}`, "admin.replay.records")
	w.rules.wait = true
	refused(`{"rules":""}`, "1ms were not enough to replay that (admin.replay.time)")
	w, ask = replays(t, bounds(10*time.Second))
	w.rules.more = true
	refused(`{"rules":""}`, "there are more than 10 calls (admin.replay.records)")
	if got := ask(`{"rules":"","records":10}`); got.status != 200 || w.rules.bounds != (rules.ReplayBounds{Records: 10, Sample: 2, Bytes: usualContent}) {
		t.Error(got, w.rules.bounds)
	}
	w.rules.held = make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() { ask(`{"rules":"","records":10}`) })
	<-w.rules.held
	if got := ask(`{"rules":""}`); got.status != 503 || !strings.Contains(got.body, `"code":"BUSY"`) {
		t.Error(got)
	}
	w.rules.held <- struct{}{}
	first.Wait()
	for want, r := range map[string]Replay{
		"replay.records": {Records: -1}, "replay.time": {Time: quantity.Duration(time.Minute)}, "replay.sample": {Sample: mostSample + 1},
	} {
		if err := r.validate(); err == nil || !strings.HasPrefix(err.Error(), want+": ") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
