package push

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// httpsOnly stands in for the client that refuses what must not be sent to.
type httpsOnly struct{}

func (httpsOnly) Check(target string) (*url.URL, error) {
	u, err := url.Parse(target)
	if err == nil && u.Scheme != "https" {
		err = errors.New("not https")
	}
	return u, err
}

func newRegistry(t testing.TB, c Config) (*Registry, *state.Memory) {
	t.Helper()
	store := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = store.Close() })
	return NewRegistry(store, newCipher(t)).With(c, httpsOnly{}), store
}

func hook(owner, task, config string) Webhook {
	return Webhook{
		Agent: "billing", Registrant: Registrant{Owner: owner, Subject: owner}, Task: task, Config: config,
		URL: "https://hooks.example/x?key=hush-hush", Token: secret.New("hush-token"), Credentials: secret.New("hush-credentials"),
	}
}

func register(t testing.TB, r *Registry, h Webhook) *Registration {
	t.Helper()
	reg, err := r.Register(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func find(t testing.TB, r *Registry, reg *Registration) *Webhook {
	t.Helper()
	h, err := r.Find(t.Context(), strings.TrimPrefix(reg.Path, Path))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRegisterFindForget: a webhook is found by the token in its path and by the URL that
// has it, until it is forgotten.
func TestRegisterFindForget(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t, Config{})
	reg := register(t, r, hook("alice", "T", "C"))
	h := find(t, r, reg)
	if h == nil || h.URL != hook("", "", "").URL || h.Token.Reveal() != "hush-token" || !h.Shown.Equal(reg.Token) ||
		!h.Authorizing.Equal(reg.Credentials) || reg.Token.Equal(reg.Credentials) {
		t.Fatalf("found %+v", h)
	}
	base, _ := url.Parse("https://gw.example/base")
	byURL := func(u string) *Webhook {
		h, err := r.FindURL(t.Context(), base, u)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := byURL("https://gw.example/base" + reg.Path); h == nil {
		t.Error("not found by its URL")
	}
	for _, u := range []string{"https://evil.example" + reg.Path, "https://gw.example/base" + reg.Path + "/", "https://gw.example/base/push/", ""} {
		if h := byURL(u); h != nil {
			t.Errorf("found by %q", u)
		}
	}
	if list, err := r.OfTask(t.Context(), "billing", "T"); err != nil || len(list) != 1 {
		t.Errorf("of its task: %v %v", list, err)
	}
	if err := r.Forget(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	list, err := r.OfTask(t.Context(), "billing", "T")
	if h := find(t, r, reg); h != nil || err != nil || len(list) != 0 {
		t.Errorf("after it was forgotten: %v %v %v", h, list, err)
	}
	if err := r.Used(t.Context(), h2(h), true); err != nil || find(t, r, reg) != nil {
		t.Errorf("a notification that was under way has brought it back: %v", err)
	}
}

// h2 is a copy, as somebody else may have read it before.
func h2(h *Webhook) *Webhook {
	again := *h
	return &again
}

// TestA20_WebhooksAreSealed: neither the state nor what is printed shows a secret, the
// caller's address, or a token that would let somebody deliver.
func TestA20_WebhooksAreSealed(t *testing.T) {
	t.Parallel()
	r, store := newRegistry(t, Config{})
	reg := register(t, r, hook("alice", "T", "C"))
	var all strings.Builder
	for _, space := range []string{hookSpace, taskSpace, ownerSpace, seenSpace} {
		list, err := store.List(t.Context(), space, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			all.WriteString(v.Key + " " + string(v.Data))
		}
	}
	fmt.Fprintf(&all, "%v %+v %#v %s", *reg.Webhook, reg.Webhook, reg.Webhook, reg.Webhook)
	for _, s := range []string{"hush", "hooks.example", strings.TrimPrefix(reg.Path, Path), reg.Token.Reveal(), reg.Credentials.Reveal()} {
		if strings.Contains(all.String(), s) {
			t.Errorf("%q is to be seen", s)
		}
	}
	if other := NewRegistry(store, newCipher(t)).With(Config{}, httpsOnly{}); other != nil {
		if h, err := other.Find(t.Context(), strings.TrimPrefix(reg.Path, Path)); err == nil || h != nil {
			t.Errorf("read with another key: %v", h)
		}
	}
}

// TestA18_BadURLsAreNotRegistered: what must not be sent to is refused and leaves nothing.
func TestA18_BadURLsAreNotRegistered(t *testing.T) {
	t.Parallel()
	r, store := newRegistry(t, Config{})
	h := hook("alice", "T", "C")
	h.URL = "http://169.254.169.254/"
	var bad *RefusedError
	if _, err := r.Register(t.Context(), h); !errors.As(err, &bad) || bad.URL == nil {
		t.Errorf("%v", err)
	}
	if list, err := store.List(t.Context(), hookSpace, "", 1); err != nil || len(list) > 0 {
		t.Errorf("left %v %v", list, err)
	}
}

// TestA21_ConfigsAreBounded: a task and a principal have no more configs than they may,
// however many come at once; the error names the key, and room comes back.
func TestA21_ConfigsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		hook   func(i int) Webhook
		key    string
	}{
		"task":      {Config{PerTask: 3}, func(int) Webhook { return hook("alice", "T", "") }, "push.perTask"},
		"principal": {Config{PerPrincipal: 3}, func(i int) Webhook { return hook("alice", fmt.Sprint(i), "") }, "push.perPrincipal"},
	} {
		r, _ := newRegistry(t, c.config)
		for i := range 3 {
			register(t, r, c.hook(i))
		}
		var full *RefusedError
		if _, err := r.Register(t.Context(), c.hook(4)); !errors.As(err, &full) || !strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: %v", name, err)
		}
		register(t, r, hook("bob", "T2", "")) // is not kept out
		list, err := r.members(t.Context(), ownerSpace, digest("alice"), 9)
		if err != nil || len(list) != 3 {
			t.Fatalf("%s: %v %v", name, list, err)
		}
		h, err := r.get(t.Context(), list[0])
		if err == nil {
			err = r.Forget(t.Context(), h)
		}
		if err != nil {
			t.Fatal(err)
		}
		register(t, r, c.hook(5))
	}
}

// TestA21_RaceForTheLastPlace: of many at once no more than fit get in.
func TestA21_RaceForTheLastPlace(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t, Config{PerTask: 5})
	var wait sync.WaitGroup
	for range 40 {
		wait.Go(func() { _, _ = r.Register(t.Context(), hook("alice", "T", "")) })
	}
	wait.Wait()
	if list, err := r.OfTask(t.Context(), "billing", "T"); err != nil || len(list) > 5 {
		t.Errorf("%d of 5 %v", len(list), err)
	}
}

