package push

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// waiting is how long a notification without an id is thought to be with another gateway
// still: agents wait no longer for an answer.
const waiting = 10 * time.Second

// Late reports whether the task ended so long ago that nothing is to come any more.
func (r *Registry) Late(h *Webhook) bool {
	return !h.Ended.IsZero() && r.now().Sub(h.Ended) > r.age
}

// First asks, within push.age, what came of a notification by one of its names before:
// nothing, and it is to be delivered as id; or it was begun, by a gateway that was killed
// in the middle perhaps, and goes on as what it was called then; or it was taken: "".
func (r *Registry) First(ctx context.Context, h *Webhook, name []byte, id string) (string, error) {
	key := h.seen(name)
	fresh, err := r.values.Add(ctx, seenSpace, key, []byte(id), r.age)
	if err == nil && !fresh {
		var begun []byte
		begun, fresh, err = r.values.Get(ctx, seenSpace, key)
		if fresh { // else it has run out this moment
			id = string(begun)
		}
	}
	if err != nil {
		return "", fmt.Errorf("look for an earlier notification: %w", err)
	}
	return id, nil
}

// Taken notes that what goes by a name is queued, and need not be again.
func (r *Registry) Taken(ctx context.Context, h *Webhook, name []byte) error {
	return r.values.Put(ctx, seenSpace, h.seen(name), nil, r.age)
}

// Begin says what a notification without an id is delivered as: id, or, within push.age,
// what one with the same body was called that was begun and not answered, so that its
// agent sends it again. Equal bodies are no proof: agents that pass on what a model says
// piece by piece post the same piece twice. One whose like is under way, or was answered,
// is another. end is called when all is over, with whether the agent was told that it was
// taken.
//
// Three cases have to be told apart by nothing but equal bodies: the agent sends again because
// its request broke off, two gateways get the same request at once, and the agent means two
// notifications. Only the first is a repetition.
func (r *Registry) Begin(ctx context.Context, h *Webhook, body []byte, id string) (as string, end func(told bool), err error) {
	key := h.seen(append([]byte("begun "), body...))
	if !r.underway.enter(key) {
		return id, func(bool) {}, nil
	}
	fresh, err := r.values.Add(ctx, seenSpace, key, r.underway.sign(r.now(), id), r.age)
	if err == nil && !fresh {
		var begun []byte
		if begun, fresh, err = r.values.Get(ctx, seenSpace, key); fresh { // else it has run out this moment
			before, over := r.underway.read(string(begun), r.now())
			if !over {
				r.underway.leave(key)
				return id, func(bool) {}, nil
			}
			id = before
		}
	}
	if err != nil {
		r.underway.leave(key)
		return "", nil, fmt.Errorf("look for an earlier notification: %w", err)
	}
	return id, func(told bool) { r.end(context.WithoutCancel(ctx), key, told) }, nil
}

// end forgets what was begun once its agent knows. Where the state cannot be told, the
// next with the same body is another all the same: the key stays under way here.
func (r *Registry) end(ctx context.Context, key string, told bool) {
	if told && r.values.Delete(ctx, seenSpace, key) != nil {
		time.AfterFunc(r.age, func() { r.underway.leave(key) })
		return
	}
	r.underway.leave(key)
}

// underway are the notifications without an id that this process is about to take.
type underway struct {
	process string    // tells it from others that share the state
	began   time.Time // the process did

	mu   sync.Mutex
	keys map[string]bool
}

// newUnderway begins with no notification under way, and with a name that no other process has.
func newUnderway(now time.Time) *underway {
	return &underway{process: random(), began: now, keys: map[string]bool{}}
}

// enter is false where the same is under way.
func (u *underway) enter(key string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys[key] {
		return false
	}
	u.keys[key] = true
	return true
}

// leave ends what enter has begun.
func (u *underway) leave(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.keys, key)
}

// sign writes down who begins what, and when.
func (u *underway) sign(now time.Time, id string) []byte {
	return []byte(u.process + " " + strconv.FormatInt(now.UnixMicro(), 10) + " " + id)
}

// read says what one that was begun is called, and whether it was broken off: here, or by
// a process that ended before this one began, or that took too long.
func (u *underway) read(begun string, now time.Time) (id string, over bool) {
	process, rest, _ := strings.Cut(begun, " ")
	at, id, _ := strings.Cut(rest, " ")
	micros, err := strconv.ParseInt(at, 10, 64)
	when := time.UnixMicro(micros)
	return id, err == nil && (process == u.process || when.Before(u.began) || now.Sub(when) > waiting)
}

// seen is the key under which a notification of the webhook's is remembered by its name.
func (h *Webhook) seen(name []byte) string { return h.id + "/" + digest(string(name)) }
