package wire

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/wiretest"
)

// TestL36_JSONVectors reads every vector as a call of each binding that it can come in.
func TestL36_JSONVectors(t *testing.T) {
	t.Parallel()
	vectors, err := wiretest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	route, ok := ByRoute("POST", "/message:send")
	if !ok {
		t.Fatal("no route")
	}
	reason := func(e *Error) string {
		if e == nil {
			return "ok"
		}
		return e.Reason
	}
	for _, v := range vectors {
		t.Run(v.Rule+"/"+v.Name, func(t *testing.T) {
			t.Parallel()
			var c Call
			body := v.JSONRPC()
			e := c.DecodeJSONRPC([]byte(body), V10, Limits{})
			if reason(e) != v.Want || e == nil && string(c.Body) != body || v.ID != "" && string(c.ID) != v.ID {
				t.Errorf("JSON-RPC: got %v with id %s, want %s", e, c.ID, v.Want)
			}
			if body = v.HTTPJSON(); body == "" {
				return
			}
			if e := c.DecodeHTTP(route, nil, []byte(body), V10, Limits{}); reason(e) != v.Want || e == nil && string(c.Body) != body {
				t.Errorf("HTTP+JSON: got %v, want %s", e, v.Want)
			}
		})
	}
}

// addVectors begins with every document of the vectors but the large ones.
func addVectors(f *testing.F) {
	f.Helper()
	vectors, err := wiretest.Vectors()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		for _, doc := range []string{v.JSONRPC(), v.HTTPJSON()} {
			if doc != "" && len(doc) < 1<<10 {
				f.Add([]byte(doc))
			}
		}
	}
}
