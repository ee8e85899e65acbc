package schema

import (
	"fmt"
	"testing"
)

// order is a schema of the size that extensions have.
const order = `{"type":"object","required":["messageId","role","parts"],"properties":{
	"messageId":{"type":"string","minLength":1},"contextId":{"type":"string"},
	"role":{"enum":["ROLE_USER","ROLE_AGENT"]},
	"parts":{"type":"array","minItems":1,"items":{"type":"object","properties":{
		"text":{"type":"string"},"data":{"$ref":"#/$defs/order"}}}},
	"metadata":{"type":"object","propertyNames":{"maxLength":200}}},
	"$defs":{"order":{"type":"object","required":["lines"],"properties":{"lines":{"type":"array","items":{
		"type":"object","required":["sku","count"],"additionalProperties":false,"properties":{
		"sku":{"type":"string","pattern":"^[A-Z]{3}-[0-9]+$"},"count":{"type":"integer","minimum":1}}}}}}}}`

// message is about a KiB.
func message(id int) []byte {
	b := fmt.Appendf(nil, `{"messageId":"m-%d","contextId":"c-1","role":"ROLE_USER","parts":[{"text":"%0500d"},{"data":{"lines":[`, id, 0)
	for i := range 10 {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"sku":"ABC-%d","count":%d}`, i, i+1)
	}
	return append(b, `]}}],"metadata":{"https://billing.example/extensions/cost-centre/v1":{"code":"4711"}}}`...)
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, order)
	b.Run("new", func(b *testing.B) {
		value := message(1)
		b.SetBytes(int64(len(value)))
		b.ReportAllocs()
		for b.Loop() {
			if v := s.check(value); v != nil {
				b.Fatal(v)
			}
		}
	})
	b.Run("known", func(b *testing.B) {
		value := message(2)
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Check(value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("broken", func(b *testing.B) {
		value := append(message(3), ' ')
		value[2] = 'M' // messageId is missing
		b.ReportAllocs()
		for b.Loop() {
			if v := s.check(value); v == nil {
				b.Fatal("accepted")
			}
		}
	})
}
