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
	Queue  state.Queue
	Cipher state.Cipher
}

// List implements deliveries.Deliveries.
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

// Depth implements deliveries.Deliveries.
func (d Deliveries) Depth(ctx context.Context) (state.Depth, error) {
	return d.Queue.Depth(ctx, push.Queue, time.Now())
}

// Retry implements deliveries.Deliveries. Those who deliver look at the queue every second.
func (d Deliveries) Retry(ctx context.Context, id string) (bool, error) {
	return d.Queue.Revive(ctx, push.Queue, id, time.Now())
}

// Drop implements deliveries.Deliveries.
func (d Deliveries) Drop(ctx context.Context, id string) (bool, error) {
	return d.Queue.Remove(ctx, push.Queue, id)
}
