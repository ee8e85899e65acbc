package telemetry

import (
	"syscall"
	"testing"
	"time"
)

// reportCPU adds the processor time per operation, which other load on the
// machine changes much less than the time on the clock. Call it before the loop
// and its result after.
func reportCPU(b *testing.B) func() {
	begin := cpuTime(b)
	return func() {
		b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/op")
	}
}

func cpuTime(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
