package anomaly

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestA04_TaskIDsAreTried: who looks for tasks by trying ids is noticed after the default
// number of different ones, and can be held back, whichever call names them.
func TestA04_TaskIDsAreTried(t *testing.T) {
	t.Parallel()
	c := Config{Denials: Detector{Reported: Reported{Action: actionOff}}}
	c.Probing.Action = actionThrottle
	for name, refer := range map[string]bool{"by id": false, "by reference": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWatch(t, c, nil)
			mallory := Call{Caller: CallerOf("mallory", "https://issuer", "oidc", ""), Method: wire.GetTask, Task: true}
			tried := 0
			for ; tried < 100 && w.Check(&mallory) == nil; tried++ {
				e := absent("mallory", tried)
				var references []string
				if refer {
					e.TaskID, references = "", []string{fmt.Sprint("task-", tried), "another"}
				}
				w.Observe(&e, references)
			}
			if tried < 20 || tried > 21 { // one pair in two million is one for a sketch
				t.Errorf("%d ids could be tried", tried)
			}
			if got := l.take(); len(got) != 1 {
				t.Errorf("told %q", got)
			}
		})
	}
}

// TestA13_CardDrift: a card that changes is told of once, until somebody accepts it or it
// has stayed as it is.
func TestA13_CardDrift(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := newWatch(t, Config{Cards: Reported{Window: quantity.Duration(10 * time.Minute)}}, nil)
		w.CardDrift("billing", "new skill payout")
		w.CardDrift("billing", "new skill transfer")
		w.CardDrift("weather", "new URL")
		if got, want := l.take(), []string{"cards begun: billing new skill payout, 1", "cards begun: weather new URL, 1"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		w.CardSettled("billing")
		w.CardSettled("billing")
		w.CardSettled("unheard-of")
		if got, want := l.take(), []string{"cards ended (settled): billing new skill payout, 0 refused, 2"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		time.Sleep(11 * time.Minute)
		if got, want := l.take(), []string{"cards ended (quiet): weather new URL, 0 refused, 1"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// TestA26_HalfOpenTasks: who leaves tasks open by the hundred is held back from opening
// more, and from nothing else; others are not.
func TestA26_HalfOpenTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c Config
		c.OpenTasks.Action = actionThrottle
		w, l := newWatch(t, c, nil)
		attack, other := 0, 0
		mallory, alice := CallerOf("mallory", "https://issuer", "oidc", ""), CallerOf("alice", "https://issuer", "oidc", "")
		for i := range 10_000 {
			if w.Check(&Call{Caller: mallory, Method: wire.SendMessage}) == nil {
				attack++
				e := sent("mallory", i, "TASK_STATE_INPUT_REQUIRED")
				w.Observe(&e, nil)
			}
			if w.Check(&Call{Caller: alice, Method: wire.SendMessage}) == nil {
				other++
				e := sent("alice", 20_000+i, "TASK_STATE_COMPLETED")
				w.Observe(&e, nil)
			}
		}
		if attack != 200 || other != 10_000 {
			t.Errorf("%d of the flood were let through, and %d of the other's", attack, other)
		}
		if w.Check(&Call{Caller: mallory, Method: wire.CancelTask, Task: true}) != nil {
			t.Error("who has too many open tasks cannot cancel them")
		}
		if got, want := l.take(), []string{"openTasks begun: mallory billing summarize, 200"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// TestA28_CallersWithoutEnd: 100,000 callers, and as many tasks, take no more memory than
// the first few thousand, whatever they do, and each anomaly that was told of ends.
func TestA28_CallersWithoutEnd(t *testing.T) { // alone: it measures the heap
	c := Config{
		Denials: few(1), Probing: few(1), Cancels: few(1), OpenTasks: few(1), Callers: 256, Tasks: 512,
		Skills: Learned{Learning: quantity.Duration(time.Minute)},
	}
	var begun, ended atomic.Int64
	w, err := New(t.Context(), Options{Config: c, Tell: func(e Event) {
		if e.Ended {
			ended.Add(1)
		} else {
			begun.Add(1)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	flood := func(from, to int) {
		for i := from; i < to; i++ {
			name := fmt.Sprint("caller-", i)
			var e telemetry.Exchange
			switch i % 4 {
			case 0:
				e = absent(name, i)
			case 1:
				e = cancel(name)
			case 2:
				e = sent(name, i, "TASK_STATE_WORKING")
			default:
				e = unknown(fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff))
			}
			w.Observe(&e, []string{name})
		}
	}
	heap := func() uint64 {
		runtime.GC() //nolint:revive // the garbage of the flood is not what is kept
		runtime.GC() //nolint:revive // what was in pools is garbage only now
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	flood(0, 20_000)
	before := heap()
	flood(20_000, 120_000)
	if after := heap(); after > before+2<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", before, after)
	}
	if n := len(w.Active()); n > 5*(256+256)+1 {
		t.Errorf("%d anomalies go on", n)
	}
	w.Close()
	if begun.Load() < 100_000 || begun.Load() != ended.Load() {
		t.Errorf("%d anomalies have begun, and %d ended", begun.Load(), ended.Load())
	}
}
