package limits_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// flaky is a store that can be away.
type flaky struct {
	state.Limits
	away  atomic.Bool
	asked atomic.Int64
}

var errAway = errors.New("connection refused")

func (f *flaky) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	f.asked.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.away.Load() {
		return nil, errAway
	}
	return f.Limits.Draw(ctx, draws)
}

func (f *flaky) Release(ctx context.Context, holds []state.Draw) error {
	if f.away.Load() {
		return errAway
	}
	return f.Limits.Release(ctx, holds)
}

// While the store is away calls are counted here, refused, or not counted; when it is
// back, there again.
func TestR14_LimitsWithoutTheirStore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		onLoss string
		want   string // of five calls: admitted, exceeded, unavailable
	}{
		"default": {"", "aaaee"}, "local": {"local", "aaaee"}, "deny": {"deny", "uuuuu"}, "allow": {"allow", "aaaaa"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fell, watched atomic.Int64
			var log bytes.Buffer
			store := &flaky{Limits: memory(t)}
			l := limiter(t, limits.Options{
				Store: store, Local: memory(t), Log: slog.New(slog.NewTextHandler(&log, nil)),
				Fell: func(name string) {
					if name == "few" {
						fell.Add(1)
					} else {
						watched.Add(1)
					}
				},
			}, strings.TrimSpace("onLoss: "+tc.onLoss),
				"{name: few, quota: {units: 3}, concurrency: 9}", "{name: watched, agents: [weather], mode: shadow, quota: {units: 1}}")
			k := &calls{t: t}
			if !room(t, l, k.send()) {
				t.Fatal("refused while the store is there")
			}
			store.away.Store(true)
			got, asked := "", store.asked.Load()
			for range 5 {
				p, err := l.Admit(t.Context(), k.send())
				got += outcome(err)
				p.Release(t.Context())
			}
			if got != tc.want || fell.Load() != 5 || store.asked.Load()-asked != 5 {
				t.Errorf("calls went %s, want %s; the hook ran %d times for %d draws", got, tc.want, fell.Load(), store.asked.Load()-asked)
			}
			store.away.Store(false)
			got = ""
			for range 3 {
				p, err := l.Admit(t.Context(), k.send())
				got += outcome(err)
				p.Release(t.Context())
			}
			if got != "aae" || fell.Load() != 5 {
				t.Errorf("calls went %s when the store was back, want aae", got)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 2 {
				t.Errorf("an outage has %d lines in the log, want 2:\n%s", lines, &log)
			}
		})
	}
}

func outcome(err error) string {
	var e *limits.Exceeded
	switch {
	case err == nil:
		return "a"
	case errors.As(err, &e):
		return "e"
	case errors.Is(err, limits.ErrUnavailable):
		return "u"
	}
	return "?" + err.Error()
}

// What is only watched never refuses, a full gateway does.
func TestOutageEdges(t *testing.T) {
	t.Parallel()
	store := &flaky{Limits: memory(t)}
	store.away.Store(true)
	k := &calls{t: t}
	l := limiter(t, limits.Options{Store: store}, "onLoss: deny", "{name: watched, mode: shadow, quota: {units: 1}}")
	if _, err := l.Admit(t.Context(), k.send()); err != nil {
		t.Errorf("a limit in shadow mode without its store: %v", err)
	}
	l = limiter(t, limits.Options{Store: store, Local: store}, "{name: few, quota: {units: 1}}")
	if _, err := l.Admit(t.Context(), k.send()); !errors.Is(err, limits.ErrUnavailable) || !errors.Is(err, errAway) {
		t.Errorf("nowhere to count: %v", err)
	}
	store.away.Store(false)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, onLoss := range []string{"local", "deny", "allow"} {
		l = limiter(t, limits.Options{Store: store, Fell: func(string) { t.Error("a caller who left is an outage") }},
			"onLoss: "+onLoss, "{name: few, quota: {units: 1}}")
		if _, err := l.Admit(gone, k.send()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a caller who left: %v", onLoss, err)
		}
	}
	full := state.NewMemory(state.Config{Memory: state.MemoryConfig{Records: 1}})
	defer full.Close()
	l = limiter(t, limits.Options{Store: full, Local: full}, "{name: few, quota: {units: 9}}")
	if !room(t, l, k.send()) || !room(t, l, k.send()) {
		t.Error("a count that is there already is refused")
	}
	if _, err := l.Admit(t.Context(), k.by("bob", "billing", wire.GetTask)); !errors.Is(err, state.ErrFull) || !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("no room for another count: %v", err)
	}
}

// Places that could not be given back are, once the store is there again, and those of
// calls that go on come back to it.
func TestPlacesOverAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared, local := memory(t), memory(t)
		store := &flaky{Limits: shared}
		l := limiter(t, limits.Options{Store: store, Local: local}, "{name: open, openTasks: 1, concurrency: 2}")
		k := &calls{t: t}
		makeTask(t, l, k.send(), "t")
		long, _ := admit(t, l, k.by("alice", "weather", wire.GetTask))
		ends, _ := admit(t, l, k.on("alice", wire.SubscribeToTask, "t"))

		store.away.Store(true)
		ends.Task(t.Context(), "t", false)
		ends.Release(t.Context())
		outage, _ := admit(t, l, k.send()) // held here
		outage.Task(t.Context(), "u", true)
		time.Sleep(5 * time.Minute)
		if room(t, l, k.send()) {
			t.Error("a place that is held locally was lost")
		}
		outage.Task(t.Context(), "u", false)
		outage.Release(t.Context())
		if !room(t, l, k.send()) {
			t.Error("a place that was held locally was not given back")
		}

		store.away.Store(false)
		time.Sleep(time.Minute)
		second, by := admit(t, l, k.send())
		if by != "" {
			t.Errorf("the places of what ended during the outage are held: %s", by)
		}
		if room(t, l, k.by("alice", "weather", wire.GetTask)) {
			t.Error("the call that went on during the outage has no place")
		}
		second.Release(t.Context())
		long.Release(t.Context())
		if shared.Counted() != 0 {
			t.Errorf("%d buckets and places are left", shared.Counted())
		}
	})
}

// slow holds draws up until it is told.
type slow struct {
	state.Limits
	drawing, go_ chan struct{}
}

func (s *slow) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	if draws[0].Soft {
		s.drawing <- struct{}{}
		<-s.go_
	}
	return s.Limits.Draw(ctx, draws)
}

// A call that ends while its place is being renewed does not keep it.
func TestReleaseDuringRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &slow{Limits: memory(t), drawing: make(chan struct{}), go_: make(chan struct{})}
		l := limiter(t, limits.Options{Store: store}, "{name: one, concurrency: 1}")
		k := &calls{t: t}
		p, _ := admit(t, l, k.send())
		<-store.drawing
		p.Release(t.Context())
		store.go_ <- struct{}{}
		synctest.Wait()
		if !room(t, l, k.send()) {
			t.Error("the place was taken again for a call that is over")
		}
	})
}
