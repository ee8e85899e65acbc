package limits

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// where something was counted.
type where uint8

const (
	nowhere where = iota
	inStore
	inLocal
)

// draw draws where it can: in the store, or what onLoss says. The store bounds its own
// time, and says quickly that it cannot be reached once it knows; the next success ends the
// loss. The error is ErrUnavailable, with its cause, or that of ctx.
func (l *Limiter) draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, where, error) {
	got, err := l.options.Store.Draw(ctx, draws)
	if err == nil {
		l.found()
		return got, inStore, nil
	}
	if ctx.Err() != nil {
		return nil, nowhere, ctx.Err() //nolint:wrapcheck // the caller's own
	}
	l.lose(err)
	switch l.onLoss {
	case lossDeny:
		return nil, nowhere, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case lossAllow:
		return nil, nowhere, nil
	}
	// From here on places may be held in either, and have to be released in both.
	l.fell.Store(true)
	if got, err = l.options.Local.Draw(ctx, draws); err != nil {
		return nil, nowhere, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return got, inLocal, nil
}

// lose begins an outage. One outage is one warning in the log, and one line at its end,
// however many calls meet it.
func (l *Limiter) lose(err error) {
	if l.lost.CompareAndSwap(false, true) {
		l.options.Log.Warn("limits cannot be counted in the state", slog.String("onLoss", l.onLoss), slog.Any("error", err))
	}
}

// found ends an outage, if there is one.
func (l *Limiter) found() {
	if l.lost.Load() && l.lost.CompareAndSwap(true, false) {
		l.options.Log.Info("limits are counted in the state again")
	}
}

// release gives places back wherever they may be held, however it goes for the call.
func (l *Limiter) release(ctx context.Context, holds []state.Draw) {
	if len(holds) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if l.fell.Load() {
		_ = l.options.Local.Release(ctx, holds) // in memory
	}
	if err := l.options.Store.Release(ctx, holds); err != nil {
		l.keeper.later(holds)
	}
}