// TestBind: what becomes known later is kept; a config that replaces another makes it
// forgotten, also at the limit, and another owner's stays.
func TestBind(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t, Config{PerTask: 2})
	inline := register(t, r, hook("alice", "", ""))
	bind := func(reg *Registration, task, config string, only bool) {
		t.Helper()
		if err := r.Bind(t.Context(), find(t, r, reg), task, "ctx", config, only); err != nil {
			t.Fatal(err)
		}
	}
	bind(inline, "T", "", false)
	bind(inline, "other", "C", false)
	if h := find(t, r, inline); h.Task != "T" || h.Config != "C" || h.Context != "ctx" {
		t.Errorf("%+v", h.write())
	}
	second := register(t, r, hook("alice", "T", "D"))
	again := register(t, r, hook("alice", "T", "C")) // replaces the first
	bind(again, "T", "C", false)
	if find(t, r, inline) != nil || find(t, r, second) == nil || find(t, r, again) == nil {
		t.Error("the wrong one was replaced")
	}
	bind(second, "T", "", true)
	if find(t, r, again) != nil || find(t, r, second) == nil {
		t.Error("a task of 0.1 has more than one")
	}
}

// between has something done by somebody else right after a webhook was read.
type between struct {
	state.Values

	do func()
}

func (b *between) Get(ctx context.Context, space, key string) ([]byte, bool, error) {
	data, ok, err := b.Values.Get(ctx, space, key)
	if do := b.do; do != nil && space == hookSpace {
		b.do = nil
		do()
	}
	return data, ok, err
}

