package content_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// FuzzTerms: whatever can be read is judged without a panic, within bounds, and has no
// strays once those that were found are taken out.
func FuzzTerms(f *testing.F) {
	for _, d := range []document{
		params(`{"metadata":{"` + pay + `":{},"pay.status":1},"message":{"messageId":"m","extensions":["` + pay + `","urn:x"],"parts":[{"data":{}}]}}`),
		result(`{"task":{"id":"t","metadata":{"pay.status":"asked"},"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","metadata":{"` + stamp + `":1}}},"history":[{"extensions":["` + pay + `"]}]}}`),
		result(`{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING"},"metadata":{"pay.status":{"state":"paid"}}}}`),
		{side: grpc03, answer: true, text: `{"msg":{"content":[{"data":{"data":{"v":1}},"metadata":{"urn:u":1}}],"extensions":["` + local + `"]}}`},
	} {
		f.Add(d.text, d.answer, d.side.Version == wire.V10, byte(d.side.Binding))
	}
	r := judged("")
	r[0].Kind, r[0].States = ext.States, moving("")[0].States
	book := compile(f, r)
	m, _ := wire.ByName(wire.V10, wire.SendMessage)
	f.Fuzz(func(t *testing.T, text string, answer, v10 bool, binding byte) {
		side := wire.Side{Version: wire.V03, Binding: wire.JSONRPC + wire.Binding(binding%3)}
		if v10 {
			side.Version = wire.V10
		}
		c, err := wire.ReadCarriers(side, m, answer, []byte(text), wire.Limits{})
		if err != nil {
			return
		}
		terms := content.Terms{
			Book: book, Declared: card, Active: ext.Set{pay, local}, Visible: ext.Set{local}, Answer: answer,
		}
		for _, list := range [][]content.Violation{
			terms.Unknown(c), terms.Values(c), terms.Objects(c), content.Data(c, book.Schemas(pay).Part, true),
		} {
			if len(list) > 64 {
				t.Errorf("%d violations", len(list))
			}
		}
		if n := len(terms.Arrivals(c)); n > len(c.Marks) {
			t.Errorf("%d arrivals of %d marks", n, len(c.Marks))
		}
		strays := terms.Strays(c)
		for _, mark := range strays {
			c.Remove(mark)
		}
		after, err := wire.ReadCarriers(side, m, answer, c.Apply(), wire.Limits{})
		if err != nil {
			t.Fatalf("%s cannot be read any more: %v", c.Apply(), err)
		}
		if left := terms.Strays(after); left != nil || len(after.Marks) != len(c.Marks)-len(strays) {
			t.Errorf("%s still has %d strays, and %d marks of %d", c.Apply(), len(left), len(after.Marks), len(c.Marks))
		}
		for i := range c.List {
			c.Set(i, pay, []byte(`{"a":[1]}`))
			c.Add(i, pay)
		}
		if out := c.Apply(); len(bytes.TrimSpace(out)) > 0 && !json.Valid(out) {
			t.Errorf("%s is no JSON", out)
		}
	})
}
