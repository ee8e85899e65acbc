package redis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestR18_Kill kills the server with SIGKILL while several gateways push and take. With
// appendfsync always no item whose push was acknowledged is lost, and those of one line
// stay in order. A2A_GATEWAY_TEST_KILLS says how often; default 5.
func TestR18_Kill(t *testing.T) {
	testenv.Long(t, "processes are killed again and again")
	t.Parallel()
	seed := rand.Uint64() // not a secret
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) // not a secret
	server := serve(t, "--appendonly", "yes", "--appendfsync", "always")
	c := config(server.address)
	c.Redis.Timeout = quantity.Duration(5 * time.Second)
	stores := []*Store{open(t, c), open(t, c)}
	var (
		mu   sync.Mutex
		told statetest.Told
		left atomic.Int64 // until the server is killed
	)
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		told.Note(line)
		left.Add(-1)
	}
	for round := range killings() {
		left.Store(20 + random.Int64N(100))
		var all sync.WaitGroup
		for i, s := range stores {
			all.Go(func() {
				if err := statetest.WorkOn(s, fmt.Sprintf("round-%d-%d", round, i), say); !errors.Is(err, state.ErrUnavailable) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		until(t, "something was pushed and taken", func() bool { return left.Load() <= 0 })
		server.end()
		all.Wait()
		if err := server.start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the stores are back", func() bool {
			_, first := stores[0].Depth(t.Context(), "q", time.Now())
			_, second := stores[1].Depth(t.Context(), "q", time.Now())
			return first == nil && second == nil
		})
	}
	told.Verify(t, stores[0])
}

// What nobody of ours has written is an error, for those who come by it, and changes
// nothing.
func TestGarbageInQueue(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	now, items := time.Now(), s.names.queue("q")[0]
	for _, id := range []string{"1", "2"} {
		if _, err := s.Push(ctx, "q", statetest.ExampleItem(id, "a"), 0); err != nil {
			t.Fatal(err)
		}
	}
	stored := plain.HGet(ctx, items, "1").Val()
	take := func() error { _, err := s.Take(ctx, "q", "h", now, 9, time.Hour); return err }
	list := func() error { _, err := s.Items(ctx, "q", false, "", 9); return err }
	for _, bad := range []string{"", "x", "\x01", "\xc1", stored[:9], stored + "x", "\x97\x02" + stored[2:]} {
		plain.HSet(ctx, items, "1", bad)
		for name, call := range map[string]func() error{
			"Take": take, "Items": list, "Done": func() error { return s.Done(ctx, "q", "h", "1") },
			"Remove": func() error { _, err := s.Remove(ctx, "q", "1"); return err },
		} {
			if err := call(); !errors.Is(err, errRecord) || errors.Is(err, state.ErrUnavailable) {
				t.Errorf("%s with %q stored: %v", name, bad, err)
			}
		}
	}
	plain.HDel(ctx, items, "1")
	if err := take(); !errors.Is(err, errRecord) {
		t.Errorf("Take with nothing stored: %v", err)
	}
	plain.HSet(ctx, items, "1", stored)
	if got, err := s.Take(ctx, "q", "h", now, 9, time.Hour); err != nil || len(got) != 1 || got[0].ID != "1" {
		t.Errorf("Take with everything as before: %+v, %v", got, err)
	}
	plain.Del(ctx, items)
	plain.Set(ctx, items, "x", 0)
	if err := list(); !errors.Is(err, errRecord) {
		t.Errorf("Items of another type: %v", err)
	}
}

// TestQueueOfTwoVersions: a gateway of before there were owners takes items without a word
// to their owners' sets. What it leaves there costs the owner nothing for long.
func TestQueueOfTwoVersions(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	now, keep := time.Now(), state.Keep{For: time.Hour, Most: 4}
	for _, key := range []string{"owner:a", "owner-dead:a"} {
		for i := range 200 {
			plain.ZAdd(ctx, s.names.lines("q")+key, redis.Z{Score: float64(i), Member: fmt.Sprint("gone", i)})
		}
	}
	for i := range 4 {
		id := fmt.Sprint(i)
		if ok, err := s.Push(ctx, "q", statetest.ExampleItem(id, "a/"+id), 4); err != nil || !ok {
			t.Fatalf("Push: %v, %v", ok, err)
		}
		if got, err := s.Take(ctx, "q", "h", now, 1, time.Minute); err != nil || len(got) != 1 {
			t.Fatalf("Take: %v, %v", got, err)
		}
		if err := s.Bury(ctx, "q", "h", id, "dead", now, keep); err != nil {
			t.Fatalf("Bury: %v", err)
		}
	}
	if d, err := s.Depth(ctx, "q", now); err != nil || d.Waiting != 0 || d.Dead != 2 {
		t.Errorf("Depth: %+v, %v", d, err)
	}
}

