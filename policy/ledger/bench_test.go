package ledger

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func BenchmarkCheck(b *testing.B) {
	l := New(newStore(b), Config{})
	learn(b, l, alice, task("T", "C"))
	for name, c := range map[string]*wire.Call{
		"context": send(b, "", "C"), "task and context": send(b, "T", "C"), "absent": send(b, "X", ""),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = l.Check(b.Context(), alice, "billing", c)
			}
		})
	}
}

func BenchmarkReserve(b *testing.B) {
	l := New(newStore(b), Config{})
	c := send(b, "", "C")
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Reserve(b.Context(), alice, "billing", "invoices", c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLearnKnown is what each event of a stream costs.
func BenchmarkLearnKnown(b *testing.B) {
	for name, a := range map[string]wire.Answer{
		"message": {Kind: "message", ContextID: "C"}, "task": task("T", "C"),
	} {
		b.Run(name, func(b *testing.B) {
			l := New(newStore(b), Config{})
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Learn(b.Context(), alice, "billing", "invoices", "e", "1.0", nil, a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTasks(b *testing.B) {
	l := New(newStore(b), Config{})
	for i := range 1000 {
		learn(b, l, alice, task(fmt.Sprint("T", i), "C"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err := l.Tasks(b.Context(), alice, "billing", "", 50); err != nil || len(list) != 50 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkSpeaks(b *testing.B) {
	l := New(newStore(b), Config{})
	if err := l.Bind(b.Context(), alice, "billing", state.TaskAlias, "mine", "T"); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if v, err := l.Speaks(b.Context(), alice, "billing", "mine"); err != nil || v != "0.1" {
			b.Fatal(v, err)
		}
	}
}
