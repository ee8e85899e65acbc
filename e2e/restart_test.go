package e2e

import (
	"fmt"
	"path/filepath"
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
	run, _ := soak(t, 6*time.Second)
	s := newStory(t, run)
	p := serveFleet(t, "", "", fmt.Sprintf(`{id: story, card: "http://%s/card"}`, s.address()))
	c := p.caller("story")
	c.client.Timeout = 0
	a := attend(t, s, func() *caller { return c }, 4, 3, 3)
	stops, away := 0, time.Duration(0)
	for begun := time.Now(); time.Since(begun) < run-2*time.Second; stops++ {
		time.Sleep(500 * time.Millisecond)
		s.stop()
		pause := time.Duration(50*(1+stops%4)) * time.Millisecond
		time.Sleep(pause)
		s.start(t)
		away += pause
	}
	gaps, ends := a.ends()
	if ends != 0 {
		t.Errorf("%d streams ended early", ends)
	}
	data := filepath.Join(filepath.Dir(p.config), "data")
	regained := 0
	eventually(t, "records of what was regained and of all gaps", 5*time.Second, func() bool {
		regained = recorded(t, data, `"regained":`)
		return regained > 0 && recorded(t, data, `"gap":true`) == gaps
	})
	t.Logf("%d restarts, away for %v in all, %d records of what was regained", stops, away, regained)
}
