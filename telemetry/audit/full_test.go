package audit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestR11_FullAgainAndAgain fills the disk under load, again and again and at random
// places: what was acknowledged is there, and the chain has no break.
// A2A_GATEWAY_TEST_RECORDS says how many records there are at least; default 5,000.
func TestR11_FullAgainAndAgain(t *testing.T) {
	t.Parallel()
	total := 5_000
	if n, err := strconv.Atoi(os.Getenv("A2A_GATEWAY_TEST_RECORDS")); err == nil {
		total = n
	}
	for name, config := range map[string]Config{"write": {}, "sync": {Durability: durabilitySync}, "encrypted": {Encryption: oneKey}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total, config := total, config.in(t.TempDir())
			config.SegmentSize = 1 << 20
			d := newFakeDisk()
			d.linger = time.Millisecond
			l, ring := signedLog(t, config, d)
			if config.Durability == durabilitySync {
				total = min(total, 5_000) // a disk syncs so often only
			}
			counted := churn(t, l, d, total)
			d.set(func() { d.space, d.clock = -1, d.clock.Add(reopenAfter) })
			if err := errors.Join(l.Intent(exchange("after")), l.Close()); err != nil {
				t.Fatal(err)
			}
			there := intentsIn(t, config.Source())
			for id := range counted {
				if there[id] != 1 {
					t.Errorf("%s was acknowledged and is there %d times", id, there[id])
				}
			}
			r, err := config.Source().Verify(t.Context(), Check{Keys: ring.JWKS()})
			if err != nil || len(r.Findings) > 0 {
				t.Errorf("%s, %v", said(r), err)
			}
		})
	}
}

// churn writes from many goroutines on a disk that is full now and then, until so many
// records were acknowledged, and returns which.
func churn(t *testing.T, l *Log, d *fakeDisk, total int) map[string]bool {
	t.Helper()
	counted := map[string]bool{}
	var mu sync.Mutex
	var left, refused atomic.Int64
	left.Store(int64(total))
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := 0; left.Load() > 0; i++ {
				id := fmt.Sprint(w, "-", i)
				if err := l.Intent(exchange(id)); err != nil {
					refused.Add(1)
					d.set(func() { // somebody makes room
						d.space = rand.Int64N(40_000)
						d.clock = d.clock.Add(reopenAfter / 8)
					})
					continue
				}
				left.Add(-1)
				mu.Lock()
				counted[id] = true
				mu.Unlock()
			}
		})
	}
	d.set(func() { d.space = 5_000 })
	all.Wait()
	if refused.Load() == 0 {
		t.Error("the disk was never full")
	}
	return counted
}

// TestR11_ResumesByItself: the log finds out without a call that there is room again, since
// readiness may keep calls away, and writes that it could not.
func TestR11_ResumesByItself(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	d.probe = time.Millisecond
	l, ring := signedLog(t, Config{Dir: dir}, d)
	d.set(func() { d.space = 0 })
	if err := l.Intent(exchange("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	d.set(func() { d.space = -1 })
	for l.Err() != nil { // the test's deadline is the limit
		runtime.Gosched()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if all := read(t, dir, false); len(all) != 2 || all[0].Event != "audit.resumed" {
		t.Errorf("records %+v", all)
	}
	holds(t, Config{Dir: dir}, ring, true)
}

// TestR11_WaitersAreSentAway: those who wait behind a write that hangs are refused, and
// what they wanted to be written is written when it goes on, or not at all.
func TestR11_WaitersAreSentAway(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	l, ring := signedLog(t, Config{Dir: dir}, d)
	release := make(chan struct{})
	d.set(func() { d.hold = release })
	first := make(chan error)
	go func() { first <- l.Intent(exchange("first")) }()
	<-d.held
	others := make(chan error)
	for i := range 4 {
		go func() { others <- l.Intent(exchange(fmt.Sprint(i))) }()
	}
	for waiting := 0; waiting < 4; runtime.Gosched() {
		l.mu.Lock()
		waiting = len(l.pending.ends)
		l.mu.Unlock()
	}
	l.sendAway() // too early
	d.set(func() { d.clock = d.clock.Add(stallAfter + 1) })
	l.sendAway()
	l.sendAway()
	for range 4 {
		if err := <-others; !errors.Is(err, ErrStalled) {
			t.Errorf("got %v", err)
		}
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	d.set(func() { d.hold = nil })
	for err := l.Intent(exchange("later")); err != nil; err = l.Intent(exchange("later")) {
		if !errors.Is(err, ErrStalled) {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if all := ids(read(t, dir, false)); all["intent first"] != 1 || all["intent later"] == 0 {
		t.Errorf("records %v", all)
	}
	holds(t, Config{Dir: dir}, ring, true)
}
