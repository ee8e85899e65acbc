package statetest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// BenchmarkQueue measures how long a Push takes, and a Take of one item with its Done, in
// queues in which none and many items wait in ten thousand lines; and both with many
// callers at once.
func BenchmarkQueue(b *testing.B, open func(testing.TB) state.Queue) {
	b.Helper()
	for _, waiting := range []int{0, 100_000} {
		q := open(b)
		fillQueue(b, q, waiting)
		var last atomic.Int64
		next := func() state.Item {
			n := last.Add(1)
			it := ExampleItem(fmt.Sprintf("new-%012d", n), fmt.Sprintf("line-%06d", n*7919%10_000))
			it.Line, it.Data = "new-"+it.Line, make([]byte, 1024)
			it.Due = noon().Add(-time.Hour) // before all that wait
			return it
		}
		benchmarkQueue(b, fmt.Sprintf("Take+Done/waiting=%d", waiting),
			func(n int) { pushAll(b, q, n, next) }, func() { takeDone(b, q) })
		benchmarkQueue(b, fmt.Sprintf("Push/waiting=%d", waiting),
			func(int) {}, func() { push(b, q, next()) })
	}
}

// benchmarkQueue measures one operation after what it needs was prepared.
func benchmarkQueue(b *testing.B, name string, prepare func(n int), do func()) {
	b.Helper()
	b.Run(name+"/1 caller", func(b *testing.B) {
		prepare(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			do()
		}
	})
	b.Run(name+"/64 callers", func(b *testing.B) {
		prepare(b.N)
		b.SetParallelism(64 / runtime.GOMAXPROCS(0))
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				do()
			}
		})
	})
}

func takeDone(b testing.TB, q state.Queue) {
	for _, it := range take(b, q, "h", noon(), 1) {
		settled(b, q.Done(b.Context(), "q", "h", it.ID), nil)
	}
}

// fillQueue leaves items that are due but never come first.
func fillQueue(b testing.TB, q state.Queue, n int) {
	i := 0
	pushAll(b, q, n, func() state.Item {
		i++
		it := ExampleItem(fmt.Sprintf("old-%08d", i), fmt.Sprint("old-", i%10_000))
		it.Data = make([]byte, 1024)
		return it
	})
}

// pushAll has many callers push, as drivers may do that at once.
func pushAll(b testing.TB, q state.Queue, n int, next func() state.Item) {
	var wg sync.WaitGroup
	all := make(chan state.Item)
	for range 64 {
		wg.Go(func() {
			for it := range all {
				push(b, q, it)
			}
		})
	}
	for range n {
		all <- next()
	}
	close(all)
	wg.Wait()
}
