package redis

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// A server that hangs, is gone, and comes back: calls fail at once after the first few,
// nothing piles up, and the store finds the server again by itself. No other test runs
// beside this one, because it counts goroutines.
func TestOutage(t *testing.T) { //nolint:paralleltest // see above
	server := serve(t, "--appendonly", "yes", "--appendfsync", "always")
	c := config(server.address)
	c.Redis.Timeout = 0
	log, said := logged()
	s := openLogged(t, c, log)
	r := statetest.Example()
	until(t, "a record is made", func() bool { // a busy machine may take longer than a call waits
		_, err := s.Claim(t.Context(), r)
		return err == nil
	})
	for _, tc := range []struct {
		name        string
		lose, again func()
	}{
		{"hangs", func() { server.signal(t, syscall.SIGSTOP) }, func() { server.signal(t, syscall.SIGCONT) }},
		{"is gone", server.end, func() {
			if err := server.start(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		before := runtime.NumGoroutine()
		tc.lose()
		crowd(t, s)
		until(t, "the guard opens", s.only.breaker.IsOpen)
		// None of these asks the server: each would take 250 ms where it hangs.
		begin := time.Now()
		for range 50 {
			crowd(t, s)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: 1000 of each call took %v", tc.name, took)
		}
		// The probe, what it asks, and dials that are not over yet.
		until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before+4 })
		if err := s.Ping(t.Context()); !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("%s: Ping: %v", tc.name, err)
		}
		tc.again()
		begin = time.Now()
		until(t, "the store answers again", func() bool {
			got, ok, err := s.Lookup(context.Background(), r.Agent, r.Kind, r.ID)
			if err == nil && (!ok || got.Owner != r.Owner) {
				t.Errorf("%s: after it came back: %+v, %v", tc.name, got, ok)
			}
			return err == nil
		})
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: it took %v until the store answered", tc.name, took)
		}
	}
	t.Log(said())
}

// crowd makes 20 of each call at once. They have to fail for want of the server.
func crowd(t *testing.T, s *Store) {
	t.Helper()
	ctx, r := context.Background(), statetest.Example()
	draws := []state.Draw{statetest.ExampleDraw(state.Rate), statetest.ExampleDraw(state.Hold)}
	calls := map[string]func() error{
		"Claim":     func() error { _, err := s.Claim(ctx, r); return err },
		"ClaimAll":  func() error { _, err := s.ClaimAll(ctx, []state.Record{r}); return err },
		"Lookup":    func() error { _, _, err := s.Lookup(ctx, r.Agent, r.Kind, r.ID); return err },
		"LookupAll": func() error { _, err := s.LookupAll(ctx, r.Agent, []state.Ref{{Kind: r.Kind, ID: r.ID}}); return err },
		"Tasks": func() error {
			_, err := s.Tasks(ctx, state.Query{Agent: r.Agent, Everyone: true, Limit: 1})
			return err
		},
		"Count":   func() error { _, err := s.Count(ctx, state.Query{Agent: r.Agent, Everyone: true}); return err },
		"Advance": func() error { _, err := s.Advance(ctx, statetest.ExampleStep(), "", "paid"); return err },
		"Draw":    func() error { _, err := s.Draw(ctx, draws); return err },
		"Release": func() error { return s.Release(ctx, draws[1:]) },
		"Put":     func() error { return s.Put(ctx, "space", "key", nil, 0) },
		"Add":     func() error { _, err := s.Add(ctx, "space", "key", nil, 0); return err },
		"Get":     func() error { _, _, err := s.Get(ctx, "space", "key"); return err },
		"List":    func() error { _, err := s.List(ctx, "space", "", 1); return err },
		"Delete":  func() error { return s.Delete(ctx, "space", "key") },
		"Append":  func() error { return s.Append(ctx, "log", 0, nil, small) },
		"Read":    func() error { _, err := s.Read(ctx, "log", 0, 1); return err },
		"Drop":    func() error { return s.Drop(ctx, "log") },
	}
	var all sync.WaitGroup
	for name, call := range calls {
		for range 20 {
			all.Go(func() {
				if err := call(); !errors.Is(err, state.ErrUnavailable) {
					t.Errorf("%s without a server: %v", name, err)
				}
			})
		}
	}
	all.Wait()
}

// A caller who leaves early says nothing about the server.
func TestCallersWhoLeave(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for range 3 * failures {
		if _, _, err := s.Lookup(ctx, "billing", state.Task, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("Lookup of a caller who has left: %v", err)
		}
	}
	if _, _, err := s.Lookup(t.Context(), "billing", state.Task, "x"); err != nil {
		t.Errorf("Lookup of the next: %v", err)
	}
}

// What a server answers when it cannot serve is told apart from what is wrong with a call.
func TestServersThatRefuse(t *testing.T) {
	t.Parallel()
	server := serve(t, "--appendonly", "no")
	plain, s := server.client(t), open(t, config(server.address))
	claim := func() error {
		r := statetest.Example()
		r.ID = strconv.FormatInt(prefixes.Add(1), 10)
		_, err := s.Claim(t.Context(), r)
		return err
	}
	for _, tc := range []struct {
		key, value, back string
		want             error
	}{
		{"maxmemory", "1", "0", state.ErrMemory},
		{"min-replicas-to-write", "1", "0", state.ErrUnavailable},
	} {
		if err := plain.ConfigSet(t.Context(), tc.key, tc.value).Err(); err != nil {
			t.Fatal(err)
		}
		for range 2 * failures {
			if err := claim(); !errors.Is(err, tc.want) {
				t.Errorf("with %s %s: %v, want %v", tc.key, tc.value, err, tc.want)
			}
		}
		if err := plain.ConfigSet(t.Context(), tc.key, tc.back).Err(); err != nil {
			t.Fatal(err)
		}
		if err := claim(); err != nil { // at once: it was never down
			t.Errorf("with %s as before: %v", tc.key, err)
		}
	}
	if err := plain.Do(t.Context(), "replicaof", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := claim(); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("at a replica: %v", err)
	}
}
