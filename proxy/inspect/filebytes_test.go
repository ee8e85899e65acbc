package inspect_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestFileBytes: in 0.3's ProtoJSON the SDKs have the bytes of files in two ways. An
// agent gets them in the one that its configuration says, a caller in the one that
// goes with its runtime, and each is understood in it.
func TestFileBytes(t *testing.T) {
	t.Parallel()
	const once, twice = "dGVzdA==", "ZEdWemRBPT0="
	rest03 := func(base string) string {
		return strings.Replace(proxytest.OnlyV10(base), `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"`,
			`/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"`, 1)
	}
	for config, want := range map[string]string{"": twice, "doubled": twice, "plain": once} {
		agent := proxytest.NewAgent(t)
		agent.Doc = rest03
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
			s.Agent.Card.URL = secret.URL(agent.URL + "/card")
			s.Agent.FileBytes = config
		})
		send := strings.Replace(proxytest.Message(""), `{"text":"hi"}`, `{"raw":"`+once+`"}`, 1)
		proxytest.WantStatus(t, "send", w.Call("alice", "SendMessage", send), 200)
		if got := string(agent.One(t).Content); !strings.Contains(got, `"fileWithBytes":"`+want+`"`) {
			t.Errorf("fileBytes %q: the agent got %s", config, got)
		}
	}
	for runtime, sent := range map[string]string{"node": once, "grpc-node-js/1.14": once, "python-httpx/0.28": twice, "": twice} {
		agent := proxytest.NewAgent(t)
		agent.Doc = proxytest.OnlyV10
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Card.URL = secret.URL(agent.URL + "/card") })
		body := `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithBytes":"` + sent + `"}}]}}`
		r := w.Request("alice", "POST", "/v1/message:send", body)
		r.Header.Set("User-Agent", runtime)
		resp, err := w.Client.Do(r)
		proxytest.Must(t, err)
		proxytest.Must(t, resp.Body.Close())
		if got := string(agent.One(t).Content); !strings.Contains(got, `"raw":"`+once+`"`) {
			t.Errorf("a caller on %q: the agent got %s", runtime, got)
		}
	}
	if err := (agents.Config{ID: "a", FileBytes: "once"}).Validate(); err == nil || !strings.Contains(err.Error(), "fileBytes") {
		t.Errorf("an unknown form: %v", err)
	}
}
