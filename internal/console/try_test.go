package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// tries are calls that nobody makes.
type tries struct {
	asked   *trials.Attempt
	bounds  trials.Bounds
	err     error
	waiting chan struct{}     // if there is one, calls say that they have begun, and wait for it
	steps   chan trials.Event // if there is one, what happens to a call, until it is closed
	ended   chan error        // of steps: what became of the context
}

func (t *tries) Prepare(_ context.Context, a *trials.Attempt) (trials.Prepared, error) {
	t.asked = a
	if t.err != nil {
		return nil, t.err
	}
	return t, nil
}

func (t *tries) Send(ctx context.Context, b trials.Bounds, watch func(trials.Event)) *trials.Trial {
	if t.waiting != nil {
		t.waiting <- struct{}{}
		<-t.waiting
		return &trials.Trial{}
	}
	t.bounds = b
	for t.steps != nil {
		select {
		case <-ctx.Done():
			t.ended <- ctx.Err()
			return &trials.Trial{Ended: "failed"}
		case e, ok := <-t.steps:
			if !ok {
				return &trials.Trial{Ended: "complete"}
			}
			watch(e)
		}
	}
	return &trials.Trial{
		Sent: "POST /agents/a-1 HTTP/1.1\r\n\r\n", Status: 200, Ended: "complete",
		Pieces: []trials.Piece{{At: 1.5, Text: "{}"}}, Forms: []trials.TrialForm{{Version: "1.0", Binding: "JSONRPC", Caller: true}},
	}
}

// TestTry: an operator makes a call, within limits, which is on record without its credential.
func TestTry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	ask := func(role api.Role, body string) answer {
		return w.ask("POST", "/api/v1/try", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+tokenOf(role))
			send(r, body)
		})
	}
	const good = `{"agent":"a-1","version":"1.0","binding":"JSONRPC","method":"SendMessage","params":{"message":{}},"extensions":["urn:x"],"apiKey":"canary-key"}`
	if got := ask(api.Viewer, good); got.status != http.StatusForbidden || w.tries.asked != nil {
		t.Errorf("a viewer: %s", got)
	}
	if got := ask(api.Operator, good); got.status != http.StatusOK || !strings.Contains(got.body, `"ended":"complete"`) {
		t.Error(got)
	}
	if a := w.tries.asked; a.APIKey != "canary-key" || string(a.Params) != `{"message":{}}` || w.tries.bounds != (trials.Bounds{Time: usualTrial, TimeKey: "admin.try.timeout", Answer: usualShown}) {
		t.Errorf("asked %+v, %+v", a, w.tries.bounds)
	}
	events := w.recorded()
	if last := events[len(events)-1]; len(events) != 2 || last["event"] != "call.tried" || last["agent"] != "a-1" || last["method"] != "SendMessage" || last["who"] != "the-operator" {
		t.Errorf("recorded %v", events)
	}
	for _, tt := range []struct{ body, want string }{
		{`{"agent":"a-1","apikey":7}`, "the body has a member that the operation does not take: /apikey"}, {`[]`, "the body must be a JSON object"}, {`{"apiKey":["canary-key"]}`, "the body has an array where the operation takes another type: /apiKey"},
		{`{"apiKey":"canary-key`, "not valid JSON at byte"}, {strings.Replace(good, "a-1", "a b", 1), "agent: it is no agent's id"},
		{strings.Replace(good, "SendMessage", strings.Repeat("m", 65), 1), "method: A2A has none of that length"},
		{strings.Replace(good, `"apiKey"`, `"bearer":"x","apiKey"`, 1), "bearer: there is an API key already"},
		{`{"agent":"` + strings.Repeat("a", 300<<10) + `"}`, "TOO_LARGE"},
	} {
		if got := ask(api.Operator, tt.body); !strings.Contains(got.body, tt.want) || strings.Contains(got.body, "canary") {
			t.Errorf("%.60s: %s, want %s", tt.body, got, tt.want)
		}
	}
	w.tries.err = trials.AttemptInvalid{Member: "version", Err: errors.New("want 1.0")}
	if got := ask(api.Operator, good); got.status != http.StatusBadRequest || !strings.Contains(got.body, "version: want 1.0") {
		t.Error(got)
	}
	w.mu.Lock()
	w.unrecorded = true
	w.mu.Unlock()
	w.tries.asked = nil
	if got := ask(api.Operator, good); !strings.Contains(got.body, "UNRECORDED") || w.tries.asked != nil {
		t.Errorf("without a record: %s", got)
	}
	if strings.Contains(w.log.String(), "canary") {
		t.Error("the log has the credential")
	}
}

// TestTriesAreBounded: one more than admin.try.calls is refused, and the next may again.
func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Try.Calls = 1 })
	w.tries.waiting = make(chan struct{})
	first := make(chan answer, 1)
	go func() { first <- w.ask("POST", "/api/v1/try", func(r *http.Request) { send(r, bodies["try"]) }) }()
	<-w.tries.waiting
	got := w.ask("POST", "/api/v1/try", func(r *http.Request) { send(r, bodies["try"]) })
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "admin.try.calls") {
		t.Error(got)
	}
	w.tries.waiting <- struct{}{}
	if got := <-first; got.status != http.StatusOK {
		t.Error(got)
	}
	w.tries.waiting = nil
	if got := w.ask("POST", "/api/v1/try", func(r *http.Request) { send(r, bodies["try"]) }); got.status != http.StatusOK {
		t.Error(got)
	}
}

// TestTryConfig: each bound has a range.
func TestTryConfig(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Try{
		"try.calls: want a number from 1 to 1000": {Calls: 1001}, "try.timeout: want 1s to 14s": {Timeout: quantity.Duration(15 * time.Second)},
		"try.answer: want 4KiB to 64MiB": {Answer: 100}, "try.streamTimeout: want 1s to 1h": {StreamTimeout: quantity.Duration(time.Hour + 1)},
	} {
		c.defaults()
		if err := (Config{Address: "127.0.0.1:0", Try: c}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
