package statetest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// BenchmarkLogs measures a driver with events as agents send them: one writer, and
// several, each at a log of its own.
func BenchmarkLogs(b *testing.B, open func(testing.TB) state.Logs) {
	b.Helper()
	keep := state.Bound{Entries: 1000, Bytes: 1 << 20, TTL: time.Hour}
	event := bytes.Repeat([]byte("x"), 600)
	for _, size := range []int{1, 16} {
		entries := make([][]byte, size)
		for i := range entries {
			entries[i] = event
		}
		b.Run(fmt.Sprintf("Append %d", size), func(b *testing.B) {
			l, last := open(b), uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Append(b.Context(), "a", last, entries, keep); err != nil {
					b.Fatal(err)
				}
				last += uint64(size)
			}
		})
		b.Run(fmt.Sprintf("Append %d of 64 writers", size), func(b *testing.B) {
			l, each := open(b), b.N/64+1
			b.ReportAllocs()
			b.ResetTimer()
			together(64, func(writer int) {
				for i := range each {
					if err := l.Append(b.Context(), fmt.Sprint(writer), uint64(i*size), entries, keep); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	b.Run("Read 100", func(b *testing.B) {
		l := open(b)
		for i := range uint64(1000) {
			if err := l.Append(b.Context(), "a", i, [][]byte{event}, keep); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			if got, err := l.Read(b.Context(), "a", 500, 100); err != nil || len(got.Entries) != 100 {
				b.Fatal(len(got.Entries), err)
			}
		}
	})
}
