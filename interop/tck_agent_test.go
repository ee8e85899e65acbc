package interop_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// startGoForTCK starts agents of the Go SDK, one for each binding, and serves a card of all
// their interfaces. JSON-RPC is where that is as well: the TCK for 0.3 posts there.
func startGoForTCK(t *testing.T, version string) string {
	t.Helper()
	var card map[string]any
	mux := http.NewServeMux()
	for _, f := range gatewaytest.AllFlavours() {
		if string(f.Version)[:3] != version || strings.HasPrefix(f.Name, "go03-") {
			continue
		}
		a := gatewaytest.Start(t, f)
		if f.Binding == "JSONRPC" {
			at, err := url.Parse(a.URL)
			if err != nil {
				t.Fatal(err)
			}
			mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }, FlushInterval: -1})
		}
		card = withInterfaces(card, fetchCard(t, a.CardURL))
	}
	text, err := json.Marshal(card)
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc(wellKnown, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// withInterfaces adds to a card, of which there may be none yet, the interface of another.
func withInterfaces(card, other map[string]any) map[string]any {
	if card == nil {
		return other
	}
	add := func(key string, more ...any) {
		list, _ := card[key].([]any)
		card[key] = append(list, more...)
	}
	if more, ok := other["supportedInterfaces"].([]any); ok {
		add("supportedInterfaces", more...)
	}
	if at, ok := other["url"]; ok { // the SDK's cards for 0.3 have both
		add("additionalInterfaces", map[string]any{"url": at, "transport": other["preferredTransport"]})
	}
	return card
}

// startTCKGateway starts the gateway in front of an agent, open to anybody, as the TCK has no
// credential. Calls over gRPC do not name the agent, so that a host has to.
func startTCKGateway(t *testing.T, version, url string) *gateway {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q}
admin: {address: "127.0.0.1:0"}
authn: {anonymous: true}
policy: {default: allow}
push: {mode: passthrough}
agents:
  - id: tck
    hosts: ["127.0.0.1"]
    card: {url: %q, form: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}
    endpoints: [%s]
`, dir, url+wellKnown, version, strings.Join(endpoints(t, url, version), ", "))
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{binary: buildGateway(t), dir: dir}
	g.serve(t, file)
	return g
}

// endpoints are the origins that an agent's card has beside its own, as the gateway's
// configuration names them.
func endpoints(t *testing.T, base, version string) []string {
	t.Helper()
	card := fetchCard(t, base+wellKnown)
	var list []string
	for _, binding := range []string{"JSONRPC", "HTTP+JSON", "GRPC"} {
		_, endpoint := withOneInterface(t, card, side{version, binding})
		if origin := fmt.Sprintf("%q", originOf(t, endpoint)); origin != fmt.Sprintf("%q", base) && !slices.Contains(list, origin) {
			list = append(list, origin)
		}
	}
	return list
}
