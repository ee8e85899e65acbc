package proxy_test

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// signing has cards signed, and returns a verifier by the published keys.
func signing(t *testing.T, s *setup) *signature.Verifier {
	t.Helper()
	ring, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(ring.Close)
	s.signing, s.jwks = ring, ring.JWKS
	path := filepath.Join(t.TempDir(), "jwks.json")
	must(t, os.WriteFile(path, ring.JWKS(), 0o600))
	v, err := signature.New(signature.Trust{Keys: []string{path}}, signature.Options{})
	must(t, err)
	return v
}

// TestA15_HostileHost: what is signed names the configured URL, whatever a request says of
// where it was sent, and somebody else's name gets no card at all.
func TestA15_HostileHost(t *testing.T) {
	t.Parallel()
	var check *signature.Verifier
	w := build(t, func(s *setup) { check = signing(t, s) })
	const path = "/.well-known/agent-card.json"
	want := w.do("", "GET", path, "")
	verdict, err := check.Verify(t.Context(), []byte(want.body))
	if err != nil || verdict.Holds().JKU != w.url+"/.well-known/jwks.json" {
		t.Fatalf("%v, %s", err, verdict)
	}
	for _, line := range []string{
		"X-Forwarded-Host: evil.test", "Forwarded: host=evil.test;proto=https", "X-Forwarded-Proto: https",
		"X-Forwarded-Prefix: /evil", "X-Original-URL: https://evil.test/", "X-Host: evil.test",
	} {
		got := w.do("", "GET", path, "", line)
		if got.status != 200 || got.body != want.body || got.header.Get("Etag") != want.header.Get("Etag") {
			t.Errorf("%s: %d %s", line, got.status, got.body)
		}
	}
	for _, host := range []string{"evil.test", "evil.test" + w.url[strings.LastIndexByte(w.url, ':'):], "127.0.0.1.evil.test"} {
		got := w.do("", "GET", path, "", "Host: "+host)
		if got.status != 421 || strings.Contains(got.body, "signatures") {
			t.Errorf("%s: %d %s", host, got.status, got.body)
		}
	}
}

// TestA15_CardsAreSigned: the public card, each caller's own and the extended one are
// signed, with the headers that they had without; the agent's signatures are gone, and a
// changed word is noticed.
func TestA15_CardsAreSigned(t *testing.T) {
	t.Parallel()
	var check *signature.Verifier
	w := build(t, func(s *setup) { check = signing(t, s) })
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		reply(rw, r, strings.Replace(cardOf(w.agent.URL), `{`, `{"signatures":[{"protected":"agents","signature":"own"}],`, 1))
	})
	for name, got := range map[string]answer{
		"public":          w.do("", "GET", "/.well-known/agent-card.json", ""),
		"public, 1.0":     w.do("", "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0"),
		"public, 0.1":     w.do("", "GET", "/.well-known/agent.json", ""),
		"alice's":         w.do("alice", "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0"),
		"extended":        w.do("alice", "GET", "/extendedAgentCard", "", "A2A-Version: 1.0"),
		"extended, RPC":   w.call("alice", "GetExtendedAgentCard", "{}"),
		"extended, 0.3":   w.do("alice", "GET", "/v1/card", ""),
		"extended, 0.3 R": w.do("alice", "POST", "", rpcBody("agent/getAuthenticatedExtendedCard", "{}")),
	} {
		wantStatus(t, name, got, 200)
		body := got.body
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
		if h := got.header; public != (h.Get("Etag") != "") || public != strings.HasPrefix(h.Get("Cache-Control"), "public") ||
			!strings.HasPrefix(name, "extended") && !strings.HasPrefix(h.Get("Vary"), "A2a-Version") {
			t.Errorf("%s: %v", name, h)
		}
	}
	tag := w.do("", "GET", "/.well-known/agent-card.json", "").header.Get("Etag")
	wantStatus(t, "known", w.do("", "GET", "/.well-known/agent-card.json", "", "If-None-Match: "+tag), 304)
}

// firstValue is the JSON value at the beginning of a text.
func firstValue(t *testing.T, s string) string {
	t.Helper()
	v, err := jsontext.NewDecoder(strings.NewReader(s)).ReadValue()
	must(t, err)
	return string(v)
}

// TestCardsNotSigned: where it is switched off.
func TestCardsNotSigned(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) {
		signing(t, s)
		s.agent.Card.Sign = new(bool)
	})
	if got := w.do("", "GET", "/.well-known/agent-card.json", ""); got.status != 200 || strings.Contains(got.body, "signatures") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
