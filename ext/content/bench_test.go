package content_test

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// big is a registry of a hundred, pay, stamp and stampPro among them.
func big(r ext.Registry) ext.Registry {
	for i := len(r); i < 100; i++ {
		r = append(r, ext.Entry{URI: fmt.Sprintf("https://example.com/ext/number-%d/v1", i)})
	}
	return r
}

const marked = `{"task":{"id":"t","metadata":{"pay.status":"asked","mine":1},"status":{"state":"TASK_STATE_WORKING",
	"timestamp":"2026-01-01T00:00:00Z","message":{"messageId":"m","extensions":["` + pay + `"],"parts":[{"data":{"v":1}}]}}}}`

func BenchmarkStrays(b *testing.B) {
	c := read(b, result(marked))
	terms := content.Terms{Book: compile(b, big(registry())), Declared: card, Visible: ext.Set{pay}, Answer: true}
	b.ReportAllocs()
	for b.Loop() {
		if terms.Strays(c) != nil || terms.Unknown(c) != nil {
			b.Fatal("there is nothing to find")
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	r := judged("")
	delete(r[0].Schemas.Metadata, "pay.status")
	c := read(b, result(marked))
	terms := content.Terms{Book: compile(b, big(r)), Active: ext.Set{stamp, pay}, Answer: true}
	for name, judge := range map[string]func(*wire.Carriers) []content.Violation{"values": terms.Values, "objects": terms.Objects} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v := judge(c); v != nil {
					b.Fatal(v)
				}
			}
		})
	}
}

func BenchmarkArrivals(b *testing.B) {
	c := read(b, result(marked))
	terms := content.Terms{Book: compile(b, big(moving(""))), Active: ext.Set{pay}, Answer: true}
	b.ReportAllocs()
	for b.Loop() {
		if len(terms.Arrivals(c)) != 1 {
			b.Fatal("there is a state")
		}
	}
}

// A document without a mark, and a call without an extension, cost nothing.
func TestNothingCostsNothing(t *testing.T) {
	plain := read(t, params(`{"message":{"messageId":"m","parts":[{"text":"x"}]}}`))
	foreign := read(t, result(marked))
	book := compile(t, big(judged("")))
	for name, run := range map[string]func(){
		"no marks": func() {
			terms := content.Terms{Book: book, Declared: card, Active: ext.Set{pay}}
			_, _, _ = terms.Strays(plain), terms.Unknown(plain), terms.Values(plain)
		},
		"what is visible": func() {
			terms := content.Terms{Book: book, Declared: card, Visible: ext.Set{pay}, Answer: true}
			_, _ = terms.Strays(foreign), terms.Unknown(foreign)
		},
		"nothing active": func() {
			terms := content.Terms{Book: book, Declared: card, Answer: true}
			_, _, _ = terms.Values(foreign), terms.Objects(foreign), terms.Arrivals(foreign)
			_ = terms.JudgesObjects()
		},
	} {
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
