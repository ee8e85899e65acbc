package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/console/overview"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/telemetry/history"
)

// counts are what the history of a test reads next.
type counts struct {
	mu   sync.Mutex
	next history.Sample
}

func (c *counts) read() history.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.next
	c.next = history.Sample{Streams: s.Streams, Webhooks: s.Webhooks}
	return s
}

func (c *counts) set(s history.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = s
}

// overviewOf is the answer of the operation overview to a query, without a listener: time is the
// test's own.
func overviewOf(t *testing.T, s *api.Screen, query string) (o overview.Overview) {
	t.Helper()
	op := &s.Operations[0]
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/overview?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &api.Call{Request: r, Operation: op}
	if err := c.Read(); err != nil {
		t.Fatal(err)
	}
	answer, err := op.Answer(c)
	if err != nil {
		t.Fatal(err)
	}
	return answer.(overview.Overview)
}

// some are a fleet of three agents.
type some struct{ *world }

// TestOverview: calls, rates and times are those of the time that was asked for, and what is open
// is what is open now.
func TestOverview(t *testing.T) {
	t.Parallel()
	w := &world{fleet: map[string]string{"a-1": "", "a-2": "", "a-3": ""}}
	synctest.Test(t, func(t *testing.T) {
		var c counts
		past := history.New([]float64{.1, .2}, c.read)
		s := overview.Screen(past, some{w}, "https://grafana.example/d/gateway")
		closed, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			past.Run(closed)
		}()
		time.Sleep(2 * time.Second)
		c.set(history.Sample{Calls: 30, Unwell: 9, Denied: 6, Took: []uint64{10, 10, 0}, Streams: 5, Webhooks: 2})
		time.Sleep(28 * time.Second)
		got := overviewOf(t, &s, "window=15m")
		if got.Calls != 30 || got.Denied != 6 || got.Failed != 3 || got.Rate != 1 || got.P50 != 100 || got.P95 != 190 || got.Watched != 30 {
			t.Errorf("%+v", got)
		}
		if got.Streams != 5 || got.Webhooks != 2 || got.Every != 10 || len(got.Steps) < 90 || got.Dashboards != "https://grafana.example/d/gateway" || !got.Counted {
			t.Errorf("%+v", got)
		}
		if st := got.Steps[len(got.Steps)-3]; st.Calls != 30 || st.Watched != 10 || st.Streams != 5 || st.P99 != 198 {
			t.Errorf("%+v", st)
		}
		time.Sleep(2 * time.Hour)
		if got := overviewOf(t, &s, ""); got.Calls != 0 || got.Watched < 3500 || got.P50 != 0 || got.Streams != 5 {
			t.Errorf("an hour later: %+v", got)
		}
		since := time.Now().Add(-121 * time.Minute).UTC().Format(time.RFC3339)
		until := time.Now().Add(-119 * time.Minute).UTC().Format(time.RFC3339)
		if got := overviewOf(t, &s, "since="+since+"&until="+until); got.Calls != 30 || got.Streams != 5 || got.Every != 60 {
			t.Errorf("between two times: %+v", got)
		}
		close(closed)
		<-done
	})
}

// All implements fleet.Agents.
func (s some) All(ctx context.Context) ([]fleet.Agent, error) {
	all, err := s.world.All(ctx)
	for i := range all {
		if all[i].State = "serving"; i == 2 {
			all[i].State, all[i].Served = "", false
		}
	}
	return all, err
}

// TestOverviewServed: the answer is as documented, agents are counted by state, and times that
// there cannot be are errors.
func TestOverviewServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Dashboards = "http://grafana.example/" })
	if got := w.ask("GET", "/api/v1/overview", nil); got.status != http.StatusOK || !strings.Contains(got.body, `"agents":[{"agents":1}]`) ||
		!strings.Contains(got.body, `"dashboards":"http://grafana.example/"`) || !strings.Contains(got.body, `"counted":true`) {
		t.Error(got)
	}
	for query, want := range map[string]string{
		"window=2h":       "window must be",
		"since=yesterday": "since must be a time as 2026-01-02T15:04:05Z",
		"since=0001-01-01T00:00:00Z&until=0001-01-01T00:00:00Z": "since is not before until",
		"until=2026-01-01T00:00:00Z":                            "until is there without since",
		"since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z": "since is not before until",
		"since=2026-01-01T00:00:00Z&window=1h":                  "window and since exclude each other",
	} {
		for _, path := range []string{"overview", "callers"} {
			if got := w.ask("GET", "/api/v1/"+path+"?"+query, nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
				t.Errorf("%s?%s: %s", path, query, got)
			}
		}
	}
	if list := overviewOf(t, new(overview.Screen(nil, some{&world{fleet: map[string]string{"a": "", "b": "", "c": ""}}}, "")), ""); list.Counted ||
		fmt.Sprint(list.Agents) != "[{ 1} {serving 2}]" {
		t.Errorf("without a history: %+v", list)
	}
	w.away = records.ErrBusy
	if got := w.ask("GET", "/api/v1/callers", nil); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
}

