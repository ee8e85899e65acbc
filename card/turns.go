package card

import (
	"context"
	"sync"
	"time"
)

// Turns bound how many cards of a fleet are fetched at once: thousands of agents are not
// all asked in the moment in which a gateway starts. A nil Turns bounds nothing.
type Turns chan struct{}

const (
	// manyTurns is how many are asked at once.
	manyTurns = 64
	// turnTime is how long a turn is: those of agents that do not answer are soon others'.
	turnTime = time.Second
)

// NewTurns makes the turns that the sources of one fleet share.
func NewTurns() Turns { return make(Turns, manyTurns) }

// take waits for a turn. It is over when end is called, or after a while in any case.
func (t Turns) take(ctx context.Context) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	once := sync.OnceFunc(func() { <-t })
	timer := time.AfterFunc(turnTime, once)
	return func() {
		timer.Stop()
		once()
	}, nil
}
