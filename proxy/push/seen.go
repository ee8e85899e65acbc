package push

import "context"

// Late reports whether the task ended so long ago that nothing is to come any more.
func (r *Registry) Late(h *Webhook) bool {
	return !h.Ended.IsZero() && r.now().Sub(h.Ended) > r.age
}

// First reports whether nothing like name has come for a webhook within push.age, and
// remembers it. Again takes that back.
func (r *Registry) First(ctx context.Context, h *Webhook, name []byte) (bool, error) {
	return r.values.Add(ctx, seenSpace, h.seen(name), nil, r.age)
}

// Again forgets what First remembered: it was not delivered, and is to come again.
func (r *Registry) Again(ctx context.Context, h *Webhook, name []byte) error {
	return r.values.Delete(ctx, seenSpace, h.seen(name))
}

func (h *Webhook) seen(name []byte) string { return h.id + "/" + digest(string(name)) }
