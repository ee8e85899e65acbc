package inspect_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// judge is a service that denies texts with a word in them.
func judge(t *testing.T, word string) secret.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), word) {
			_, _ = io.WriteString(w, `{"action":"deny"}`)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return secret.URL(server.URL)
}

// TestGuardsOfHistory: what is found in a message of a task's history, and has no place there, takes all of
// that message with it: its texts, the numbers in its data, its metadata. Other messages stay.
func TestGuardsOfHistory(t *testing.T) {
	t.Parallel()
	url := judge(t, "hush")
	for kind, g := range map[string]guard.Guard{
		"denied": {Use: "hook", Service: service.Config{URL: url}},
		"text":   {Use: "size", Size: guard.Size{Text: 30}},
		"parts":  {Use: "size", Size: guard.Size{Parts: 2}},
		"schema": {Use: "schema", Schema: proxytest.Inline(`{"required":["to"]}`)},
	} {
		g.Name = "g"
		for i, agent := range proxytest.Sides {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), guarding(g))
			calls := 0
			for _, caller := range proxytest.CallersOf(i, i) {
				calls++
				what := fmt.Sprintf("%s of %s to %s", kind, agent, caller)
				w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
				w.AnswerIn(func(s proxytest.Words, id string) []string {
					bad := s.Text("a long text, hush", "") + "," + s.Data(`{"sum":4711,"name":"Jane"}`) + "," + s.Text("more", "")
					return []string{s.Task(id, "completed", "", `,"history":[`+
						s.Message("user", s.Text("before", ""), "")+","+s.Message("user", bad, proxytest.Meta("k", `"noted"`))+","+s.Message("agent", s.Text("behind", ""), "")+`]`)}
				})
				text := strings.Join(w.CallWaiting(caller, wire.GetTask, "t").OK(t, what).Docs, "")
				for _, gone := range []string{"a long text", "4711", "Jane", "more", "noted"} {
					if strings.Contains(text, gone) {
						t.Errorf("%s: %q is in %s", what, gone, text)
					}
				}
				mark := "[redacted: " + kind + "]"
				if strings.Count(text, mark) < 4 || !strings.Contains(text, "before") || !strings.Contains(text, "behind") || strings.Count(text, inspect.Redaction) != 1 {
					t.Errorf("%s: %s", what, text)
				}
				w.Agent.Take()
			}
			list := found(w, 2*calls) // with those that begin the tasks
			if len(list) != calls {
				t.Errorf("%s, %s: %d calls, %v", kind, agent, calls, list)
			}
			for _, f := range list {
				if !strings.HasPrefix(f, "g answer "+kind+" ") || !strings.HasSuffix(f, " redact") {
					t.Errorf("%s, %s: %s", kind, agent, f)
				}
			}
		}
	}
}

// TestGuardsOfExtensionURIs: the URI of an extension that is the name of its metadata is no link, nor is the gateway's
// own where it has redacted one.
func TestGuardsOfExtensionURIs(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), guarding(
		guard.Guard{Name: "links", Use: "links", Action: "redact", Links: guard.Links{Allow: []string{"example.com"}}},
	))
	s := proxytest.Words{Side: proxytest.RPC10}
	const key = "https://extensions.example/v1"
	for range 2 {
		w.Utter(s.Side, wire.SendMessage, saying(s, s.Text("see https://evil.example/", proxytest.Meta(inspect.Redaction, `{"redacted":{"link":1}}`)), proxytest.Meta(key, `"x"`))).OK(t, key)
		sent := string(w.Agent.One(t).Call().Params)
		if !strings.Contains(sent, `"`+key+`"`) || !strings.Contains(sent, `"`+inspect.Redaction+`"`) || strings.Contains(sent, "evil") {
			t.Errorf("the agent got %s", sent)
		}
	}
	if list := fmt.Sprint(found(w, 2)); list != "[links request link 0 1 redact links request link 0 1 redact]" {
		t.Error(list)
	}
}

// TestGuardsOfTooMuch: what is more than a service is asked about is refused for good, and nobody is told to try again.
func TestGuardsOfTooMuch(t *testing.T) {
	t.Parallel()
	c := service.Config{URL: judge(t, "hush"), OnFailure: "allow"}
	long := strings.Repeat("x", 256<<10+1)
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), guarding(
			guard.Guard{Name: "g", Use: "hook", On: []guard.Phase{guard.Request, guard.Answer}, Service: c},
		))
		for _, caller := range proxytest.CallersOf(i, 0) {
			what := fmt.Sprintf("%s to %s", agent, caller)
			s := proxytest.Words{Side: caller}
			got := w.Utter(caller, wire.SendMessage, s.Send(s.Text(long, ""), "", ""))
			got.Told(t, what, map[bool]*wire.Kind{true: wire.RateLimited, false: wire.TooLarge}[caller == proxytest.GRPC03], "larger than 262144 bytes")
			w.Agent.Silent(t, what)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", s.Message("agent", s.Text(long, ""), ""), "")}
			})
			got = w.Utter(caller, wire.SendMessage, s.Send("", "", ""))
			got.Told(t, what, map[bool]*wire.Kind{true: wire.Internal, false: wire.AnswerRefused}[caller == proxytest.GRPC03], "larger than 262144 bytes")
			w.Agent.Take()
		}
	}
}
