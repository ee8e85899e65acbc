package push

import (
	"context"
	"errors"
	"fmt"
)

// ErrForbidden is a delivery whose owner may not have it any more.
var ErrForbidden = errors.New("its owner may not have it any more")

// stands asks, right before a notification goes out, what was true when it came: is its
// config still registered, and may its owner still hear of the task? A day can lie between.
//
// Where that cannot be known now, the item waits for the first pause and the attempt is not
// counted.
func (w *Worker) stands(t *task) (result, bool) {
	if w.Hooks == nil {
		return result{}, true
	}
	ctx, cancel := context.WithTimeout(w.context, settleTimeout)
	defer cancel()
	h, err := w.Hooks.of(ctx, t.delivery)
	switch {
	case err == nil && h == nil:
		return result{outcome: outcomeGone, why: "its config is not registered any more"}, false
	case err == nil && w.Permits != nil:
		err = w.Permits(ctx, h)
	}
	switch {
	case err == nil:
		return result{}, true
	case errors.Is(err, ErrForbidden):
		return result{outcome: outcomeRefused, why: ErrForbidden.Error()}, false
	}
	w.Log.Warn("whether a webhook may be sent its notifications is not known", "err", err)
	return result{noCount: true, asked: t.settings.Attempts.First.Std(), why: "the state cannot be reached"}, false
}

// of is the webhook that a delivery is for; nil for none. Another of the same owner for
// the same task and address does as well: a client that registers its config again, as
// some do whenever they start, still waits for what was queued before.
func (r *Registry) of(ctx context.Context, d *Delivery) (*Webhook, error) {
	h, err := r.get(ctx, d.Config)
	if err != nil || h != nil {
		return h, err
	}
	list, err := r.OfTask(ctx, d.Agent, d.Task)
	for _, other := range list {
		if other.Owner == d.Owner && other.URL == d.URL {
			return other, nil
		}
	}
	return nil, err
}

// forget ends the webhook of a delivery whose target says that it is gone (410): nothing
// more is taken from the agent for it.
func (w *Worker) forget(ctx context.Context, d *Delivery) {
	if w.Hooks == nil {
		return
	}
	h, err := w.Hooks.get(ctx, d.Config)
	if err == nil && h != nil {
		err = w.Hooks.Forget(ctx, h)
	}
	if err != nil {
		w.Log.Warn("a webhook that is gone is still registered", "delivery", d, "err", err)
	}
}

// Drop forgets what waits to be delivered to a webhook: its owner has deleted it.
func (w *Worker) Drop(ctx context.Context, h *Webhook) error {
	for _, line := range h.lines() {
		if _, err := w.Queue.RemoveLine(ctx, Queue, line); err != nil {
			return fmt.Errorf("drop deliveries: %w", err)
		}
	}
	return nil
}

// Shows is the task of a webhook as its owner knows it.
func (h *Webhook) Shows() string { return orDefault(h.Renamed.Caller, h.Task) }

// lines are those that notifications for a webhook wait in: of its task, and of none yet.
func (h *Webhook) lines() (list []string) {
	for _, line := range []string{lineOf(h.Agent, h.Shows(), h.id), lineOf(h.Agent, "", h.id)} {
		list = append(list, ofOwner(h.Owner, line), line) // lines had no owners once
	}
	return list
}
