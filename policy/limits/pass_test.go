package limits_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// room reports whether there is room for a call, which it gives back at once.
func room(t testing.TB, l *limits.Limiter, c *limits.Call) bool {
	t.Helper()
	p, by := admit(t, l, c)
	p.Release(t.Context())
	return by == ""
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{}, "{name: few, concurrency: 2}")
	k := &calls{t: t}
	first, _ := admit(t, l, k.send())
	second, _ := admit(t, l, k.by("alice", "weather", wire.GetTask))
	if _, err := l.Admit(t.Context(), k.send()); err == nil || err.Error() != "limit few: too many calls at the same time" {
		t.Errorf("the third: %v", err)
	}
	if !room(t, l, k.by("bob", "billing", wire.SendMessage)) {
		t.Error("somebody else's place is taken")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		first.Release(gone)
	}
	third, by := admit(t, l, k.send())
	if by != "" || room(t, l, k.send()) {
		t.Error("giving a place back, twice, did not free one")
	}
	second.Release(t.Context())
	third.Release(t.Context())
}

// Places are kept while calls run, however long, also after Close, and are free soon
// after a gateway is gone.
func TestPlacesAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, k := memory(t), &calls{t: t}
		old := limiter(t, limits.Options{Store: store}, "{name: few, concurrency: 3, openTasks: 3}")
		var passes []*limits.Pass
		for range 3 {
			p, _ := admit(t, old, k.send())
			passes = append(passes, p)
		}
		old.Close()
		l := limiter(t, limits.Options{Store: store}, "{name: few, concurrency: 3, openTasks: 3}")
		for range 30 {
			time.Sleep(time.Minute)
			if room(t, l, k.send()) {
				t.Fatal("a place was lost while its call runs")
			}
		}
		for _, p := range passes {
			p.Release(t.Context())
		}
		if !room(t, l, k.send()) || store.Counted() != 0 {
			t.Errorf("after all calls are over %d buckets are held", store.Counted())
		}

		// A gateway that is gone renews nothing.
		dead := state.Draw{
			Key: "few/concurrency/principal/33:25:https://login.example.com3:bob", Kind: state.Hold, Limit: 3, TTL: time.Minute,
		}
		p, _ := admit(t, l, k.by("bob", "weather", wire.GetTask))
		defer p.Release(t.Context())
		for i := range 2 {
			dead.Holder = fmt.Sprint("call/", i)
			if got, err := store.Draw(t.Context(), []state.Draw{dead}); err != nil || !got[0].OK {
				t.Fatal(got, err)
			}
		}
		if room(t, l, k.by("bob", "weather", wire.GetTask)) {
			t.Fatal("the places are not where the test looks for them")
		}
		time.Sleep(time.Minute)
		if !room(t, l, k.by("bob", "weather", wire.GetTask)) {
			t.Error("the places of a gateway that is gone are not free")
		}
	})
}

// task is the record of one of Alice's tasks.
func task(id string) *state.Record {
	return &state.Record{
		Agent: "billing", Kind: state.Task, ID: id,
		Owner: (&authn.Principal{Subject: "alice", Issuer: "https://login.example.com"}).Key(),
	}
}

// on is a call on one of Alice's tasks.
func (c *calls) on(subject, method, id string) *limits.Call {
	return with(c.by(subject, "billing", method), func(c *limits.Call) { c.Task = task(id) })
}

// make has a call make a task.
func makeTask(t testing.TB, l *limits.Limiter, c *limits.Call, id string) {
	t.Helper()
	p, by := admit(t, l, c)
	if by != "" {
		t.Fatalf("no room for %s: %s", id, by)
	}
	p.Task(t.Context(), id, true)
	p.Task(t.Context(), id, true)
	p.Release(t.Context())
}

func TestOpenTasks(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{}, "{name: open, openTasks: 2}")
	k := &calls{t: t}
	tell := func(c *limits.Call, id string, live bool) {
		t.Helper()
		p, by := admit(t, l, c)
		if by != "" {
			t.Fatalf("refused by %s", by)
		}
		p.Task(t.Context(), id, live)
		p.Release(t.Context())
	}
	// A call that makes no task, or one that is over at once, leaves nothing behind.
	for i := range 5 {
		tell(k.send(), fmt.Sprint("over", i), false)
		if !room(t, l, k.send()) {
			t.Fatal("a call that is over has a place")
		}
	}
	// While it runs it has one, and the task that it shows does not take another.
	p, _ := admit(t, l, k.send())
	p.Task(t.Context(), "one", true)
	second, by := admit(t, l, k.send())
	if by != "" || room(t, l, k.send()) {
		t.Error("a call and the task that it made are not one place")
	}
	second.Release(t.Context())
	p.Release(t.Context())
	makeTask(t, l, k.send(), "two")

	if room(t, l, k.send()) {
		t.Error("a third task may be made")
	}
	for _, c := range []*limits.Call{
		k.on("alice", wire.SendMessage, "one"), k.on("bob", wire.SendStreamingMessage, "two"), // shared with Bob
		k.on("alice", wire.GetTask, "one"), k.by("alice", "billing", wire.ListTasks), k.by("bob", "billing", wire.SendMessage),
	} {
		if !room(t, l, c) {
			t.Errorf("%s of %s is refused", c.Method.Name, c.Principal.Subject)
		}
	}
	tell(k.on("alice", wire.GetTask, "one"), "one", true)
	tell(k.on("bob", wire.GetTask, "two"), "two", true)
	if room(t, l, k.send()) {
		t.Error("looking at tasks gives places back")
	}
	tell(k.on("bob", wire.CancelTask, "two"), "two", false)
	if !room(t, l, k.send()) {
		t.Error("a task that somebody else saw ending still has its place")
	}
	makeTask(t, l, k.send(), "three")
	tell(k.on("bob", wire.GetTask, "two"), "two", true) // an agent that goes back on it
	tell(k.on("alice", wire.GetTask, "one"), "one", false)
	if !room(t, l, k.send()) {
		t.Error("looking at a task takes a place")
	}
}

