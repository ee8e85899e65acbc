package inspect

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
)

// BenchmarkGuardRequest is what guards add to a call that they find nothing in: a message of 700 bytes
// through secrets and pii, with the reading of its parts.
func BenchmarkGuardRequest(b *testing.B) {
	text := strings.Repeat("Please refund order 1047 from last week, the room was not as it was described. ", 4)[:300]
	body := []byte(`{"jsonrpc":"2.0","method":"message/send","params":{"configuration":{"blocking":true,` +
		`"acceptedOutputModes":["text/plain","application/json"]},"message":{"kind":"message",` +
		`"messageId":"01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a10","contextId":"01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a11",` +
		`"role":"user","parts":[{"kind":"text","text":"` + text + `"}],"metadata":{"locale":"en"}}},` +
		`"id":"01938c1e-7b1a-7c3e-9b57-3f1f0b8f9a12"}`)
	set, err := guard.New(guard.Config{{Name: "a", Use: "secrets"}, {Name: "b", Use: "pii"}}, guard.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var c wire.Call
	if e := c.DecodeJSONRPC(body, "", wire.Limits{}); e != nil {
		b.Fatal(e)
	}
	on := set.Of("billing").On(guard.Request)
	b.ReportAllocs()
	for b.Loop() {
		cs, err := c.Carriers(wire.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		t := readTexts(cs, guard.Request, "", nil)
		if r := on.Inspect(b.Context(), &t.content); r.Findings != nil {
			b.Fatal(r.Findings)
		}
	}
}
