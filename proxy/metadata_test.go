package proxy_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

const metadataAt = "/.well-known/oauth-protected-resource"

// TestMetadata: the RFC 9728 document by every address that a challenge may name.
func TestMetadata(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	w := g.world
	port := w.url[strings.LastIndexByte(w.url, ':'):]
	for path, tt := range map[string]struct{ host, resource string }{
		metadataAt:                     {"", w.url},
		metadataAt + "/agents/rec":     {"", w.url + "/agents/rec"},
		metadataAt + "/agents/none":    {"", w.url + "/agents/none"},
		metadataAt + "/agents/a%20b":   {"", w.url + "/agents/a%20b"},
		metadataAt + "?a=b":            {ownHost, "http://" + ownHost},
		metadataAt + "?port":           {ownHost + port, "http://" + ownHost + port},
		metadataAt + "?case":           {strings.ToUpper(ownHost), "http://" + ownHost},
		metadataAt + "/agents/x?query": {"", w.url + "/agents/x"},
	} {
		var header []string
		if tt.host != "" {
			header = []string{"Host: " + tt.host}
		}
		got := w.do("", "GET", w.url+path, "", header...)
		wantStatus(t, path, got, 200)
		want := map[string]any{
			"resource": tt.resource, "authorization_servers": []any{g.tokenIssuer.url}, "bearer_methods_supported": []any{"header"},
			"resource_name": "a2a-gateway", "dpop_signing_alg_values_supported": []any{
				"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"},
		}
		read := map[string]any{}
		must(t, json.Unmarshal([]byte(got.body), &read))
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestPublished: the documents for everybody are cached, answer HEAD, and 304 to who
// has them; they are read only, and nothing a caller shows changes them.
func TestPublished(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(s *setup) { s.jwks = func() []byte { return []byte(`{"keys":[]}`) } })
	w := g.world
	for path, media := range map[string]string{
		metadataAt: "application/json", metadataAt + "/agents/rec": "application/json", "/.well-known/jwks.json": "application/jwk-set+json",
	} {
		got := w.do("", "GET", w.url+path, "")
		wantStatus(t, path, got, 200)
		tag := got.header.Get("Etag")
		if got.header.Get("Content-Type") != media || got.header.Get("Cache-Control") != "public, max-age=300" || len(tag) < 20 {
			t.Errorf("%s: %v", path, got.header)
		}
		head := w.do("", "HEAD", w.url+path, "")
		wantStatus(t, path, head, 200)
		if head.body != "" || head.header.Get("Content-Length") != got.header.Get("Content-Length") || head.header.Get("Etag") != tag {
			t.Errorf("%s, HEAD: %v %q", path, head.header, head.body)
		}
		for match, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200} {
			wantStatus(t, path+" "+match, w.do("", "GET", w.url+path, "", "If-None-Match: "+match), status)
		}
		for name, lines := range map[string][]string{"good": g.bearer("alice", nil), "bad": {"Authorization: Bearer x"}} {
			if other := w.do("", "GET", w.url+path, "", lines...); other.body != got.body || other.status != 200 {
				t.Errorf("%s, with a %s credential: %d %s", path, name, other.status, other.body)
			}
		}
		for _, verb := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			other := w.do("", verb, w.url+path, "")
			wantStatus(t, verb+" "+path, other, 405)
			if other.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %v", verb, path, other.header)
			}
		}
		wantStatus(t, path, w.do("", "GET", w.url+path, "", "Host: evil.example"), 421)
	}
	none := newGate(t).world
	wantStatus(t, "no keys", none.do("", "GET", none.url+"/.well-known/jwks.json", ""), 404)
}
