package e2e

import (
	"testing"
	"time"
)

// TestR23_Replicas has three gateways on one Redis behind HAProxy, with the configuration
// that operators are given. They are killed in turn, cut off from Redis, restarted and
// upgraded, while callers make tasks, follow them and come back. No event is lost, repeated
// or out of turn; no task that was acknowledged is lost or shown to somebody else; limits are
// counted together. Calls fail only while something is broken that nobody could have known
// of, and clients are shown a task as it is only where a replica had no chance to write.
func TestR23_Replicas(t *testing.T) {
	t.Parallel()
	run, long := soak(t, 0, endless)
	rounds := 3
	if long {
		rounds = kills(t, rounds)
	}
	g := newGroup(t)
	if n := g.limited(); n != fewCalls {
		t.Errorf("a limit of %d let %d calls through", fewCalls, n)
	}
	y := g.moves(4)
	y.goesOn(t)

	var broken, whole []*audience
	var down, up []time.Duration
	begun := time.Now()
	phase := func(what string) {
		t.Logf("%s: %v", what, time.Since(begun).Round(time.Millisecond))
		begun = time.Now()
	}
	for n := range rounds {
		broken = append(broken, g.watch())
		d, u := g.kills(g.replicas[n%3], y)
		down, up = append(down, d), append(up, u)
	}
	phase("kills")
	for first := time.Now(); ; {
		broken = append(broken, g.watch())
		open := g.parts(g.replicas[0], y)
		g.loses(y)
		phase("without Redis")
		g.replicas = append(g.replicas[1:], g.replicas[0])
		for n, r := range g.replicas {
			if n == 2 {
				undisturbed(t, open)
			}
			whole = append(whole, g.watch())
			g.restarts(r, y)
		}
		phase("restarts")
		for _, r := range g.replicas {
			whole = append(whole, g.watch())
			g.upgrades(r, y)
		}
		phase("upgrades")
		if time.Since(first) > run {
			break
		}
	}
	gaps, _ := sum(broken)
	late, back := sum(whole)
	phase("streams")
	g.speaks()
	y.ends(t)
	// A replica that ends writes all, but who comes back waits no longer than a second for it.
	if 2*late > back {
		t.Errorf("of %d who came back from replicas that ended in good order %d were shown the task as it is", back, late)
	}
	for _, a := range whole {
		for _, task := range a.missed() {
			eventually(t, "a gap of "+task+" is on record", 30*time.Second, func() bool { return g.gaps(task) > 0 })
		}
	}
	for _, r := range g.replicas {
		owned(t, g.setting, "http://"+r.address, y.tasks[max(0, len(y.tasks)-300):])
	}
	if n := g.limited(); n != 0 {
		t.Errorf("a limit that was used up let %d calls through", n)
	}
	t.Logf("%d kills: noticed after %v at the median, back after %v; %d gaps; where they ended in good order, %d came back and saw %d gaps",
		rounds, quantile(down, .5), quantile(up, .5), gaps, back, late)
}

// sum waits until the tasks are over.
func sum(all []*audience) (gaps, ends int) {
	for _, a := range all {
		g, e := a.ends()
		gaps, ends = gaps+g, ends+e
	}
	return gaps, ends
}

// undisturbed says that a stream has not been broken.
func undisturbed(t *testing.T, open *audience) {
	t.Helper()
	if gaps, ends := open.ends(); gaps != 0 || ends != 0 {
		t.Errorf("a stream that was open at a replica without Redis had %d gaps and %d ends", gaps, ends)
	}
}
