package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// newStory is a sample whose tasks are long: numbered chunks of one artifact.
func newStory(t *testing.T, run time.Duration) *sample {
	t.Helper()
	s := newSample(t, "story")
	s.every, s.grows = 5*time.Millisecond, true
	s.events = int(run / s.every)
	s.text = func(n int) string { return fmt.Sprintf("%d ", n) }
	return s
}

// TestR04_BackendRestart stops an agent in the middle of its streams and starts it again,
// time after time, while its tasks go on. Clients do not notice: each gets all of a task,
// once and in order, and is told of a gap only where the record says so.
func TestR04_BackendRestart(t *testing.T) {
	t.Parallel()
	run, _ := soak(t, 6*time.Second, 10*time.Minute)
	round := min(run, 20*time.Second) // a task that lasts longer is more than streams.buffer.snapshot
	s := newStory(t, round)
	p := serveFleet(t, "", "", fmt.Sprintf(
		`{id: story, card: "http://%s/card", load: {breaker: {for: 300ms}}}`, s.address()))
	c := p.caller("story")
	c.client.Timeout = 0
	gaps, stops, away := 0, 0, time.Duration(0)
	for begun := time.Now(); time.Since(begun) < run; {
		a := attend(t, s, func() *caller { return c }, 4, 3, 3, nil)
		for tasks := time.Now(); time.Since(tasks) < round-2*time.Second; stops++ {
			time.Sleep(500 * time.Millisecond)
			s.stop()
			pause := time.Duration(50*(1+stops%4)) * time.Millisecond
			time.Sleep(pause)
			s.start(t)
			away += pause
		}
		shown, ends := a.ends()
		if ends != 0 {
			t.Errorf("%d streams ended early", ends)
		}
		gaps += shown
	}
	data := filepath.Join(filepath.Dir(p.config), "data")
	regained := 0
	eventually(t, "records of what was regained and of all gaps", 5*time.Second, func() bool {
		regained = recorded(t, data, `"regained":`)
		return regained > 0 && recorded(t, data, `"gap":true`) == gaps
	})
	t.Logf("%d restarts, away for %v in all, %d records of what was regained", stops, away, regained)
}

// TestR05_GatewayRestart ends a gateway in the middle of its streams, in good order and by
// killing it, and starts it again on the same data. Clients come back with the id of the
// event they had last, and have all of the task in the end, once and in order. Whoever
// knows of events that were not written any more is shown the task as it is.
func TestR05_GatewayRestart(t *testing.T) {
	t.Parallel()
	run, _ := soak(t, 8*time.Second, 10*time.Minute)
	s := newStory(t, run)
	set := prepare(t, "http://"+s.address()+"/card", "  timeouts: {drain: 2s}\nstreams: {retain: 1m}")
	var current atomic.Pointer[caller]
	serve := func() *process {
		p := start(t, "serve", "-c", set.config)
		c := set.caller(part(p.await(`"msg":"serving"`), "url"), "owner", true)
		c.client.Timeout = 0
		current.Store(c)
		return p
	}
	p := serve()
	a := attend(t, s, current.Load, 4, 3, 3, nil)
	restarts := 0
	for begun := time.Now(); time.Since(begun) < run-2*time.Second; restarts++ {
		time.Sleep(time.Duration(400+37*(restarts%30)) * time.Millisecond)
		p.signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[restarts%2])
		p = serve()
	}
	gaps, ends := a.ends()
	if ends == 0 {
		t.Error("no client has noticed")
	}
	for _, f := range a.all {
		get := fmt.Sprintf(`{"id":%q}`, f.task)
		if own := current.Load().call("GetTask", "g", get); !strings.Contains(own.body, `"result"`) {
			t.Errorf("the owner's task: %+v", own)
		}
		thief := set.caller(strings.TrimSuffix(current.Load().url, "/agents/a"), "thief", true)
		if theirs := thief.call("GetTask", "g", get); !strings.Contains(theirs.body, "-32001") {
			t.Errorf("somebody else's task: %+v", theirs)
		}
	}
	p.signal(syscall.SIGTERM)
	said := recorded(t, filepath.Join(set.dir, "data"), `"gap":true`)
	t.Logf("%d restarts, %d records of gaps", restarts, said)
	if said > gaps { // those of streams that were killed are not there
		t.Errorf("%d gaps were recorded, and %d shown", said, gaps)
	}
}
