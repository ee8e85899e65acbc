package revocation

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// revokedEvery is how often the state is asked which API keys are revoked: half of the
// second within which such a key must be refused. The other half is for the answer.
const revokedEvery = time.Second / 2

// errRevokedUnknown says that the state has not been reached since the start.
var errRevokedUnknown = errors.New("the state has not said yet which API keys are revoked")

// Watcher keeps at hand which API keys were revoked for all gateways. While the state
// cannot be reached what it said last holds; nobody else can revoke keys there then.
type Watcher struct {
	values state.Values
	log    *slog.Logger
	ids    atomic.Pointer[map[string]time.Time] // nil until the state has answered
	failed bool                                 // the last time; said once

	cancel context.CancelFunc
	done   chan struct{}
}

// Watch asks once before it returns, so that no revoked key is accepted in the
// first moment, and then until close.
func Watch(ctx context.Context, values state.Values, log *slog.Logger) *Watcher {
	v := &Watcher{values: values, log: log, done: make(chan struct{})}
	v.refresh(ctx)
	ctx, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go v.watch(ctx)
	return v
}

func (v *Watcher) watch(ctx context.Context) {
	defer close(v.done)
	tick := time.NewTicker(revokedEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			v.refresh(ctx)
		}
	}
}

func (v *Watcher) refresh(ctx context.Context) {
	ids, err := readRevoked(ctx, v.values)
	switch {
	case err == nil:
		v.ids.Store(&ids)
		if v.failed {
			v.log.Info("revoked API keys can be read again", "keys", len(ids))
		}
		v.failed = false
	case ctx.Err() != nil: // the gateway closes
	case !v.failed && v.ids.Load() == nil:
		v.log.Error("revoked API keys cannot be read: no API key is accepted until they can", "err", err)
		v.failed = true
	case !v.failed:
		v.log.Warn("revoked API keys cannot be read: those that were stay revoked", "err", err)
		v.failed = true
	}
}

// Has reports whether a key is revoked.
func (v *Watcher) Has(id string) (bool, error) {
	ids := v.ids.Load()
	if ids == nil {
		return false, errRevokedUnknown
	}
	_, revoked := (*ids)[id]
	return revoked, nil
}

// Known are the revoked keys, with when; none before the state has answered.
func (v *Watcher) Known() map[string]time.Time {
	if ids := v.ids.Load(); ids != nil {
		return *ids
	}
	return nil
}

func (v *Watcher) Close() {
	v.cancel()
	<-v.done
}
