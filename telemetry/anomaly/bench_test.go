package anomaly

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestObserveDoesNotAllocate: what every call costs is time only, also where something is
// counted.
func TestObserveDoesNotAllocate(t *testing.T) {
	w, _ := newWatch(t, Config{Denials: few(2)}, nil)
	for name, e := range map[string]telemetry.Exchange{
		"allowed": by("alice"), "denied": denied("bob"), "absent": absent("carol", 1), "cancel": cancel("dave"),
		"open": sent("erin", 1, "TASK_STATE_WORKING"), "ends": sent("erin", 1, "TASK_STATE_COMPLETED"), "address": unknown("2001:db8::1"),
	} {
		w.Observe(&e, nil)
		w.Observe(&e, nil)
		if n := testing.AllocsPerRun(100, func() { w.Observe(&e, nil) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	call := Call{Caller: CallerOf("alice", "https://issuer", "oidc", ""), Method: wire.GetTask, Task: true}
	if n := testing.AllocsPerRun(100, func() { _ = w.Check(&call) }); n > 0 {
		t.Errorf("check: %v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, c := range []struct {
		name string
		call func(i int) telemetry.Exchange
	}{
		{"allowed", func(i int) telemetry.Exchange { return by(fmt.Sprint("user-", i)) }},
		{"sent", func(i int) telemetry.Exchange { return sent(fmt.Sprint("user-", i), i, "TASK_STATE_COMPLETED") }},
		{"open", func(i int) telemetry.Exchange { return sent(fmt.Sprint("user-", i), i, "TASK_STATE_WORKING") }},
		{"absent", func(i int) telemetry.Exchange { return absent(fmt.Sprint("user-", i), i) }},
		{"address", func(i int) telemetry.Exchange { return unknown(fmt.Sprintf("2001:db8:%x::1", i)) }},
	} {
		for _, callers := range []int{1, 1000, 100_000} {
			b.Run(fmt.Sprintf("%s/callers=%d", c.name, callers), func(b *testing.B) {
				off := Config{}
				off.Denials.Threshold, off.OpenTasks.Threshold, off.Probing.Threshold = maxCount, maxCount, maxSketch
				w, _ := newWatch(b, off, nil)
				calls := make([]telemetry.Exchange, callers)
				for i := range calls {
					calls[i] = c.call(i)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					w.Observe(&calls[i%callers], nil)
				}
			})
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	call := Call{Caller: CallerOf("alice", "https://issuer", "oidc", ""), Method: wire.GetTask, Task: true}
	for _, held := range []bool{false, true} {
		b.Run(fmt.Sprintf("held=%t", held), func(b *testing.B) {
			d := few(1)
			d.Action = actionThrottle
			w, _ := newWatch(b, Config{Probing: d}, nil)
			if held {
				e := absent("mallory", 1)
				w.Observe(&e, nil)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Check(&call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParallel(b *testing.B) {
	w, _ := newWatch(b, Config{}, nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		e := by("alice")
		for pb.Next() {
			w.Observe(&e, nil)
		}
	})
}
