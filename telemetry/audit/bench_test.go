package audit

import (
	"fmt"
	"os"
	"strconv"
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

// BenchmarkEncrypted is BenchmarkIntent for encrypted files.
func BenchmarkEncrypted(b *testing.B) {
	l := opened(b, Config{Dir: b.TempDir(), Encryption: oneKey}, nil)
	e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
	b.ReportAllocs()
	begin := cpuTime(b)
	for b.Loop() {
		if err := l.Intent(e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/op")
}

// BenchmarkVerify verifies logs of so many records; A2A_GATEWAY_BENCH_RECORDS says how many.
func BenchmarkVerify(b *testing.B) {
	n := 50_000
	if s := os.Getenv("A2A_GATEWAY_BENCH_RECORDS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	l, ring := signedLog(b, Config{Dir: dir}, newFakeDisk())
	e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
	for range n {
		if err := l.Intent(e); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	records, begin := 0, cpuTime(b)
	for b.Loop() {
		r, err := Source{Path: dir}.Verify(b.Context(), Check{Keys: ring.JWKS()})
		if err != nil || len(r.Findings) > 0 {
			b.Fatal(err, r)
		}
		b.SetBytes(r.Bytes)
		records += r.Records
	}
	b.ReportMetric(float64(cpuTime(b)-begin)/float64(records), "cpu-ns/record")
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

func cpuTime(b *testing.B) int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}
