package intake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// envelopePaths are where clients post JSON-RPC requests that belong at an agent's base.
var envelopePaths = []string{"/v1/message:send", "/v1/message:stream", "/message:send", "/message:stream", "/tasks/send", "/tasks/get", "/tasks/cancel"}

func wrapped(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"e-1","method":%q,"params":%s}`, method, params)
}

// TestEnvelopes: a JSON-RPC request at a path of HTTP+JSON is answered as at the base, for
// every version, whatever the path says of the method.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	old := `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`
	for _, below := range []string{"", "/skills/read"} {
		for _, path := range envelopePaths {
			for name, tt := range map[string]struct{ body, version, want string }{
				"1.0":              {wrapped("SendMessage", proxytest.Message("")), "A2A-Version: 1.0", `"id":"e-1","result":{"task"`},
				"1.0 stream":       {wrapped("SendStreamingMessage", proxytest.Message("")), "A2A-Version: 1.0", `data: {"jsonrpc":"2.0","id":"e-1"`},
				"0.3":              {wrapped("message/send", old), "X-None: x", `"id":"e-1","result":{"kind":"task"`},
				"0.3 stream":       {wrapped("message/stream", old), "X-None: x", `data: {"jsonrpc":"2.0","id":"e-1"`},
				"another method":   {wrapped("GetTask", `{"id":"foreign"}`), "A2A-Version: 1.0", `"code":-32001`},
				"no method":        {wrapped("Nonsense", `{}`), "A2A-Version: 1.0", `"code":-32601`},
				"another protocol": {strings.Replace(wrapped("SendMessage", proxytest.Message("")), "2.0", "1.0", 1), "A2A-Version: 1.0", `"code":-32600`},
				"both forms":       {strings.Replace(wrapped("SendMessage", proxytest.Message("")), "{", `{"message":{},`, 1), "A2A-Version: 1.0", `"code":-32600`},
			} {
				got := w.Do("alice", "POST", below+path, tt.body, tt.version)
				if !strings.Contains(got.Body, tt.want) {
					t.Errorf("%s: %s: %d %s, want %s", below+path, name, got.Status, got.Body, tt.want)
				}
				for _, seen := range w.Agent.Take() {
					if seen.URL.Path != "/rpc" || string(seen.Content) != tt.body {
						t.Errorf("%s: %s: the agent saw %s %s", below+path, name, seen.URL, seen.Content)
					}
				}
			}
		}
	}
}

// TestEnvelopesAreJudged: the method of the envelope is what rules are asked about, and nothing
// of it reaches an agent by the path alone.
func TestEnvelopesAreJudged(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{{Name: "send", Effect: "allow", Subjects: []string{"alice"}, Methods: []string{"SendMessage"}}}
	})
	for _, path := range envelopePaths {
		for name, got := range map[string]proxytest.Response{
			"another method": w.Do("alice", "POST", path, wrapped("SendStreamingMessage", proxytest.Message("")), "A2A-Version: 1.0"),
			"another caller": w.Do("mallory", "POST", path, wrapped("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"),
			"a stranger":     w.Do("", "POST", path, wrapped("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"),
			"a body of text": w.Do("alice", "POST", path, wrapped("SendMessage", proxytest.Message("")), "A2A-Version: 1.0", "Content-Type: text/plain"),
		} {
			if strings.Contains(got.Body, "result") {
				t.Errorf("%s: %s: %d %s", path, name, got.Status, got.Body)
			}
			w.Agent.Silent(t, path+": "+name)
		}
		if got := w.Do("alice", "POST", path, wrapped("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"); !strings.Contains(got.Body, "result") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
		w.Agent.Take()
	}
}

// TestNoEnvelopes: what has no envelope goes on as HTTP+JSON, byte for byte, or is refused as
// ever.
func TestNoEnvelopes(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	body := strings.Replace(proxytest.Message(""), "{", `{ "metadata" : {"jsonrpc":"2.0","method":"tasks/get","n":1.50}, `, 1)
	for _, path := range []string{"/message:send", "/message:stream"} {
		if got := w.Do("alice", "POST", path, body, "A2A-Version: 1.0"); got.Status != 200 {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
		if seen := w.Agent.One(t); seen.URL.Path != "/rest"+path || string(seen.Content) != body {
			t.Errorf("%s: the agent saw %s %s", path, seen.URL, seen.Content)
		}
	}
	for target, want := range map[string]int{"/tasks/send": 405, "/tasks/get": 405, "/tasks/other": 405, "/tasks/send/x": 404} {
		if got := w.Do("alice", "POST", target, body, "A2A-Version: 1.0"); got.Status != want {
			t.Errorf("%s: %d %s, want %d", target, got.Status, got.Body, want)
		}
	}
	// Elsewhere an envelope is what it was.
	for target, want := range map[string]int{"/tasks/other": 405, "/acme/message:send": 400, "/tasks/7:cancel": 400} {
		if got := w.Do("alice", "POST", target, wrapped("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"); got.Status < 400 {
			t.Errorf("%s: %d %s, want %d", target, got.Status, got.Body, want)
		}
	}
	w.Agent.Silent(t, "refused")
}
