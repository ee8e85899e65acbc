package push

import (
	"context"
	"fmt"
)

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

func (h *Webhook) seen(name []byte) string { return h.id + "/" + digest(string(name)) }
