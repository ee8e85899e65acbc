package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// Deliveries are the queue of webhooks as the console sees it. They are there whatever
// push.mode is: those of a configuration that has gone are kept.
type Deliveries struct {
	// Notifications to webhooks that wait, and those that were given up (dead).
	Queue state.Queue
	// Opens what is shown of a delivery; its payload stays closed.
	Cipher state.Cipher
}

// List implements deliveries.Deliveries. dead chooses between those that were given up and
// those that wait; after is the id of the last one of the page before.
func (d Deliveries) List(ctx context.Context, dead bool, after string, limit int) ([]push.Shown, error) {
	items, err := d.Queue.Items(ctx, push.Queue, dead, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	list := make([]push.Shown, len(items))
	for i := range items {
		list[i] = push.Show(items[i], d.Cipher)
	}
	return list, nil
}

// Depth implements deliveries.Deliveries. The age of the oldest one is counted up to now,
// on this machine's clock.
func (d Deliveries) Depth(ctx context.Context) (state.Depth, error) {
	return d.Queue.Depth(ctx, push.Queue, time.Now())
}

// Retry implements deliveries.Deliveries. Those who deliver look at the queue every second.
// The attempts of the delivery are counted anew. false says that it is not among those that
// were given up.
func (d Deliveries) Retry(ctx context.Context, id string) (bool, error) {
	return d.Queue.Revive(ctx, push.Queue, id, time.Now())
}

// Drop implements deliveries.Deliveries. It is gone for good, with what was to be
// delivered. false says that there is none of this id: another operator was faster, or it
// was delivered meanwhile.
func (d Deliveries) Drop(ctx context.Context, id string) (bool, error) {
	return d.Queue.Remove(ctx, push.Queue, id)
}
