package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// Benchmark compares the store with bare commands on the same server.
func Benchmark(b *testing.B) {
	s, plain := fresh(b), everybody(b).client(b)
	r := statetest.Example()
	if _, err := s.Claim(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	plain.Set(b.Context(), "bare", stored(r), 0)
	refs := []state.Ref{{Kind: state.Task, ID: r.ID}, {Kind: state.Context, ID: r.Context}}
	draws := []state.Draw{
		statetest.ExampleDraw(state.Rate), statetest.ExampleDraw(state.Quota), statetest.ExampleDraw(state.Hold),
	}
	for i := range draws {
		draws[i].Key, draws[i].Limit = fmt.Sprint("bench-", i), 1<<40
		draws[i].Refill, draws[i].Period = 1<<40, time.Hour
	}
	n := 0
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"bare PING", func() error { return plain.Ping(b.Context()).Err() }},
		{"bare GET", func() error { return plain.Get(b.Context(), "bare").Err() }},
		{"Lookup", func() error { _, _, err := s.Lookup(b.Context(), r.Agent, r.Kind, r.ID); return err }},
		{"LookupAll of 2", func() error { _, err := s.LookupAll(b.Context(), r.Agent, refs); return err }},
		{"Claim known", func() error { _, err := s.Claim(b.Context(), r); return err }},
		{"Claim new", func() error {
			n++
			r := r
			r.ID = fmt.Sprint("bench-", n)
			_, err := s.Claim(b.Context(), r)
			return err
		}},
		{"ClaimAll of 2", func() error {
			n++
			task, inContext := r, r
			task.ID, inContext.ID, inContext.Kind = fmt.Sprint("bench-", n), fmt.Sprint("bench-", n), state.Context
			_, err := s.ClaimAll(b.Context(), []state.Record{task, inContext})
			return err
		}},
		{"Draw of 3", func() error { _, err := s.Draw(b.Context(), draws); return err }},
		{"Tasks, a page of 50", func() error {
			_, err := s.Tasks(b.Context(), state.Query{Agent: r.Agent, Owner: r.Owner, Limit: 50})
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLogs(b *testing.B) {
	statetest.BenchmarkLogs(b, func(b testing.TB) state.Logs { return fresh(b) })
}

func BenchmarkQueue(b *testing.B) {
	statetest.BenchmarkQueue(b, func(b testing.TB) state.Queue { return fresh(b) })
}
