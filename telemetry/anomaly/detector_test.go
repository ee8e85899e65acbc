package anomaly

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// quietWatch makes detectors that nobody drives but the test.
func quietWatch(events *[]Event) *Watch {
	return &Watch{start: time.Now(), options: Options{Tell: func(e Event) { *events = append(*events, e) }}}
}

func at(d time.Duration) moment { return moment{since: d, unix: int64(d / time.Second)} }

// modelRates is what rates are to do, said with a list of times and no thought of memory.
type modelRates struct {
	set    settings
	times  []time.Duration
	on     bool
	until  time.Duration
	count  uint64
	peak   int
	refuse uint64
	said   []string
}

func (m *modelRates) within(now time.Duration) int {
	slice := m.set.window / parts
	n := 0
	for _, t := range m.times {
		if now/slice-t/slice < parts {
			n++
		}
	}
	return n
}

func (m *modelRates) see(now time.Duration) {
	m.times = append(m.times, now)
	n := m.within(now)
	switch {
	case m.on:
		m.count, m.peak = m.count+1, max(m.peak, n)
	case n >= m.set.threshold:
		m.on, m.count, m.peak, m.until, m.refuse = true, uint64(n), n, 0, 0
		m.said = append(m.said, fmt.Sprint("begun ", n))
	}
	if m.on && m.set.action == actionThrottle && n >= m.set.threshold && now >= m.until {
		m.until = now + m.set.throttle
	}
}

func (m *modelRates) check(now time.Duration) time.Duration {
	if !m.on || now >= m.until {
		return 0
	}
	m.refuse++
	return m.until - now
}

func (m *modelRates) settle(now time.Duration) {
	if m.on && now >= m.until && m.within(now)*2 < m.set.threshold {
		m.on = false
		m.said = append(m.said, fmt.Sprint("ended ", m.count, m.peak, m.refuse))
	}
}

// TestRatesAreAsTheModel: for any times at which callers do something, and ask whether they
// may, the same anomalies begin and end with the same counts.
func TestRatesAreAsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		set := settings{
			action:    rapid.SampledFrom([]string{actionReport, actionThrottle}).Draw(t, "action"),
			threshold: rapid.IntRange(1, 6).Draw(t, "threshold"),
			window:    time.Duration(rapid.IntRange(1, 40).Draw(t, "window")) * time.Second,
			throttle:  time.Duration(rapid.IntRange(1, 40).Draw(t, "throttle")) * time.Second,
		}
		w := quietWatch(&events)
		var d rates
		d.open(nameDenials, w, 64)
		d.configure(set, at(0))
		models := [3]modelRates{{set: set}, {set: set}, {set: set}}
		now := time.Duration(0)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 5000).Draw(t, "pass")) * time.Millisecond
			who := rapid.IntRange(0, 2).Draw(t, "who")
			caller := Caller{Subject: fmt.Sprint(who)}
			k := key{hash: uint64(who+1) * (1 << 61)}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				d.see(&sighting{Caller: caller, key: k, now: at(now)})
				models[who].see(now)
			case 2:
				if got, want := d.check(k, at(now)), models[who].check(now); got != want {
					t.Fatalf("refused for %v, want %v", got, want)
				}
			default:
				d.settle(at(now))
				for i := range models {
					models[i].settle(now)
				}
			}
		}
		for who, m := range models {
			if got := said(events, fmt.Sprint(who)); !slices.Equal(got, m.said) {
				t.Fatalf("of caller %d was told %q, want %q", who, got, m.said)
			}
		}
		var going int64
		for _, m := range models {
			if m.on && set.action == actionThrottle {
				going++
			}
		}
		if n := w.holds.Load(); n != going {
			t.Fatalf("%d callers can be held back, want %d", n, going)
		}
	})
}

// said is what was told of a caller.
func said(events []Event, subject string) (list []string) {
	for _, e := range events {
		switch {
		case e.Subject != subject:
		case e.Ended:
			list = append(list, fmt.Sprint("ended ", e.Count, e.Peak, e.Refused))
		default:
			list = append(list, fmt.Sprint("begun ", e.Count))
		}
	}
	return list
}

// TestOpenTasksAreAsTheModel: for any tasks that are begun and finished, in any order, the
// count of a caller is that of the model, which remembers them all.
func TestOpenTasksAreAsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		set := settings{action: actionReport, threshold: 100, window: 16 * time.Second}
		var d openTasks
		d.open(nameOpenTasks, quietWatch(&events), 64)
		d.room = 1024
		d.configure(set, at(0))
		type known struct {
			who  int
			when time.Duration
		}
		tasks := map[uint64]known{}
		now, slice := time.Duration(0), set.window/parts
		inside := func(k known) bool { return now/slice-k.when/slice < parts }
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "pass")) * time.Millisecond
			task := rapid.Uint64Range(1, 12).Draw(t, "task") * (1 << 60)
			who := rapid.IntRange(0, 2).Draw(t, "who")
			if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				d.finished(task, at(now))
				delete(tasks, task)
			} else {
				d.see(task, &sighting{key: key{hash: uint64(who + 1)}, now: at(now)})
				if old, ok := tasks[task]; !ok || !inside(old) {
					tasks[task] = known{who, now}
				}
			}
			for who := range 3 {
				want := 0
				for _, k := range tasks {
					if k.who == who && inside(k) {
						want++
					}
				}
				got := 0
				if c := d.tables[0].find(uint64(who + 1)); c != nil {
					got = c.count(d.slice(at(now)))
				}
				if got != want {
					t.Fatalf("caller %d has %d open tasks, want %d", who, got, want)
				}
			}
		}
	})
}

// TestHoardersLeaveRoom: a caller with more open tasks than matter has no others forgotten.
func TestHoardersLeaveRoom(t *testing.T) {
	t.Parallel()
	var events []Event
	var d openTasks
	d.open(nameOpenTasks, quietWatch(&events), 64)
	d.room = 256
	d.configure(settings{action: actionReport, threshold: 10, window: time.Minute}, at(0))
	good, bad := key{hash: 1}, key{hash: 2}
	d.see(1<<60, &sighting{key: good, now: at(1)})
	for i := range uint64(10_000) {
		d.see(i*0x9e3779b97f4a7c15|1, &sighting{key: bad, Caller: Caller{Subject: "bad"}, now: at(2)})
	}
	if n := d.tables[0].find(1).count(0); n != 1 {
		t.Errorf("the other caller has %d tasks", n)
	}
	if n := d.tables[0].find(2).count(0); n != 20 {
		t.Errorf("the hoarder has %d tasks", n)
	}
	if len(events) != 1 || events[0].Subject != "bad" {
		t.Errorf("told %v", events)
	}
}
