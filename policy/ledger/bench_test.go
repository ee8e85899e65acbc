package ledger

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// memory is a ledger over the driver itself, as a gateway has it: the store of the
// tests counts, and so stands for one that is far.
func memory(b *testing.B) *Ledger {
	b.Helper()
	m := state.NewMemory(state.Config{})
	b.Cleanup(func() { _ = m.Close() })
	return New(m, Config{})
}

// BenchmarkCheck. Of its allocations one is the principal's key, which principals that
// a chain returns have already.
func BenchmarkCheck(b *testing.B) {
	for name, c := range map[string]*wire.Call{
		"context": send(b, "", "C"), "task and context": send(b, "T", "C"), "absent": send(b, "X", ""),
		"foreign": send(b, "F", ""), "references": send(b, "T", "C", "T", "T"),
	} {
		for place, l := range map[string]*Ledger{"near": memory(b), "far": New(newStore(b), Config{})} {
			learn(b, l, alice, task("T", "C"))
			learn(b, l, bob, task("F", ""))
			b.Run(name+" "+place, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = l.Check(b.Context(), alice, "billing", c)
				}
			})
		}
	}
}

func BenchmarkReserve(b *testing.B) {
	l := memory(b)
	c := send(b, "", "C")
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Reserve(b.Context(), alice, Origin{Agent: "billing", Skill: "invoices"}, c); err != nil {
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
			l := memory(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := learned(l.Learn(b.Context(), alice, Origin{Agent: "billing", Skill: "invoices", Endpoint: "e", Version: "1.0"}, a)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTasks(b *testing.B) {
	l := memory(b)
	for i := range 1000 {
		learn(b, l, alice, task(fmt.Sprint("T", i), "C"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err := l.Tasks(b.Context(), alice, "billing", nil, "", 50, nil); err != nil || len(list) != 50 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkSpeaks(b *testing.B) {
	l := memory(b)
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
