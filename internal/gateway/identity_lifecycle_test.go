package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// records gives the audit records of one type so far.
func (w *world) records(kind string) []map[string]any {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "audit", "*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	var all []map[string]any
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var r map[string]any
			if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &r) == nil && r["type"] == kind {
				all = append(all, r)
			}
		}
	}
	return all
}

// authn is yaml with lines more in the authn section.
func (w *world) authn(more, server, sections string) string {
	return strings.Replace(w.yaml(server, sections), "authn:\n", "authn:\n"+indent(more)+"\n", 1)
}

// jsonrpc10 is the flavour of agents where nothing depends on it.
func jsonrpc10() gatewaytest.Flavour { return gatewaytest.Flavours()[1] }

// TestExchangedTokensComeAndGo: a token of the other system is used as long as it is
// said to be good, replaced in the middle of a conversation when it is not, and never
// outlives the word of the caller's own.
func TestExchangedTokensComeAndGo(t *testing.T) {
	t.Parallel()
	f := newFederation(t, jsonrpc10())
	finance := []string{"finance"}
	first := f.speaker(t, f.person("alice", finance, nil), "away", jsonrpc10(), gatewaytest.Go10)

	f.other.change(func() { f.other.life = 1 }) // no use in keeping
	task := first.says("ask", nil)
	one := f.away.last().bearer
	task = first.says("about this", task)
	two := f.away.last().bearer
	if one == two || len(f.other.questions()) != 2 {
		t.Errorf("the token was not replaced, after %d questions", len(f.other.questions()))
	}
	f.other.change(func() { f.other.life = 300 })
	task = first.says("ask", task)
	three := f.away.last().bearer
	task = first.says("about that", task)
	if f.away.last().bearer != three || len(f.other.questions()) != 3 {
		t.Errorf("a token that is good was replaced, after %d questions", len(f.other.questions()))
	}

	// The user's own token ends; with the next one the conversation goes on.
	old, err := f.issuer.Issue("alice", demo.IssueOptions{Groups: finance, TTL: -2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	expired := http.Header{"Authorization": {"Bearer " + old}}
	f.speaker(t, expired, "away", jsonrpc10(), gatewaytest.Go10).refused("about this")
	next := f.speaker(t, f.person("alice", finance, map[string]any{"jti": "next"}), "away", jsonrpc10(), gatewaytest.Go10)
	task = next.says("ask", task)
	if task = next.says("about it", task); task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("with a new token the conversation ended as %+v", task)
	}
	if f.away.last().bearer == three || len(f.other.questions()) != 4 {
		t.Error("what was got for the old token is used with the new one")
	}

	// The authorization server is away: what is known goes on, what is not is refused.
	f.other.change(func() { f.other.down = true })
	next.says("ask", task)
	third := f.speaker(t, f.person("alice", finance, map[string]any{"jti": "third"}), "away", jsonrpc10(), gatewaytest.Go10)
	third.refused("ask")
	f.other.change(func() { f.other.down = false })
	eventually(t, "the exchange works again", func() bool {
		_, err := third.client.SendMessage(t.Context(), say("ask"))
		return err == nil
	})
}

// TestA23_UsersOfTwoSystems: many users at once, each of whom is who they are in the
// other system, or nobody. Nobody is told more than that, and nothing of theirs reaches
// the agent.
func TestA23_UsersOfTwoSystems(t *testing.T) {
	t.Parallel()
	f := newFederation(t, jsonrpc10())
	people := map[string]struct {
		groups      []string
		sub, scopes string // there; "" is nobody
	}{
		"alice": {[]string{"finance"}, "anna", "invoices.read"},
		"dora":  {[]string{"directors"}, "dorothea", "invoices.pay invoices.read"},
		"bob":   {[]string{"finance"}, "", ""}, // the other system does not know him
		"carol": {[]string{"sales"}, "", ""},   // may do nothing there
	}
	var talking sync.WaitGroup
	for name, p := range people {
		who := f.person(name, p.groups, nil)
		for range 4 {
			s := f.speaker(t, who, "away", jsonrpc10(), gatewaytest.Go10)
			talking.Go(func() {
				for range 5 {
					_, err := s.client.SendMessage(t.Context(), say("hello from "+name))
					if (err == nil) != (p.sub != "") {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	talking.Wait()
	for _, v := range f.away.all() {
		text := string(v.body)
		_, name, _ := strings.Cut(text, "hello from ")
		name, _, _ = strings.Cut(name, `"`)
		if p := people[name]; v.who["sub"] != p.sub || v.who["scope"] != p.scopes {
			t.Errorf("%s came as %v with %v", name, v.who["sub"], v.who["scope"])
		}
	}
	if n := len(f.away.all()); n != 40 {
		t.Errorf("%d messages reached the agent", n)
	}
	for _, name := range []string{"bob", "carol"} {
		_, body, err := try(client(t), http.MethodPost, f.g.URL()+"/agents/away",
			sendHeader(f.person(name, people[name].groups, nil)), sendBody("SendMessage", "1"))
		if err != nil || !strings.Contains(body, "permission denied in the agent's own system") {
			t.Errorf("%s: %s (%v)", name, body, err)
		}
	}
	for _, r := range f.records("call") {
		if t.Failed() {
			t.Logf("recorded %v", r)
		}
		who, _ := r["principal"].(string)
		cause, _ := r["cause"].(string)
		why, nobody := map[string]string{"bob": "declined", "carol": "permissions gives no scope"}[who]
		if nobody && r["method"] == "SendMessage" && !strings.Contains(cause, why) {
			t.Errorf("the record of %s says %v", who, r)
		}
	}
}

// TestAgentsThatTakeNoAnswer: the Go SDKs' agents take no message at a task that waits
// for authorization, which they go on with by themselves. Who called sees that it waits,
// in calls and streams, and nothing of what the gateway has tried.
func TestAgentsThatTakeNoAnswer(t *testing.T) {
	t.Parallel()
	for _, flavour := range gatewaytest.Flavours() {
		t.Run(flavour.Name, func(t *testing.T) {
			t.Parallel()
			w, other := newWorld(t), newAuthority(t, map[string]string{"alice": "anna"})
			agent := gatewaytest.Start(t, flavour)
			g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf(`agents:
  - id: a
    card: %q
    credentials:
      - on: auth-required
        exchange: {tokenURL: %q, clientID: a2a-gateway, clientSecret: gateway-secret, audience: ["urn:a"]}
`, agent.CardURL, other.tokenURL)))
			other.trust(w.issuer.URL, w.issuer.URL+"/jwks")
			hc := gatewaytest.HTTPClient(t, w.token("alice"), nil)
			c, _ := gatewaytest.Dial(t, flavour.SDKs()[0], hc, g.URL()+"/agents/a", flavour.Version, flavour.Binding)
			answer, err := c.SendMessage(t.Context(), say("auth"))
			if err != nil {
				t.Fatal(err)
			}
			task, _ := answer.(*a2a.Task)
			if task == nil || task.Status.State != a2a.TaskStateAuthRequired {
				t.Errorf("answered with %+v", answer)
			}
			if len(other.questions()) == 0 {
				t.Error("the gateway had nothing to answer with")
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			for event, err := range c.SendStreamingMessage(ctx, say("auth")) {
				if err != nil {
					t.Fatal(err)
				}
				if s, ok := event.(*a2a.TaskStatusUpdateEvent); ok && s.Status.State == a2a.TaskStateAuthRequired {
					return
				}
			}
			t.Error("the stream never said that the task waits")
		})
	}
}
