package state_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

func BenchmarkClaimNew(b *testing.B) {
	m := open(b, state.Config{Memory: state.MemoryConfig{Records: 1 << 30}})
	records := make([]state.Record, b.N)
	for i := range records {
		records[i] = record(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := m.Claim(b.Context(), records[i]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClaimKnown(b *testing.B) {
	m, r := full(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Claim(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, r := full(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, _ := m.Lookup(b.Context(), r.Agent, r.Kind, r.ID); !ok {
					b.Fatal("not found")
				}
			}
		})
	}
}

func BenchmarkLookupParallel(b *testing.B) {
	m, r := full(b, 10_000)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, ok, _ := m.Lookup(b.Context(), r.Agent, r.Kind, r.ID); !ok {
				b.Error("not found")
			}
		}
	})
}

// BenchmarkTasks lists a page for one owner of a thousand on the same agent, of
// whose tasks all or one in a hundred are in the context, and for everybody.
func BenchmarkTasks(b *testing.B) {
	const n, owners = 1_000_000, 1000
	m := open(b, state.Config{})
	for i := range n {
		r := record(i)
		r.Owner, r.Created = fmt.Sprint("owner-", i%owners), time.Time{}
		r.Context = fmt.Sprint("context-", i/owners%100)
		if _, err := m.Claim(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]state.Query{
		"owner":    {Owner: "owner-7", Limit: 50},
		"context":  {Owner: "owner-7", Context: "context-7", Limit: 50},
		"tenant":   {Owner: "owner-7", Tenant: "acme", Limit: 50},
		"everyone": {Everyone: true, Limit: 50},
		"all":      {Everyone: true, Context: "nobody's", Limit: 50}, // the worst there is
	} {
		q.Agent = "billing"
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, _ := m.Tasks(b.Context(), q); len(list) == 0 && name != "all" {
					b.Fatal("nothing found")
				}
			}
		})
	}
}

// BenchmarkMemoryPerOwner reports what the first task of an owner costs more than
// the others.
func BenchmarkMemoryPerOwner(b *testing.B) {
	const n = 100_000
	fills := 0
	fill := func(owners int) float64 {
		fills++
		before := heap()
		m := open(b, state.Config{})
		for i := range n {
			r := record(i)
			r.Owner, r.Extensions = fmt.Sprintf("14:https://issuer%d:%08d", fills, i%owners), nil
			if _, err := m.Claim(b.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
		after := heap()
		runtime.KeepAlive(m)
		return float64(after) - float64(before)
	}
	for range b.N {
		one := fill(1)
		b.ReportMetric((fill(n)-one)/n, "B/owner")
	}
}

// BenchmarkMemoryPerRecord reports what one record costs in a full store.
func BenchmarkMemoryPerRecord(b *testing.B) {
	const n = 200_000
	for range b.N {
		before := heap()
		m, _ := full(b, n)
		b.ReportMetric(float64(heap()-before)/n, "B/record")
		runtime.KeepAlive(m)
	}
}

// BenchmarkMemoryPerTask reports what a task costs that comes with a context of its
// own, which is two records: those of a million, in megabytes, are the same number.
func BenchmarkMemoryPerTask(b *testing.B) {
	const n = 500_000
	for range b.N {
		before := heap()
		m := open(b, state.Config{})
		for i := range n {
			r := record(i)
			r.Extensions = nil
			c := state.Record{Agent: r.Agent, Kind: state.Context, ID: r.Context, Owner: r.Owner, Tenant: r.Tenant}
			if _, err := m.ClaimAll(b.Context(), []state.Record{c, r}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/n, "B/task")
		runtime.KeepAlive(m)
	}
}

// BenchmarkLookupAll asks for a task and its context, as the check of a call does.
func BenchmarkLookupAll(b *testing.B) {
	m, r := full(b, 1_000_000)
	refs := []state.Ref{{Kind: state.Task, ID: r.ID}, {Kind: state.Context, ID: r.Context}}
	b.ReportAllocs()
	for b.Loop() {
		if found, _ := m.LookupAll(b.Context(), r.Agent, refs); found[0].Owner == "" {
			b.Fatal("not found")
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// full fills a store with n records and returns the middle one, without
// extensions, as most calls have none.
func full(b *testing.B, n int) (*state.Memory, state.Record) {
	b.Helper()
	m := open(b, state.Config{})
	for i := range n {
		r := record(i)
		r.Extensions = nil
		if _, err := m.Claim(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	r := record(n / 2)
	r.Extensions = nil
	return m, r
}
