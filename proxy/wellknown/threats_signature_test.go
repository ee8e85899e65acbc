package wellknown_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA15_HostileHost: what is signed names the configured URL, whatever a request says of
// where it was sent, and somebody else's name gets no card at all.
func TestA15_HostileHost(t *testing.T) {
	t.Parallel()
	var check *signature.Verifier
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { check = proxytest.WithSignedCards(t, s) })
	const path = "/.well-known/agent-card.json"
	want := w.Do("", "GET", path, "")
	verdict, err := check.Verify(t.Context(), []byte(want.Body))
	if err != nil || verdict.Holds().JKU != w.URL+"/.well-known/jwks.json" {
		t.Fatalf("%v, %s", err, verdict)
	}
	for _, line := range []string{
		"X-Forwarded-Host: evil.test", "Forwarded: host=evil.test;proto=https", "X-Forwarded-Proto: https",
		"X-Forwarded-Prefix: /evil", "X-Original-URL: https://evil.test/", "X-Host: evil.test",
	} {
		got := w.Do("", "GET", path, "", line)
		if got.Status != 200 || got.Body != want.Body || got.Header.Get("Etag") != want.Header.Get("Etag") {
			t.Errorf("%s: %d %s", line, got.Status, got.Body)
		}
	}
	for _, host := range []string{"evil.test", "evil.test" + w.URL[strings.LastIndexByte(w.URL, ':'):], "127.0.0.1.evil.test"} {
		got := w.Do("", "GET", path, "", "Host: "+host)
		if got.Status != 421 || strings.Contains(got.Body, "signatures") {
			t.Errorf("%s: %d %s", host, got.Status, got.Body)
		}
	}
}

// TestA15_CardsAreSigned: the public card, each caller's own and the extended one are
// signed, with the headers that they had without; the agent's signatures are gone, and a
// changed word is noticed.
func TestA15_CardsAreSigned(t *testing.T) {
	t.Parallel()
	var check *signature.Verifier
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { check = proxytest.WithSignedCards(t, s) })
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, strings.Replace(proxytest.Card(w.Agent.URL), `{`, `{"signatures":[{"protected":"agents","signature":"own"}],`, 1))
	})
	for name, got := range map[string]proxytest.Response{
		"public":          w.Do("", "GET", "/.well-known/agent-card.json", ""),
		"public, 1.0":     w.Do("", "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0"),
		"public, 0.1":     w.Do("", "GET", "/.well-known/agent.json", ""),
		"alice's":         w.Do("alice", "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0"),
		"extended":        w.Do("alice", "GET", "/extendedAgentCard", "", "A2A-Version: 1.0"),
		"extended, RPC":   w.Call("alice", "GetExtendedAgentCard", "{}"),
		"extended, 0.3":   w.Do("alice", "GET", "/v1/card", ""),
		"extended, 0.3 R": w.Do("alice", "POST", "", proxytest.RPCBody("agent/getAuthenticatedExtendedCard", "{}")),
	} {
		proxytest.WantStatus(t, name, got, 200)
		body := got.Body
		if _, result, ok := strings.Cut(body, `"result":`); ok {
			body = firstValue(t, result)
		}
		verdict, err := check.Verify(t.Context(), []byte(body))
		if err != nil || verdict.Holds().Form != signature.AsReceived || strings.Contains(body, `"own"`) {
			t.Errorf("%s: %v: %s", name, err, body)
			continue
		}
		changed := strings.Replace(body, `"skills":[`, `"skills":[{"id":"more","name":"M","description":"m","tags":["m"]},`, 1)
		if _, err := check.Verify(t.Context(), []byte(changed)); err == nil || changed == body {
			t.Errorf("%s: a skill was added, and it holds", name)
		}
		public := strings.HasPrefix(name, "public")
		if h := got.Header; public != (h.Get("Etag") != "") || public != strings.HasPrefix(h.Get("Cache-Control"), "public") ||
			!strings.HasPrefix(name, "extended") && !strings.HasPrefix(h.Get("Vary"), "A2a-Version") {
			t.Errorf("%s: %v", name, h)
		}
	}
	tag := w.Do("", "GET", "/.well-known/agent-card.json", "").Header.Get("Etag")
	proxytest.WantStatus(t, "known", w.Do("", "GET", "/.well-known/agent-card.json", "", "If-None-Match: "+tag), 304)
}

// firstValue is the JSON value at the beginning of a text.
func firstValue(t *testing.T, s string) string {
	t.Helper()
	v, err := jsontext.NewDecoder(strings.NewReader(s)).ReadValue()
	proxytest.Must(t, err)
	return string(v)
}

// TestCardsNotSigned: where it is switched off.
func TestCardsNotSigned(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		proxytest.WithSignedCards(t, s)
		s.Agent.Card.Sign = new(bool)
	})
	if got := w.Do("", "GET", "/.well-known/agent-card.json", ""); got.Status != 200 || strings.Contains(got.Body, "signatures") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
