package redis

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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

// A server that answers and refuses writes is away for what has to be recorded, from the
// first refusal on, whatever it says, and until it takes writes again. Who asks before the
// first call is told as well.
func TestServersThatRefuse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args         []string
		refuse, mend func(context.Context, *redis.Client) error
		words        string
	}{
		"out of memory": {
			refuse: setting("maxmemory", "1"), mend: setting("maxmemory", "0"), words: "OOM command not allowed",
		},
		"too few replicas": {
			refuse: setting("min-replicas-to-write", "1"), mend: setting("min-replicas-to-write", "0"), words: "NOREPLICAS",
		},
		"a replica now": {refuse: doing("replicaof", "127.0.0.1", "1"), mend: doing("replicaof", "no", "one"), words: "READONLY"},
		"cannot save": {
			args:   []string{"--save", "3600 1", "--dbfilename", "taken"},
			refuse: cannotSave, mend: setting("stop-writes-on-bgsave-error", "no"), words: "MISCONF",
		},
		"without the right to": {
			refuse: doing("acl", "setuser", "default", "-set"), mend: doing("acl", "setuser", "default", "+set"), words: "run th",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, append([]string{"--appendonly", "no"}, tc.args...)...)
			plain := server.client(t)
			log, said := logged()
			asked, called := openLogged(t, config(server.address), log), open(t, config(server.address))
			if err := errors.Join(asked.Ready(t.Context(), "billing"), asked.Ping(t.Context()), claimOne(t, called)); err != nil {
				t.Fatalf("while all is well: %v", err)
			}
			if err := tc.refuse(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * state.Proven) // what was proven then stands no more
			refused := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, state.ErrUnavailable) || !strings.Contains(err.Error(), "state: redis refuses writes: ") || !strings.Contains(err.Error(), tc.words) {
					t.Errorf("%s: %v", what, err)
				}
			}
			refused("asked before any call", asked.Ready(t.Context(), "billing"))
			if err := claimOne(t, called); !errors.Is(err, state.ErrUnavailable) {
				t.Errorf("a call: %v", err)
			}
			for _, s := range []*Store{asked, called} {
				for range 2 * failures {
					refused("known", s.Away("billing"))
					refused("known of any", s.Away(""))
					refused("asked again", s.Ready(t.Context(), "billing"))
				}
				refused("looked at", s.Ping(t.Context()))
			}
			if err := tc.mend(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Store{asked, called} {
				until(t, "the store takes writes", func() bool { return s.Away("billing") == nil })
				if err := errors.Join(s.Ready(t.Context(), "billing"), claimOne(t, s), s.Ping(t.Context())); err != nil {
					t.Errorf("with all as before: %v", err)
				}
			}
			if text := said(); strings.Count(text, "redis refuses writes: what has to be recorded is refused") != 1 ||
				strings.Count(text, "redis takes writes again") != 1 || !strings.Contains(text, tc.words) {
				t.Errorf("the log says %q", text)
			}
		})
	}
}

// claimOne claims a task that nobody has.
func claimOne(t *testing.T, s *Store) error {
	t.Helper()
	r := statetest.Example()
	r.ID = strconv.FormatInt(prefixes.Add(1), 10)
	_, err := s.Claim(t.Context(), r)
	return err
}

func setting(key, value string) func(context.Context, *redis.Client) error {
	return func(ctx context.Context, c *redis.Client) error { return c.ConfigSet(ctx, key, value).Err() }
}

func doing(words ...any) func(context.Context, *redis.Client) error {
	return func(ctx context.Context, c *redis.Client) error { return c.Do(ctx, words...).Err() }
}

// cannotSave has the server find out that it cannot: a directory is where its file should be.
func cannotSave(ctx context.Context, c *redis.Client) error {
	at, err := c.ConfigGet(ctx, "dir").Result()
	if err == nil {
		err = os.MkdirAll(filepath.Join(at["dir"], "taken", "by this"), 0o700)
	}
	if err != nil {
		return err
	}
	if err := c.BgSave(ctx).Err(); err != nil {
		return err
	}
	for {
		info, err := c.Info(ctx, "persistence").Result()
		if err != nil || parseInfo(info)["rdb_last_bgsave_status"] == "err" {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Ready asks a server that is far away once for an agent and its backend, although its answer
// takes longer than it stands for.
func TestReadyAsksFarServersOnce(t *testing.T) {
	t.Parallel()
	server := serve(t, "--appendonly", "no")
	s, plain := open(t, config(behind(t, server.address, 5*state.Proven))), server.client(t)
	for range 3 {
		before := written(t, plain)
		for _, agent := range []string{"billing", "backend:1"} {
			if err := s.Ready(t.Context(), agent); err != nil {
				t.Fatal(err)
			}
		}
		if n := written(t, plain) - before; n == 1 {
			return // else this machine had something else to do in between
		}
	}
	t.Error("it was asked twice, each time")
}

// behind is an address from which everything takes so long to get to a server.
func behind(t *testing.T, address string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	late := func(to, from net.Conn) {
		defer to.Close()
		for buf := make([]byte, 64<<10); ; {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			time.Sleep(delay)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				continue
			}
			all.Go(func() { late(far, near) })
			all.Go(func() { late(near, far) })
		}
	})
	return l.Addr().String()
}

// written is how many keys were set at a server.
func written(t *testing.T, plain *redis.Client) int {
	t.Helper()
	info, err := plain.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	calls, _, _ := strings.Cut(strings.TrimPrefix(parseInfo(info)["cmdstat_set"], "calls="), ",")
	n, _ := strconv.Atoi(calls)
	return n
}

// Ready asks a server that takes writes once for all calls of a moment, and none of those
// that it knows to be down.
func TestReadyAsksNowAndThen(t *testing.T) {
	t.Parallel()
	server := serve(t, "--appendonly", "no")
	s, plain := open(t, config(server.address)), server.client(t)
	before, begin, asked := written(t, plain), time.Now(), 0
	for ; time.Since(begin) < 200*time.Millisecond; asked++ {
		if err := s.Ready(t.Context(), "billing"); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(begin)
	if n, most := written(t, plain)-before, int(took/state.Proven)+1; n < 1 || n > most {
		t.Errorf("%d questions in %v were %d writes, want at most %d", asked, took, n, most)
	}
}
