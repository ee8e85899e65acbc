package e2e

import (
	"syscall"
	"testing"
)

// roomFor raises the limit of descriptors, of this process and of those it starts, for so
// many streams: each takes two here and two in the gateway. Where it cannot be raised,
// there will be fewer.
func roomFor(t *testing.T, streams int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const rest = 1000
	// Of what is permitted, the gateway keeps a sixteenth back.
	want := uint64(2*streams+rest) * 16 / 15
	if limit.Max < want {
		higher := syscall.Rlimit{Cur: want, Max: want}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &higher); err == nil {
			return streams
		}
		streams = (int(limit.Max)*15/16 - rest) / 2
		t.Logf("no more than %d descriptors: %d streams", limit.Max, streams)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return streams
}
