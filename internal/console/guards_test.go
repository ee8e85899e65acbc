package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// watch are guards that say what they were asked.
type watch struct {
	tried   verdict.GuardTrial
	drafted verdict.GuardDraft
	bounds  rules.ReplayBounds
	more    bool          // there are more calls than are looked at
	wait    bool          // a replay goes on until its time is over
	held    chan struct{} // what a replay waits for; nil for nothing
	err     error
}

func (g *watch) TryGuards(_ context.Context, t *verdict.GuardTrial) (*verdict.GuardTried, error) {
	g.tried = *t
	return &verdict.GuardTried{Phase: "request", Guards: []string{"keys"}, Findings: []verdict.GuardFinding{}, Document: []byte(`{}`)}, g.err
}

func (g *watch) ReplayGuards(ctx context.Context, d *verdict.GuardDraft, b rules.ReplayBounds) (*verdict.GuardReplay, error) {
	g.drafted, g.bounds = *d, b
	if g.held != nil {
		g.held <- struct{}{} // it reads
		<-g.held
	}
	if g.wait {
		<-ctx.Done()
		return nil, records.ErrBusy
	}
	return &verdict.GuardReplay{
		Calls: 3, More: g.more, NotCaptured: 2, Outcomes: []verdict.GuardOutcome{}, Guards: []verdict.GuardTally{}, Why: []verdict.Reason{},
		Changes: []verdict.GuardChange{{Seq: 7, Was: "passed", Now: "refused", Findings: []string{"keys: key"}}},
	}, g.err
}

// TestGuards: guards are shown with what the configuration leaves out, and without what it does not say.
func TestGuards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	want := `{"guards":[` +
		`{"name":"keys","use":"secrets","on":["request","answer","event"],"action":"refuse","mode":"enforce","agents":[],"conditions":{"groups":["finance"]},"settings":{}},` +
		`{"name":"names","use":"presidio","on":["request"],"action":"redact","mode":"shadow","agents":["billing"],"conditions":{},"settings":{"service":{"url":"https://presidio.example","token":"","score":0}}}]}`
	if got := w.ask("GET", "/api/v1/guards", nil); got.body != want {
		t.Error(cmp.Diff(want, got.body))
	}
}

// TestGuardFindings: a call counts once for each guard, kind, agent and caller that found or had something, by the
// worst that came of it there.
func TestGuardFindings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 2 })
	const found = `{"guard":%q,"on":"request","kind":%q,"count":%d,"action":%q%s}`
	of := func(seq int, principal string, findings ...string) reader.Entry {
		line := fmt.Appendf(nil, `{"seq":%d,"type":"call","time":"2026-11-22T13:00:0%dZ","principal":%q,"agent":"billing","guards":[%s]}`, seq, seq, principal, strings.Join(findings, ","))
		return reader.Entry{Seq: uint64(seq), Line: line} //nolint:gosec // small
	}
	w.ledger.calls = []reader.Entry{
		of(3, "alice", fmt.Sprintf(found, "keys", "key", 2, "refuse", ""), fmt.Sprintf(found, "accounts", "iban", 1, "redact", "")),
		of(2, "bob", fmt.Sprintf(found, "keys", "key", 1, "refuse", `,"shadow":true`), fmt.Sprintf(found, "keys", "token", 4, "redact", "")),
	}
	got := w.ask("GET", "/api/v1/guards/findings?window=15m", nil)
	for _, want := range []string{
		`"calls":2,"more":false,`,
		`"guards":[{"name":"keys","calls":2,"findings":7,"refused":1,"redacted":1,"recorded":0},{"name":"accounts","calls":1,"findings":1,"refused":0,"redacted":1,"recorded":0}]`,
		`"agents":[{"name":"billing","calls":2,"findings":8,"refused":1,"redacted":1,"recorded":0}]`,
		`"callers":[{"name":"alice","calls":1,"findings":3,"refused":1,"redacted":0,"recorded":0},{"name":"bob","calls":1,"findings":5,"refused":0,"redacted":1,"recorded":0}]`,
		`"kinds":[{"name":"key","calls":2,"findings":3,"refused":1,"redacted":0,"recorded":1},{"name":"iban",`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if q := w.ledger.asked; q.Guard != "*" || q.Type != "call" || q.Limit != 3 || q.Until.Sub(q.From) != 15*time.Minute {
		t.Errorf("asked %+v", q)
	}
	w.ledger.calls = append(w.ledger.calls, of(1, "eve", fmt.Sprintf(found, "keys", "key", 1, "report", "")))
	if got := w.ask("GET", "/api/v1/guards/findings", nil); !strings.Contains(got.body, `"since":"2026-11-22T13:00:02Z"`) || !strings.Contains(got.body, `"more":true`) || strings.Contains(got.body, "eve") {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/guards/findings?window=15m&since=2026-01-01T00:00:00Z", nil); got.status != http.StatusBadRequest {
		t.Error(got)
	}
}

