package sqlite

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// record is one of many tasks as calls leave them behind.
func record(i int) state.Record {
	r := statetest.Example()
	r.ID = fmt.Sprintf("%08x-d9cb-469f-a165-%012d", uint32(i)*2654435761, i) // spread like random ids
	r.Context = fmt.Sprintf("%08x-7425-40de-944b-%012d", uint32(i)*2246822519, i)
	r.Extensions = nil
	return r
}

func fill(b *testing.B, s *Store, n int) {
	b.Helper()
	const part = 1000
	for i := 0; i < n; i += part {
		var rs []state.Record
		for k := i; k < min(i+part, n); k++ {
			rs = append(rs, record(k))
		}
		if _, err := s.ClaimAll(b.Context(), rs); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLookup looks tasks up, each time another.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1, 100_000} {
		s := fresh(b)
		fill(b, s, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				r := record(i * 7919 % n)
				if _, ok, err := s.Lookup(b.Context(), r.Agent, r.Kind, r.ID); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkClaim has 64 callers claim new tasks.
func BenchmarkClaim(b *testing.B) {
	for _, sync := range []string{"normal", "full"} {
		b.Run(sync, func(b *testing.B) {
			c := config(b.TempDir() + "/state.db")
			c.SQLite.Sync = sync
			s := reopen(b, c, time.Now)
			b.ReportAllocs()
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			var next atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := s.Claim(b.Context(), record(int(next.Add(1)))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkClaimAlone has one caller claim new tasks, each in a transaction of its own.
func BenchmarkClaimAlone(b *testing.B) {
	s := fresh(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r := record(i)
		r.Tenant = ""
		if _, err := s.Claim(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLogs(b *testing.B) {
	statetest.BenchmarkLogs(b, func(b testing.TB) state.Logs { return fresh(b) })
}

func BenchmarkQueue(b *testing.B) {
	statetest.BenchmarkQueue(b, func(b testing.TB) state.Queue { return fresh(b) })
}
