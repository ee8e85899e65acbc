package intake_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/wiretest"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestL35_JSONVectors sends every vector through the gateway: its agent sees the very
// bytes, or nothing.
func TestL35_JSONVectors(t *testing.T) {
	t.Parallel()
	vectors, err := wiretest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*wire.Kind{"ok": {RPC: 200, HTTP: 200}}
	for _, k := range wire.Kinds() {
		kinds[k.Reason] = k
	}
	w := proxytest.NewGateway(t)
	for _, v := range vectors {
		want := kinds[v.Want]
		if want == nil {
			t.Fatalf("%s: no kind %s", v.Name, v.Want)
		}
		judge := func(path, body string, status int) proxytest.Response {
			got := w.Do("alice", "POST", path, body, "A2A-Version: 1.0")
			switch what := v.Rule + ": " + v.Name + " at " + path; {
			case got.Status != status:
				t.Errorf("%s: status %d, want %d: %.200s", what, got.Status, status, got.Body)
			case v.Want != "ok":
				w.Agent.Silent(t, what)
			default:
				if seen := w.Agent.One(t).Content; string(seen) != body {
					t.Errorf("%s: the agent saw %.300q, not %.300q", what, seen, body)
				}
			}
			return got
		}
		var a struct {
			ID    proxytest.RawJSON `json:"id"`
			Error struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		got := judge("", v.JSONRPC(), want.RPC)
		if err := json.Unmarshal([]byte(got.Body), &a); err != nil || a.Error.Code != want.Code || v.ID != "" && string(a.ID) != v.ID {
			t.Errorf("%s: %s: %v, answered %.200s", v.Rule, v.Name, err, got.Body)
		}
		if body := v.HTTPJSON(); body != "" {
			if got := judge("/message:send", body, want.HTTP); !strings.Contains(got.Body, want.Reason) {
				t.Errorf("%s: %s: answered %.200s", v.Rule, v.Name, got.Body)
			}
		}
	}
}
