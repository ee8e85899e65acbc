package record_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// sum is the digest that a record has of a body.
func sum(body string) any {
	sum := sha256.Sum256([]byte(body))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TestDigests: both bodies of a call have the digest of their bytes, of any length that the
// configuration leaves a digest, whether the answer is the agent's or a refusal.
func TestDigests(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("text ", 40<<10) // is written in several pieces
	some := strings.Repeat("a", 1000)
	for _, c := range []struct {
		name, text        string
		config            audit.DigestConfig
		request, response bool
	}{
		{"default", "hello", audit.DigestConfig{}, true, true},
		{"long", long, audit.DigestConfig{Algorithm: "sha256"}, true, true},
		{"within limit", "hello", audit.DigestConfig{Limit: 4096}, true, true},
		{"over limit", long, audit.DigestConfig{Limit: 4096}, false, false},
		{"answer at limit", some, audit.DigestConfig{Limit: quantity.Size(len(answer(some)))}, true, true},
		{"answer over limit", some, audit.DigestConfig{Limit: quantity.Size(len(answer(some)) - 1)}, true, false},
		{"off", "hello", audit.DigestConfig{Algorithm: "off"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Digest = c.config })
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = rw.Write([]byte(answer(c.text)))
			})
			params := proxytest.Message("")
			if c.text == long {
				params = strings.Replace(params, `"parts"`, `"metadata":{"long":"`+long+`"},"parts"`, 1)
			}
			got := w.Call("alice", wire.SendMessage, params)
			proxytest.WantStatus(t, "the call", got, http.StatusOK)
			record := w.RecordOf(1)
			for member, want := range map[string]any{
				"request_digest":  map[bool]any{true: sum(proxytest.RPCBody(wire.SendMessage, params))}[c.request],
				"response_digest": map[bool]any{true: sum(got.Body)}[c.response],
			} {
				if record[member] != want {
					t.Errorf("%s is %v, want %v", member, record[member], want)
				}
			}
			if record["request_bytes"] == nil || record["response_bytes"] != float64(len(got.Body)) {
				t.Errorf("the sizes are %v and %v", record["request_bytes"], record["response_bytes"])
			}
		})
	}
}

// answer is what the agent of TestDigests says.
func answer(text string) string {
	return `{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}]}}}`
}

// TestDigestOfRefusal: what the gateway answers itself has a digest as well, and a stream has none.
func TestDigestOfRefusal(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	refused := w.Call("nobody", wire.SendMessage, proxytest.Message(""))
	if refused.Status == http.StatusOK || w.RecordOf(1)["response_digest"] != sum(refused.Body) {
		t.Errorf("a refusal with %d has the digest %v, want %v", refused.Status, w.RecordOf(1)["response_digest"], sum(refused.Body))
	}
	w.Call("alice", wire.SendStreamingMessage, proxytest.Message(""))
	if record := w.RecordWith("streamed"); record["response_digest"] != nil {
		t.Errorf("a stream has the digest %v", record["response_digest"])
	}
}