// TestTryGuards: what is typed reaches the guards, and neither a record nor the log.
func TestTryGuards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { everyRole(c); c.ReadOnly = true })
	ask := func(body string) answer {
		return w.ask("POST", "/api/v1/guards/try", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+tokenOf(api.Operator))
			send(r, body)
		})
	}
	if got := ask(`{"agent":"a-1","phase":"answer","text":"canary-text","offline":true,"caller":{"subject":"alice"}}`); got.status != 200 || !strings.Contains(got.body, `"guards":["keys"]`) {
		t.Error(got)
	}
	if q := w.rules.watch.tried; q.Text != "canary-text" || q.Phase != "answer" || !q.Offline || q.Caller.Subject != "alice" {
		t.Errorf("asked %+v", q)
	}
	if got := ask(`{"agent":"a-1","txt":"canary-text"}`); !strings.Contains(got.body, `"code":"INVALID_QUESTION"`) || strings.Contains(got.body, "canary") {
		t.Error(got)
	}
	w.rules.watch.err = api.QuestionInvalid{Member: "message", Err: errors.New("want a text, or a JSON object")}
	if got := ask(`{"agent":"a-1","text":"canary-text"}`); got.status != 400 || !strings.Contains(got.body, `"detail":"message: want a text`) {
		t.Error(got)
	}
	if events, log := w.recorded(), w.log.String(); len(events) != 0 || strings.Contains(log, "canary") {
		t.Errorf("on record: %v, in the log: %s", events, log)
	}
}

// TestReplayGuards: guards look at captured content where that may be shown, on record, and within bounds.
func TestReplayGuards(t *testing.T) {
	t.Parallel()
	shut := newWorld(t, nil)
	if got := shut.ask("POST", "/api/v1/guards/replay", nil); got.status != http.StatusForbidden || !strings.Contains(got.body, `"code":"CONTENT_OFF"`) || len(shut.recorded()) != 0 {
		t.Error(got, shut.recorded())
	}
	w := newWorld(t, func(c *Config) {
		c.Content, c.Replay = true, Replay{Records: 50, Sample: 5, Time: quantity.Duration(20 * time.Millisecond), Bytes: 1 << 20}
	})
	ask := func(body string) answer {
		return w.ask("POST", "/api/v1/guards/replay", func(r *http.Request) { send(r, body) })
	}
	got := ask(`{"guards":"[{name: canary}]","since":"2026-11-22T00:00:00Z","records":20}`)
	if got.status != 200 || !strings.Contains(got.body, `"calls":3,`) || !strings.Contains(got.body, `"notCaptured":2`) {
		t.Error(got)
	}
	if want := (rules.ReplayBounds{Records: 20, Sample: 5, Bytes: 1 << 20}); w.rules.watch.bounds != want || w.rules.watch.drafted.Guards != "[{name: canary}]" {
		t.Errorf("asked %+v within %+v", w.rules.watch.drafted, w.rules.watch.bounds)
	}
	if events := w.recorded(); len(events) != 1 || events[0]["event"] != "content.replayed" || events[0]["since"] != "2026-11-22T00:00:00Z" || events[0]["records"] != "20" || strings.Contains(fmt.Sprint(events), "canary") {
		t.Errorf("on record: %v", events)
	}
	w.rules.watch.more = true
	for body, want := range map[string]string{
		`{"guards":"[]","records":51}`: "admin.replay.records",
		`{"guards":"[]"}`:              "admin.replay.records",
		`{"guards":"[]","records":-1}`: "records: want a number from 1",
	} {
		if got := ask(body); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	for _, tt := range []struct {
		err    error
		status int
		says   string
	}{
		{rules.DraftInvalid{Line: 3, Err: errors.New("draft:3:5: no")}, 400, `"line":3`},
		{fmt.Errorf("%w: 9 calls", rules.ErrReplayBytes), 400, "1MiB was captured of these calls (admin.replay.bytes)"},
		{records.ErrBusy, 503, "BUSY"},
	} {
		w.rules.watch.err = tt.err
		if got := ask(`{"guards":"[]","records":3}`); got.status != tt.status || !strings.Contains(got.body, tt.says) {
			t.Errorf("%v: %s", tt.err, got)
		}
	}
	w.rules.watch.err, w.rules.watch.wait = nil, true
	if got := ask(`{"guards":"[]"}`); got.status != http.StatusBadRequest || !strings.Contains(got.body, "20ms were not enough") {
		t.Error(got)
	}
	w.unrecorded = true
	if got := ask(`{"guards":"[]"}`); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "UNRECORDED") {
		t.Error(got)
	}
}

// TestReplayGuardsOneAtATime: a second replay is told to wait.
func TestReplayGuardsOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Content = true })
	w.rules.watch.held = make(chan struct{})
	done := make(chan answer)
	go func() { done <- w.ask("POST", "/api/v1/guards/replay", nil) }()
	<-w.rules.watch.held
	if got := w.ask("POST", "/api/v1/guards/replay", nil); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "one at a time") {
		t.Error(got)
	}
	w.rules.watch.held <- struct{}{}
	if got := <-done; got.status != 200 {
		t.Error(got)
	}
}
