package share

import (
	"context"
	"sync"
)

// Turns let each caller do so many things at once, and the rest of its own wait: where there
// are twice as many places, one whose things take for ever holds up nobody else.
type Turns struct {
	most int

	mu sync.Mutex
	of map[string]*turn
}

// turn is one caller's.
type turn struct {
	places chan struct{}
	users  int // those who wait, and those who have a place
}

// NewTurns gives each caller most turns.
func NewTurns(most int) *Turns { return &Turns{most: most, of: map[string]*turn{}} }

// Enter waits for a turn of a caller's, no longer than ctx. Without an error Leave ends it.
func (t *Turns) Enter(ctx context.Context, who string) error {
	t.mu.Lock()
	own := t.of[who]
	if own == nil {
		own = &turn{places: make(chan struct{}, t.most)}
		t.of[who] = own
	}
	own.users++
	t.mu.Unlock()
	select {
	case own.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		t.forget(who)
		return context.Cause(ctx)
	}
}

// Leave ends a turn.
func (t *Turns) Leave(who string) {
	t.mu.Lock()
	own := t.of[who]
	t.mu.Unlock()
	<-own.places
	t.forget(who)
}

func (t *Turns) forget(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.of[who]
	if own.users--; own.users == 0 {
		delete(t.of, who)
	}
}
