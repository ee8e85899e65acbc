package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// revoke takes an API key out of its file.
func (w *world) revoke(id string) {
	w.t.Helper()
	keys, err := apikey.Open(filepath.Join(w.dir, "keys.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := keys.Revoke(id); err != nil {
		w.t.Fatal(err)
	}
}

// listener is an SDK's client at an event stream.
type listener struct {
	events chan struct{} // one for each
	end    chan error    // how it ended; closed streams end with nil
}

func listen(ctx context.Context, c gatewaytest.Client, text string) *listener {
	l := &listener{make(chan struct{}), make(chan error, 1)}
	go func() {
		for _, err := range c.SendStreamingMessage(ctx, say(text)) {
			if err != nil {
				l.end <- err
				return
			}
			select {
			case l.events <- struct{}{}:
			case <-ctx.Done():
			}
		}
		l.end <- nil
	}()
	return l
}

// hears waits for events, n of them.
func (l *listener) hears(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-l.events:
		case err := <-l.end:
			t.Fatalf("the stream has ended: %v", err)
		case <-time.After(patience):
			t.Fatal("no event")
		}
	}
}

// ends waits for the end and gives the error that it came with.
func (l *listener) ends(t *testing.T) error {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case <-l.events:
		case err := <-l.end:
			return err
		case <-deadline:
			t.Fatal("the stream is still open")
		}
	}
}

// TestR22_RevokedWhileListening: the streams of a caller whose key is taken away end
// within seconds, over every binding, silent as they may be, and further calls are
// refused; those of others go on.
func TestR22_RevokedWhileListening(t *testing.T) {
	t.Parallel()
	for _, side := range proven() {
		t.Run(string(side.binding)+" "+string(side.version), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			agent := gatewaytest.Start(t, jsonrpc10())
			alice, bob := w.key("alice"), w.key("bob")
			g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL))))
			dial := func(who http.Header) gatewaytest.Client {
				c, _ := gatewaytest.Dial(t, side.sdk, gatewaytest.HTTPClient(t, who, nil), g.URL()+"/agents/a", side.version, side.binding)
				return c
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			hers, his := dial(alice), dial(bob)
			silent, chatty := listen(ctx, hers, "auth"), listen(ctx, his, "tick")
			silent.hears(t, 1)
			chatty.hears(t, 1)
			w.revoke("alice")
			began := time.Now()
			if err := silent.ends(t); err == nil || !unauthenticated(err) && !strings.Contains(strings.ToLower(err.Error()), "authentication") {
				t.Errorf("the stream ended with %v", err)
			}
			t.Logf("ended after %v", time.Since(began))
			if _, err := hers.SendMessage(t.Context(), say("message")); err == nil || !unauthenticated(err) {
				t.Errorf("a further call: %v", err)
			}
			chatty.hears(t, 100)
			if _, err := his.SendMessage(t.Context(), say("message")); err != nil {
				t.Errorf("a call of somebody else: %v", err)
			}
		})
	}
}

// TestR22_Reloads: a configuration without what a stream was permitted by ends it, and
// none that it does not concern. The credentials are a token's and a key's, the rules
// are by subject.
func TestR22_Reloads(t *testing.T) {
	t.Parallel()
	const rules = "policy: {rules: [{name: alice, effect: allow, subjects: [alice]}, {name: bob, effect: allow, subjects: [bob]}]}\n"
	for name, tt := range map[string]struct {
		change func(yaml string) string
		want   string
	}{
		"the rule": {func(yaml string) string {
			return strings.Replace(yaml, "{name: alice, effect: allow, subjects: [alice]}, ", "", 1)
		}, "AGENT_NOT_FOUND"},
		"a deny rule": {func(yaml string) string {
			return strings.Replace(yaml, "rules: [", "rules: [{name: no, effect: deny, subjects: [alice], methods: [SendStreamingMessage]}, ", 1)
		}, "UNAUTHORIZED"},
		"the agent": {func(yaml string) string {
			return strings.Replace(yaml, "{id: hers, ", "{id: another, ", 1)
		}, "AGENT_NOT_FOUND"},
		"the issuer": {func(yaml string) string {
			at := strings.Index(yaml, "  oidc:")
			end := at + strings.Index(yaml[at:], "\n") + 1
			return yaml[:at] + yaml[end:]
		}, "UNAUTHENTICATED"},
		"the audience": {func(yaml string) string {
			return strings.Replace(yaml, "audiences: [a2a-gateway]", "audiences: [another]", 1)
		}, "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			agent := newCounter(t, nil)
			yaml := w.yaml(plain, rules+fmt.Sprintf("agents: [{id: hers, card: %s}, {id: his, card: %s}]\n", everyBinding(agent.CardURL), everyBinding(agent.CardURL)))
			alice, bob := w.token("alice"), w.key("bob")
			g := w.start(yaml)
			hers, his := w.stream(g, "hers", alice), w.stream(g, "his", bob)
			if err := w.reload(g, yaml+"telemetry: {logs: {level: warn}}\n"); err != nil {
				t.Fatal(err)
			}
			if err := w.reload(g, tt.change(yaml)); err != nil {
				t.Fatal(err)
			}
			if last, err := hers.finish(); err != nil || !strings.Contains(last, tt.want) {
				t.Errorf("her stream ended with %s, %v", last, err)
			}
			close(agent.release)
			if last, err := his.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
				t.Errorf("his stream ended with %s, %v", last, err)
			}
		})
	}
}

// stream opens one that is to last.
func (w *world) stream(g *gateway.Gateway, agent string, who http.Header) *sse {
	w.t.Helper()
	c := client(w.t)
	c.Timeout = 0
	s, err := openStream(c, g.URL()+"/agents/"+agent, who, agent)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// TestR13_IssuerAway: with its issuer away a gateway goes on with the keys that it
// knows, over a reload too. What it cannot know is refused or put off at once, and
// nobody else notices.
func TestR13_IssuerAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	yaml := w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL)))
	key, known := w.key("robot"), w.token("alice")
	g := w.start(yaml)
	call := func(g *gateway.Gateway, who http.Header) int {
		t.Helper()
		status, _, err := try(client(t), http.MethodPost, g.URL()+"/agents/a", sendHeader(who), sendBody("SendMessage", "1"))
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	open := w.stream(g, "a", known)
	if err := w.issuer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, reloaded := range []bool{false, true} {
		if reloaded {
			if err := w.reload(g, yaml+"telemetry: {logs: {level: warn}}\n"); err != nil {
				t.Fatal(err)
			}
		}
		for name, who := range map[string]http.Header{"known": known, "new": w.token("bob"), "key": key} {
			if status := call(g, who); status != http.StatusOK {
				t.Errorf("%s credential, reloaded %t: %d", name, reloaded, status)
			}
		}
	}
	// A gateway that begins now knows no key of the issuer's: it cannot tell.
	begun := newWorld(t)
	other := begun.key("robot")
	late := begun.start(strings.Replace(begun.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL))),
		begun.issuer.URL, w.issuer.URL, 1))
	if status := call(late, known); status != http.StatusServiceUnavailable {
		t.Errorf("a token of an issuer that was never reached: %d", status)
	}
	if status := call(late, other); status != http.StatusOK {
		t.Errorf("a key, with the issuer away: %d", status)
	}
	if err := w.issuer.Rotate(); err != nil {
		t.Fatal(err)
	}
	if status := call(g, w.token("alice")); status == http.StatusOK {
		t.Error("a key that nobody published is taken")
	}
	close(agent.release)
	if last, err := open.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
		t.Errorf("the open stream ended with %s, %v", last, err)
	}
}
