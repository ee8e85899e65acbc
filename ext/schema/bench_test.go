package schema

import (
	"bytes"
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

// message is about a KiB, more or less of it lines of an order.
func message(id, lines int) []byte {
	b := fmt.Appendf(nil, `{"messageId":"m-%d","contextId":"c-1","role":"ROLE_USER","parts":[{"text":"%0*d"},{"data":{"lines":[`,
		id, 750-27*lines, 0)
	for i := range lines {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"sku":"ABC-%d","count":%d}`, i, i+1)
	}
	return append(b, `]}}],"metadata":{"https://billing.example/extensions/cost-centre/v1":{"code":"4711"}}}`...)
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, order)
	for _, lines := range []int{1, 10} {
		b.Run(fmt.Sprintf("new/lines=%d", lines), func(b *testing.B) {
			value := message(1, lines)
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				if v := s.check(value); v != nil {
					b.Fatal(v)
				}
			}
		})
	}
	b.Run("known", func(b *testing.B) {
		value := message(2, 10)
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Check(value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("known/16KiB", func(b *testing.B) {
		value := message(3, 1)
		value = append(value, bytes.Repeat([]byte(" "), maxRemembered-len(value))...)
		for b.Loop() {
			if err := s.Check(value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("broken", func(b *testing.B) {
		value := message(4, 1)
		value[2] = 'M' // messageId is missing
		b.ReportAllocs()
		for b.Loop() {
			if v := s.check(value); v == nil {
				b.Fatal("accepted")
			}
		}
	})
}
