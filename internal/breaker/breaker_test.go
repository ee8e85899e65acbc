package breaker

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// trial asks as callers do, by a clock of its own.
type trial struct {
	testing.TB
	Breaker

	now time.Time
}

func newTrial(t testing.TB) *trial { return &trial{TB: t, now: time.Unix(1_000_000, 0)} }

// ask wants to be let in, and says what came of it.
func (t *trial) ask(who string, o Outcome) (turned bool) {
	t.Helper()
	t.wants(who, nil)
	return t.Leave(t.now, who, o)
}

func (t *trial) wants(who string, want error) {
	t.Helper()
	if err := t.Enter(t.now, who); !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", who, err, want)
	}
}

// TestOutage walks through one by the clock, with a service that is not there, and with
// one that fails for everybody.
func TestOutage(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		o   Outcome
		who string
	}{"nobody is there": {Away, "caller"}, "it fails for all": {Failed, "caller %d"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, n := newTrial(t), 0
			who := func() string {
				if n++; way.o == Away {
					return way.who
				}
				return fmt.Sprintf(way.who, n)
			}
			fail := func(want bool) {
				t.Helper()
				if turned := b.ask(who(), way.o); turned != want {
					t.Fatalf("turned %v", turned)
				}
			}
			for range Failures - 1 {
				fail(false)
			}
			if b.ask(who(), Alive) {
				t.Fatal("back, without having been away")
			}
			for range Failures - 1 {
				fail(false)
			}
			fail(true)
			for _, wait := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
				b.now = b.now.Add(wait*time.Second - 1)
				b.wants(who(), ErrResting)
				b.now = b.now.Add(1)
				fail(false) // one finds out
			}
			b.now = b.now.Add(Longest)
			b.wants("x", nil)
			b.wants("y", ErrResting)
			b.Leave(b.now, "x", Unknown) // it came to nothing: the next may try
			b.wants("y", nil)
			if !b.Leave(b.now, "y", Alive) {
				t.Error("not back")
			}
			b.wants("x", nil)
			b.wants("y", nil)
		})
	}
}

// TestBurst: questions that were under way together are one outage.
func TestBurst(t *testing.T) {
	t.Parallel()
	b := newTrial(t)
	for i := range 100 {
		b.wants(fmt.Sprint(i), nil)
	}
	for i := range 100 {
		b.Leave(b.now, fmt.Sprint(i), Failed)
	}
	b.now = b.now.Add(First)
	b.wants("x", nil)
}

// TestOneCaller: what fails for one, however often, is that one's. Others are asked for
// all the time, also those who come for the first time.
func TestOneCaller(t *testing.T) {
	t.Parallel()
	b := newTrial(t)
	for n := range 100 {
		switch err := b.Enter(b.now, "mallory"); {
		case err == nil:
			if b.Leave(b.now, "mallory", Failed) {
				t.Fatal("one caller has the service given up")
			}
		case n < Failures || !errors.Is(err, ErrOwn):
			t.Fatalf("question %d: %v", n, err)
		}
		b.wants(fmt.Sprint("bob", n), nil)
		b.Leave(b.now, fmt.Sprint("bob", n), Unknown)
		b.now = b.now.Add(100 * time.Millisecond)
	}
	b.now = b.now.Add(Longest)
	b.ask("mallory", Alive)
	for range Failures {
		b.ask("mallory", Failed)
	}
	b.wants("mallory", ErrOwn)
}

// TestOwn: a service that answers others, or has refused this caller, is there.
func TestOwn(t *testing.T) {
	t.Parallel()
	b := newTrial(t)
	own := func(who string, want bool) {
		t.Helper()
		if got := b.Own(b.now, who); got != want {
			t.Errorf("what fails for %s is its own affair: %v", who, got)
		}
	}
	own("mallory", false) // nothing is known
	b.ask("mallory", Failed)
	own("mallory", false)
	b.ask("bob", Alive)
	own("mallory", true)
	b.now = b.now.Add(time.Minute)
	own("mallory", false)
	b.ask("mallory", Refused)
	b.now = b.now.Add(time.Minute)
	own("mallory", true)
	own("bob", false)
	for i := range Failures {
		b.ask(fmt.Sprint(i), Failed)
	}
	own("mallory", false) // it fails for all
	b.now = b.now.Add(2 * time.Hour)
	own("mallory", false)
}

// TestCallersAreBounded: so many callers are told apart, and no more.
func TestCallersAreBounded(t *testing.T) {
	t.Parallel()
	b := newTrial(t)
	for i := range 3 * manyCallers {
		b.ask(fmt.Sprint(i), Refused)
	}
	if n := len(b.callers); n != manyCallers {
		t.Errorf("%d callers", n)
	}
	b.now = b.now.Add(2 * time.Hour)
	if b.ask("another", Refused); len(b.callers) != 1 {
		t.Errorf("%d callers of long ago", len(b.callers)-1)
	}
}
