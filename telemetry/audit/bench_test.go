package audit

import (
	"fmt"
	"syscall"
	"testing"
)

// BenchmarkIntent writes records from many goroutines at once. CPU time per
// record is what it costs a gateway; the clock also shows how long the disk took.
func BenchmarkIntent(b *testing.B) {
	for _, durability := range []string{durabilityWrite, durabilitySync} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", durability, callers), func(b *testing.B) {
				l := opened(b, Config{Dir: b.TempDir(), Durability: durability}, nil)
				e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
				b.SetParallelism(callers)
				b.ReportAllocs()
				begin := cpuTime(b)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := l.Intent(e); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

func cpuTime(b *testing.B) int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}
