package admit_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const metadataAt = "/.well-known/oauth-protected-resource"

// TestMetadata: the RFC 9728 document by every address that a challenge may name.
func TestMetadata(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	w := g.Gateway
	port := w.URL[strings.LastIndexByte(w.URL, ':'):]
	for path, tt := range map[string]struct{ host, resource string }{
		metadataAt:                     {"", w.URL},
		metadataAt + "/agents/rec":     {"", w.URL + "/agents/rec"},
		metadataAt + "/agents/none":    {"", w.URL + "/agents/none"},
		metadataAt + "/agents/a%20b":   {"", w.URL + "/agents/a%20b"},
		metadataAt + "?a=b":            {ownHost, "http://" + ownHost},
		metadataAt + "?port":           {ownHost + port, "http://" + ownHost + port},
		metadataAt + "?case":           {strings.ToUpper(ownHost), "http://" + ownHost},
		metadataAt + "/agents/x?query": {"", w.URL + "/agents/x"},
	} {
		var header []string
		if tt.host != "" {
			header = []string{"Host: " + tt.host}
		}
		got := w.Do("", "GET", w.URL+path, "", header...)
		proxytest.WantStatus(t, path, got, 200)
		want := map[string]any{
			"resource": tt.resource, "authorization_servers": []any{g.tokenIssuer.url}, "bearer_methods_supported": []any{"header"},
			"resource_name": "a2a-gateway", "dpop_signing_alg_values_supported": []any{
				"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"},
		}
		read := map[string]any{}
		proxytest.Must(t, json.Unmarshal([]byte(got.Body), &read))
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestPublished: the documents for everybody are cached, answer HEAD, and 304 to who
// has them; they are read only, and nothing a caller shows changes them.
func TestPublished(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(s *proxytest.Setup) { s.JWKS = func() []byte { return []byte(`{"keys":[]}`) } })
	w := g.Gateway
	for path, media := range map[string]string{
		metadataAt: "application/json", metadataAt + "/agents/rec": "application/json", "/.well-known/jwks.json": "application/jwk-set+json",
	} {
		got := w.Do("", "GET", w.URL+path, "")
		proxytest.WantStatus(t, path, got, 200)
		tag := got.Header.Get("Etag")
		if got.Header.Get("Content-Type") != media || got.Header.Get("Cache-Control") != "public, max-age=300" || len(tag) < 20 {
			t.Errorf("%s: %v", path, got.Header)
		}
		head := w.Do("", "HEAD", w.URL+path, "")
		proxytest.WantStatus(t, path, head, 200)
		if head.Body != "" || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") || head.Header.Get("Etag") != tag {
			t.Errorf("%s, HEAD: %v %q", path, head.Header, head.Body)
		}
		for match, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200} {
			proxytest.WantStatus(t, path+" "+match, w.Do("", "GET", w.URL+path, "", "If-None-Match: "+match), status)
		}
		for name, lines := range map[string][]string{"good": g.bearer("alice", nil), "bad": {"Authorization: Bearer x"}} {
			if other := w.Do("", "GET", w.URL+path, "", lines...); other.Body != got.Body || other.Status != 200 {
				t.Errorf("%s, with a %s credential: %d %s", path, name, other.Status, other.Body)
			}
		}
		for _, verb := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			other := w.Do("", verb, w.URL+path, "")
			proxytest.WantStatus(t, verb+" "+path, other, 405)
			if other.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %v", verb, path, other.Header)
			}
		}
		proxytest.WantStatus(t, path, w.Do("", "GET", w.URL+path, "", "Host: evil.example"), 421)
	}
	none := newGate(t).Gateway
	proxytest.WantStatus(t, "no keys", none.Do("", "GET", none.URL+"/.well-known/jwks.json", ""), 404)
}
