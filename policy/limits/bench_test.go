package limits_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

func BenchmarkAdmit(b *testing.B) {
	for _, lines := range [][]string{
		nil,
		{"{name: elsewhere, agents: [weather], rate: {units: 1}}"},
		{"{name: rate, rate: {units: 1000000000, burst: 1000000000}}"},
		{
			"{name: rate, rate: {units: 1000000000, burst: 1000000000}}",
			"{name: daily, quota: {units: 1000000000000}, key: [tenant]}",
			"{name: agent, rate: {units: 1000000000, burst: 1000000000}, key: [principal, agent]}",
		},
		{"{name: places, concurrency: 10}"},
		{"{name: open, openTasks: 10}"},
	} {
		name := "none"
		if len(lines) > 0 {
			name = fmt.Sprint(len(lines), lines[0][7:12])
		}
		b.Run(name, func(b *testing.B) {
			l := limiter(b, limits.Options{}, lines...)
			c := (&calls{t: b}).send()
			b.ReportAllocs()
			for b.Loop() {
				p, err := l.Admit(b.Context(), c)
				if err != nil {
					b.Fatal(err)
				}
				p.Release(b.Context())
			}
		})
	}
}

// BenchmarkCallers reports what a million callers take of memory.
func BenchmarkCallers(b *testing.B) {
	const callers = 1_000_000
	for b.Loop() {
		store := state.NewMemory(state.Config{})
		l := limiter(b, limits.Options{Store: store}, "{name: per-caller, rate: {units: 1, per: 24h}}")
		before := heap()
		c := (&calls{t: b}).send()
		for i := range callers {
			c.Principal = &authn.Principal{Subject: fmt.Sprintf("user-%08d", i), Issuer: "https://login.example.com"}
			if _, err := l.Admit(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/callers, "B/caller")
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