// TestTopCallers: calls are counted by who made them, no more than admin.map.records, which is
// said, and nothing else of them is told.
func TestTopCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 5 })
	for i, of := range []string{`"bob","decision":"deny"`, `"alice"`, `"bob"`, `""`, `"bob","decision":"error","cause":"canary"`, `"eve"`, `"eve"`} {
		w.ledger.calls = append(w.ledger.calls, reader.Entry{Seq: uint64(9 - i), Line: fmt.Appendf(nil, //nolint:gosec // small
			`{"type":"call","time":"2026-01-01T00:00:%02dZ","principal":%s}`, 9-i, of)})
	}
	got := w.ask("GET", "/api/v1/callers?since=2025-12-31T00:00:00Z&until=2026-01-02T00:00:00Z&top=2", nil)
	if want := (index.Query{Type: "call", From: w.ledger.asked.From, Until: w.ledger.asked.Until, Limit: 6}); w.ledger.asked != want || want.From.Day() != 31 || want.Until.Day() != 2 {
		t.Errorf("%+v", w.ledger.asked)
	}
	var answer records.TopCallers
	if err := json.Unmarshal([]byte(got.body), &answer, json.MatchCaseInsensitiveNames(true)); err != nil || got.status != http.StatusOK || strings.Contains(got.body, "canary") {
		t.Fatal(got, err)
	}
	if fmt.Sprint(answer.Callers) != "[{bob 3 1 1} { 1 0 0}]" || !answer.More || answer.Counted != 5 || answer.All != 3 || answer.Since.Second() != 5 {
		t.Errorf("%+v", answer)
	}
	w.ledger.calls = []reader.Entry{}
	if got := w.ask("GET", "/api/v1/callers", nil); !strings.Contains(got.body, `"callers":[]`) {
		t.Error(got)
	}
}

// TestKnownValues: a field is completed with what the newest records have, at most admin.map.records of
// them, and nothing else of them is told. A limit that refused a call stands where the rule does.
func TestKnownValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 60 })
	for i := range 60 {
		of := fmt.Sprintf(`"call","principal":"p-%d","rule":"r"`, i)
		switch i {
		case 0:
			of = `"call","principal":"Bob","rule":"r","limit":"policy.limits.calls","decision":"deny","cause":"canary"`
		case 1:
			of = `"event","event":"push.drop","attrs":{"principal":"Bob"}`
		}
		w.ledger.calls = append(w.ledger.calls, reader.Entry{Seq: uint64(99 - i), Line: fmt.Appendf(nil, //nolint:gosec // small
			`{"type":%s,"time":"2026-01-01T00:00:00Z"}`, of)})
	}
	for query, want := range map[string]string{
		"field=caller&contains=bo": `{"values":[{"value":"Bob","records":2}],"more":false,"counted":60}`,
		"field=rule":               `{"values":[{"value":"r","records":58},{"value":"policy.limits.calls","records":1}],"more":false,"counted":60}`,
		"field=event":              `{"values":[{"value":"push.drop","records":1}],"more":false,"counted":60}`,
		"field=skill":              `{"values":[],"more":false,"counted":60}`,
	} {
		if got := w.ask("GET", "/api/v1/audit/values?"+query, nil); got.status != http.StatusOK || got.body != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	var answer struct {
		Values []struct{ Value string }
		More   bool
	}
	got := w.ask("GET", "/api/v1/audit/values?field=caller", nil)
	if err := json.Unmarshal([]byte(got.body), &answer, json.MatchCaseInsensitiveNames(true)); err != nil || len(answer.Values) != 50 || !answer.More || answer.Values[0].Value != "Bob" {
		t.Error(got, err)
	}
	if w.ledger.asked != (index.Query{Limit: 60}) {
		t.Errorf("%+v", w.ledger.asked)
	}
	for query, want := range map[string]string{"": "field", "field=task": "field must be agent or caller"} {
		if got := w.ask("GET", "/api/v1/audit/values?"+query, nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// TestChanges: events of each kind are asked for, and the newest of all of them are told.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 9 {
		seq := 20 - i
		line := []string{
			`{"event":"config.reloaded"`, `{"event":"card.changed","attrs":{"agent":"billing","digest":"canary"}`,
			`{"event":"key.revoked","attrs":{"key_id":"robot","who":"ops","outcome":"failed"}`, `{"event":"admin.login","attrs":{"who":"canary"}`,
		}[i%4]
		w.ledger.calls = append(w.ledger.calls, reader.Entry{Seq: uint64(seq), Line: fmt.Appendf(nil, `%s,"seq":%d,"time":"2026-01-01T00:00:%02dZ"}`, line, seq, seq)}) //nolint:gosec // small
	}
	got := w.ask("GET", "/api/v1/changes?until=2026-01-02T00:00:00Z&top=4", nil)
	var answer struct {
		Changes []struct {
			Seq                       int
			Event, What, Who, Outcome string
		}
	}
	if err := json.Unmarshal([]byte(got.body), &answer, json.MatchCaseInsensitiveNames(true)); err != nil || got.status != http.StatusOK || strings.Contains(got.body, "canary") {
		t.Fatal(got, err)
	}
	var told []string
	for _, c := range answer.Changes {
		told = append(told, fmt.Sprint(c.Seq, " ", c.Event, " ", c.What, " ", c.Who, " ", c.Outcome))
	}
	if want := "20 config.reloaded   ,19 card.changed billing  ,18 key.revoked robot ops failed,16 config.reloaded   "; strings.Join(told, ",") != want {
		t.Errorf("%q", told)
	}
	if w.ledger.asked.Limit != 4 || w.ledger.asked.Until.Day() != 2 {
		t.Errorf("%+v", w.ledger.asked)
	}
	if got := w.ask("GET", "/api/v1/changes?until=now", nil); got.status != http.StatusBadRequest {
		t.Error(got)
	}
}

// TestDashboards: a page links to them, so that only what a browser can follow is taken, and
// nothing that is secret.
func TestDashboards(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"": true, "https://grafana.example/d/a2a?orgId=1#top": true, "http://10.0.0.1:3000": true,
		"grafana.example/d": false, "javascript:alert(1)": false, "ftp://grafana.example": false, "https:///d": false, "https://u:p@grafana.example/": false,
	} {
		c := Config{Address: "127.0.0.1:0", Dashboards: text}
		if err := c.Validate(); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "dashboards: must be a URL") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
