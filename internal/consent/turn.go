package consent

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
)

// lease is for how long it is a gateway's turn to ask, unless it puts the end off, every renewal.
const (
	lease   = 30 * time.Second
	renewal = lease / 3
)

// follows goes on with a question that another gateway, or this one before a restart, has not brought to an end.
func (i *inquiry) follows(q *approvals.Question) bool {
	if q.Answer != nil {
		return false
	}
	if n := len(q.Turns); n > 0 {
		last := q.Turns[n-1]
		if !last.Over() {
			return false
		}
		i.last, i.turn = &last, approvals.Turn{N: last.N + 1, Sends: last.Sends, Task: last.Task, Instance: last.Instance}
	}
	return true
}

// copy is the turn as it is now.
func (i *inquiry) copy() approvals.Turn {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.turn
}

// renew puts the end of the turn off until ctx ends.
func (i *inquiry) renew(ctx context.Context) {
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			i.until(ctx, lease)
		}
	}
}

// until has the turn end then. What cannot be written has another gateway ask, with the same message.
func (i *inquiry) until(ctx context.Context, d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.turn.Until = time.Now().Add(d)
	_ = i.Store.KeepTurn(ctx, &i.st.Call, i.agent, &i.turn)
}

// leave lets another gateway, or this one after its restart, ask at once.
func (i *inquiry) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(i.ctx), time.Second)
	defer cancel()
	i.until(ctx, 0)
}