// TestQueueOfTwoVersionsBehindOthers: so it is where what such a gateway has left stands
// behind many that do wait.
func TestQueueOfTwoVersionsBehindOthers(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	const waiting, most = 70, 200
	push := func(id string) bool {
		ok, err := s.Push(ctx, "q", statetest.ExampleItem(id, "a/"+id), most)
		if err != nil && !errors.Is(err, state.ErrFull) {
			t.Fatal(err)
		}
		return ok
	}
	for i := range waiting {
		if !push(fmt.Sprint(i)) {
			t.Fatalf("%d is one too many", i)
		}
	}
	for i := range most {
		plain.ZAdd(ctx, s.names.lines("q")+"owner:a", redis.Z{Member: fmt.Sprint("gone", i)})
	}
	if !push("more") {
		t.Errorf("with %d that wait, of which each counts twice, the owner has no room, which is %d", waiting, most)
	}
}

// A server without memory takes nothing more, but what it has can be taken and settled.
func TestQueueWithoutMemory(t *testing.T) {
	t.Parallel()
	server := serve(t)
	s, plain, ctx := open(t, config(server.address)), server.client(t), t.Context()
	for i := range 4 {
		it := statetest.ExampleItem(fmt.Sprint(i), fmt.Sprint(i))
		if _, err := s.Push(ctx, "q", it, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := plain.ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Push(ctx, "q", statetest.ExampleItem("5", "5"), 0); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("Push: %v", err)
	}
	now := time.Now()
	if got, err := s.Take(ctx, "q", "h", now, 9, time.Minute); err != nil || len(got) != 4 {
		t.Fatalf("Take: %+v, %v", got, err)
	}
	now = now.Add(time.Hour)
	if got, err := s.Take(ctx, "q", "h", now, 9, time.Minute); err != nil || len(got) != 4 {
		t.Fatalf("Take after the leases: %+v, %v", got, err)
	}
	for what, err := range map[string]error{
		"Done":  s.Done(ctx, "q", "h", "0"),
		"Again": s.Again(ctx, "q", "h", "1", now, "again"),
		"Bury":  s.Bury(ctx, "q", "h", "2", "dead", now, state.Keep{For: time.Hour}),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if d, err := s.Depth(ctx, "q", now); err != nil || d.Waiting != 2 || d.Dead != 1 {
		t.Errorf("Depth: %+v, %v", d, err)
	}
}

// moveQueue: while the keys of a queue go to another node, what is asked of it is done or
// fails as a whole.
func moveQueue(t *testing.T, nodes nodeList) {
	t.Helper()
	s, ctx := open(t, config(nodes.addresses()...)), t.Context()
	const lines = 5
	next, done := [lines]int{}, [lines]int{}
	work := func() {
		for i := range 10 * lines {
			line := i % lines
			it := statetest.ExampleItem(fmt.Sprintf("%d/%d", line, next[line]), fmt.Sprint(line))
			switch _, err := s.Push(ctx, "q", it, 0); {
			case err == nil:
				next[line]++
			case !errors.Is(err, state.ErrUnavailable):
				t.Errorf("Push: %v", err)
			}
		}
		for now := time.Now(); ; {
			list, err := s.Take(ctx, "q", "h", now, 3, 0)
			if len(list) == 0 || done[0] > next[0]/2 {
				if err != nil && !errors.Is(err, state.ErrUnavailable) {
					t.Errorf("Take: %v", err)
				}
				return
			}
			for _, it := range list {
				var line, n int
				if _, err := fmt.Sscanf(it.ID, "%d/%d", &line, &n); err != nil || n != done[line] {
					t.Errorf("line %d goes on with %s (%v), not with %d", line, it.ID, err, done[line])
				}
				if s.Done(ctx, "q", "h", it.ID) == nil {
					done[line]++
				}
			}
		}
	}
	work()
	nodes.move(t, s.names.tag("q"), work)
	work()
	d, err := s.Depth(ctx, "q", time.Now())
	want := int64(0)
	for line := range lines {
		want += int64(next[line] - done[line])
	}
	if err != nil || d.Waiting != want || want == 0 {
		t.Errorf("Depth: %+v, %v; %d were pushed and are not done", d, err, want)
	}
}