// TestForgottenElsewhere: a webhook that is forgotten at one gateway stays so, whatever
// another one is about to write down of it.
func TestForgottenElsewhere(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Registry, *Webhook) error{
		"a notification came": func(r *Registry, h *Webhook) error { return r.Used(t.Context(), h, true) },
		"its task is known":   func(r *Registry, h *Webhook) error { return r.Bind(t.Context(), h, "T", "C", "", false) },
		"its id is known":     func(r *Registry, h *Webhook) error { return r.Bind(t.Context(), h, "T", "C", "c", false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCipher(t)
			store := state.NewMemory(state.Config{})
			t.Cleanup(func() { _ = store.Close() })
			slow := &between{Values: store}
			here := NewRegistry(slow, c).With(Config{}, httpsOnly{})
			there := NewRegistry(store, c).With(Config{}, httpsOnly{})
			reg := register(t, here, hook("alice", "", ""))
			h := find(t, here, reg)
			slow.do = func() {
				if err := there.Forget(t.Context(), find(t, there, reg)); err != nil {
					t.Error(err)
				}
			}
			if err := change(here, h); err != nil {
				t.Error(err)
			}
			if find(t, here, reg) != nil {
				t.Error("it is registered again")
			}
			for _, space := range []string{hookSpace, ownerSpace, taskSpace} {
				if list, err := store.List(t.Context(), space, "", 9); err != nil || len(list) != 0 {
					t.Errorf("%d are left of it in %s: %v", len(list), space, err)
				}
			}
		})
	}
}

// TestTasksInUseKeepWebhooks: a webhook that nothing is posted to is remembered for as long as its
// task is in use, and as long as tasks are in any case.
func TestTasksInUseKeepWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r, _ := newRegistry(t, Config{})
		r.keptFor = 2 * 24 * time.Hour // as in TestTimes
		r.Outlast(time.Hour)
		r.Outlast(3 * 24 * time.Hour)
		used, idle := register(t, r, hook("alice", "T", "C")), register(t, r, hook("alice", "U", "C"))
		for range 2 {
			time.Sleep(60 * time.Hour)
			if err := r.Renew(ctx, find(t, r, used).Agent, "T"); err != nil {
				t.Fatal(err)
			}
		}
		if find(t, r, idle) != nil || find(t, r, used) == nil {
			t.Error("the wrong one is remembered")
		}
	})
}

// TestTimes: a webhook is remembered for so long after its last use; a notification is
// the first of its kind for push.age, and late that long after the task's end.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r, _ := newRegistry(t, Config{Age: quantity.Duration(time.Minute)})
		r.keptFor = 3 * 24 * time.Hour // the store is looked after every minute of them
		used, idle := register(t, r, hook("alice", "T", "C")), register(t, r, hook("alice", "U", "C"))
		h := find(t, r, used)
		first := func(id, want string) {
			t.Helper()
			if got, err := r.First(ctx, h, []byte("x"), id); err != nil || got != want {
				t.Errorf("first: %q %v, want %q", got, err, want)
			}
		}
		first("a", "a")
		first("b", "a") // begun, and not taken
		if err := r.Taken(ctx, h, []byte("x")); err != nil {
			t.Fatal(err)
		}
		first("c", "")
		time.Sleep(2 * time.Minute)
		first("d", "d")
		time.Sleep(2 * 24 * time.Hour)
		if err := r.Used(ctx, h, false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * 24 * time.Hour)
		if find(t, r, idle) != nil || find(t, r, used) == nil {
			t.Error("the wrong one is remembered")
		}
		if err := r.Used(ctx, h, true); err != nil || r.Late(find(t, r, used)) {
			t.Errorf("late at once: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if !r.Late(find(t, r, used)) {
			t.Error("not late")
		}
	})
}
