package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// standing is a bench whose worker asks a registry.
func standing(t *testing.T, permits func(context.Context, *Webhook) error) *bench {
	t.Helper()
	return work(t, open(), func(o *WorkerOptions) {
		o.Hooks = NewRegistry(o.Values, o.Cipher)
		o.Permits = permits
	})
}

// hooked registers a webhook for a task, at the path of the task.
func (b *bench) hooked(t *testing.T, url, task string) *Webhook {
	t.Helper()
	h := hook("alice", task, "c")
	h.URL = url + "/" + task
	return register(t, b.Hooks.With(open(), b), h).Webhook
}

// of is the n-th notification for a webhook.
func of(h *Webhook, url string, n int) *Delivery {
	d := notification(url, h.Task, n)
	d.Config = h.ID()
	return d
}

func TestForgottenConfigsGetNothing(t *testing.T) {
	t.Parallel()
	b := standing(t, nil)
	r := receive(t, b.clock, nil)
	kept, gone, again := b.hooked(t, r.URL, "kept"), b.hooked(t, r.URL, "gone"), b.hooked(t, r.URL, "again")
	for _, h := range []*Webhook{gone, again} {
		if err := b.Hooks.Forget(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	b.hooked(t, r.URL, "again") // by another id
	for _, h := range []*Webhook{kept, gone, again} {
		b.push(t, of(h, r.URL, 0))
	}
	b.await(t, Delivered, 2)
	b.await(t, outcomeGone, 1)
	if ids := r.ids("/gone"); ids != nil {
		t.Errorf("sent: %v", ids)
	}
}

func TestForbiddenOwnersGetNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	b := standing(t, func(_ context.Context, h *Webhook) error {
		switch {
		case h.Task == "forbidden":
			return fmt.Errorf("%w: rule x", ErrForbidden)
		case asked.Add(1) < 3:
			return errors.New("away")
		}
		return nil
	})
	r := receive(t, b.clock, nil)
	b.push(t, of(b.hooked(t, r.URL, "forbidden"), r.URL, 0))
	b.push(t, of(b.hooked(t, r.URL, "unknown"), r.URL, 0))
	b.await(t, outcomeRefused, 1)
	b.await(t, Delivered, 1)
	if all := r.seen(); len(all) != 1 {
		t.Errorf("sent: %v", all)
	}
	for _, a := range b.observed() {
		if a.Outcome == Delivered && a.Number != 1 {
			t.Errorf("asking is no attempt: %+v", a)
		}
	}
}

// TestGoneEndsTheConfig: a target that says so is not told of anything more, and the
// agent not to send more.
func TestGoneEndsTheConfig(t *testing.T) {
	t.Parallel()
	b := standing(t, nil)
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusGone) })
	h := b.hooked(t, r.URL, "t1")
	for n := range 3 {
		b.push(t, of(h, r.URL, n))
	}
	b.await(t, outcomeGone, 3)
	if ids := r.ids("/t1"); len(ids) != 1 {
		t.Errorf("sent: %v", ids)
	}
	if again, err := b.Hooks.get(t.Context(), h.id); again != nil || err != nil {
		t.Errorf("still registered: %v %v", again, err)
	}
	if d := b.depth(t); d.Dead != 3 {
		t.Errorf("left: %+v", d)
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	b := standing(t, nil)
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusNotFound) })
	dropped, kept := b.hooked(t, r.URL, "dropped"), b.hooked(t, r.URL, "kept")
	for n := range 3 {
		b.push(t, of(dropped, r.URL, n))
		b.push(t, of(kept, r.URL, n))
	}
	b.clock.stop(b.clock.Now().Add(time.Hour)) // before anything is given up
	early := of(dropped, r.URL, 3)
	early.Task = "" // came before the task was known
	b.push(t, early)
	b.await(t, outcomeFailed, 3)
	if err := b.Drop(t.Context(), dropped); err != nil {
		t.Fatal(err)
	}
	if d := b.depth(t); d.Waiting != 3 || d.Dead != 0 {
		t.Errorf("left: %+v", d)
	}
}