// Naming a task that is over is no way around the limit.
func TestOpenTasksBySendingToOldOnes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"enforce", "shadow"} {
		l := limiter(t, limits.Options{}, "{name: open, openTasks: 2, mode: "+mode+"}", "{name: all, quota: {units: 100}, key: []}")
		k := &calls{t: t}
		for i := range 2 {
			makeTask(t, l, k.on("alice", wire.SendMessage, "old"), fmt.Sprint("new", i))
		}
		p, by := admit(t, l, k.on("alice", wire.SendMessage, "old"))
		if want := "open"; mode == "enforce" && by != want || mode == "shadow" && by != "" {
			t.Errorf("%s: with two open tasks a send to one that is over is refused by %q", mode, by)
		}
		p.Release(t.Context())
		if p, by := admit(t, l, k.on("alice", wire.SendMessage, "new1")); by != "" || p == nil || p.Shadow != nil {
			t.Errorf("%s: a send to an open one: %+v, %q", mode, p, by)
		}
		p, by = admit(t, l, k.send())
		if mode == "shadow" && (by != "" || p == nil || len(p.Shadow) != 1) {
			t.Errorf("a third task in shadow mode: %+v, %q", p, by)
		}
		p.Release(t.Context())
	}
}

// Ended at the last, whoever tells: by a stream, and only what the stream's call made.
func TestOpenTasksOfStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory(t)
		l := limiter(t, limits.Options{Store: store}, "{name: open, openTasks: 1, forget: 1h}")
		k := &calls{t: t}
		p, _ := admit(t, l, k.by("alice", "billing", wire.SendStreamingMessage))
		for range 10 { // longer than forget and Within
			time.Sleep(30 * time.Minute)
			p.Task(t.Context(), "t", true)
			if room(t, l, k.send()) {
				t.Fatal("a task that is heard of was forgotten")
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		p.Task(gone, "t", false)
		if !room(t, l, k.send()) {
			t.Error("a task that has ended has a place before the stream is over")
		}
		p.Release(gone)

		makeTask(t, l, k.send(), "silent")
		time.Sleep(59 * time.Minute)
		if room(t, l, k.send()) {
			t.Error("forgotten too early")
		}
		time.Sleep(time.Minute)
		if !room(t, l, k.send()) {
			t.Error("a task that nobody hears of is not forgotten")
		}
	})
}

// Keys of later calls are made from the task, not from who calls.
func TestOpenTasksByKey(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{}, "{name: open, key: [tenant, agent, skill], skills: [pay], subjects: [alice], openTasks: 1}")
	k := &calls{t: t}
	pay := func() *limits.Call {
		return with(k.send(), func(c *limits.Call) { c.Skill, c.Principal.Tenant = "pay", "acme" })
	}
	makeTask(t, l, pay(), "t")
	if room(t, l, pay()) {
		t.Fatal("the task was not counted")
	}
	p, _ := admit(t, l, with(k.on("bob", wire.GetTask, "t"), func(c *limits.Call) {
		c.Task.Tenant, c.Task.Skill, c.Principal.Tenant = "acme", "pay", "umbrella"
	}))
	p.Task(t.Context(), "t", false)
	p.Release(t.Context())
	if !room(t, l, pay()) {
		t.Error("the task's place was not found again")
	}
}

// Two gateways with one store, and two configurations, share counts.
func TestShared(t *testing.T) {
	t.Parallel()
	store, k := memory(t), &calls{t: t}
	lines := []string{"{name: a, quota: {units: 4}, concurrency: 3, openTasks: 9}"}
	one, two := limiter(t, limits.Options{Store: store}, lines...), limiter(t, limits.Options{Store: store}, lines...)
	var passes []*limits.Pass
	for i := range 3 {
		p, _ := admit(t, []*limits.Limiter{one, two}[i%2], k.send())
		passes = append(passes, p)
	}
	if room(t, one, k.send()) || room(t, two, k.send()) {
		t.Error("places are not shared")
	}
	for _, p := range passes {
		p.Release(t.Context())
	}
	// After a reload, other figures bound what was counted before.
	next := limiter(t, limits.Options{Store: store}, "{name: a, quota: {units: 5}, concurrency: 3, openTasks: 9, methods: [SendMessage]}")
	for i := range 3 {
		if room(t, next, k.send()) != (i < 2) {
			t.Errorf("call %d after three of five", i)
		}
	}
	if by := limiter(t, limits.Options{Store: store}, "{name: a, quota: {units: 5, per: month}}"); !room(t, by, k.send()) {
		t.Error("another span does not begin anew")
	}
}
