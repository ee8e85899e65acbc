package limits

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Pass is what a call holds while it runs. A nil Pass holds nothing.
// It may be told of tasks and released by different goroutines at once: the lock guards what is
// below it, up to kept, and the keeper's own lock the rest.
type Pass struct {
	Standings []Standing // of the limits that show themselves, the fullest first
	Shadow    []string   // limits in shadow mode that the call exceeds

	limiter *Limiter
	of      *tasksOf // nil where no open tasks are counted

	mu     sync.Mutex
	calls  []state.Draw         // places of the call itself
	tasks  []state.Draw         // places for a task that it may make
	frees  []state.Draw         // given back at the end, held or not
	heard  map[string]time.Time // tasks, and when they were told of; zero when they had ended
	holds  int                  // of those who go on without the call
	left   bool                 // the call is over, but for them
	done   bool                 // and so are they, whatever they say
	kept   where                // where the places are; the rest is the keeper's
	drawn  time.Time            // when they were last renewed
	before *Pass
	after  *Pass
}

// tasksOf is what a Pass knows of open tasks.
// record says whose the task is, which may be another than the caller where tasks are shared.
type tasksOf struct {
	bounds  []*bound // of the agent
	applied []*bound // that the call was drawn on for
	who     who
	record  *state.Record // of the task that the call names; nil for none
}

const (
	// forced is more than any limit: a task that is there is counted, whether there was
	// room for it or not.
	// A place beyond the limit keeps the next send out until it is given back.
	forced = 1 << 50
	// mostHeard bounds what a stream of many tasks may leave behind.
	mostHeard = 256
)

// Task tells of a task that an answer of the call shows: a live one takes a place among
// the caller's open tasks, one that has ended gives it back. Telling the same again costs
// nothing.
func (p *Pass) Task(ctx context.Context, id string, live bool) {
	if p == nil || p.of == nil || id == "" {
		return
	}
	news, known := p.hear(id, live)
	if !news {
		return
	}
	ctx = context.WithoutCancel(ctx) // the task is there, whoever has gone
	switch {
	case live:
		p.live(ctx, id)
	case p.of.record == nil && !known:
		// Nobody knew of it, most likely: the call's end is soon enough.
		p.mu.Lock()
		p.frees = append(p.frees, p.of.places(id)...)
		p.mu.Unlock()
	default:
		p.limiter.release(ctx, p.of.places(id))
	}
}

// hear notes what is told of a task, and says whether that is news and whether the task
// is not.
func (p *Pass) hear(id string, live bool) (news, known bool) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.heard[id]
	if known && live == !at.IsZero() && (!live || now.Sub(at) < p.of.renew()) {
		return false, true
	}
	// The map only saves draws: a task that is told of anew is counted in the same place.
	if p.heard == nil || len(p.heard) >= mostHeard {
		p.heard = map[string]time.Time{}
	}
	if !live {
		now = time.Time{}
	}
	p.heard[id] = now
	return true, known
}

// renew is how often a stream tells of a task that goes on: four times in the shortest time
// after which a task is forgotten.
// Telling more often would draw on the store with each event of a stream.
func (t *tasksOf) renew() time.Duration {
	shortest := t.bounds[0].ttl
	for _, b := range t.bounds[1:] {
		shortest = min(shortest, b.ttl)
	}
	return shortest / 4
}

// places are those of a task in all limits, which need not hold it.
func (t *tasksOf) places(id string) []state.Draw {
	w := t.who
	if t.record != nil && t.record.ID == id {
		w = recordOf(t.record)
	}
	list := make([]state.Draw, len(t.bounds))
	for i, b := range t.bounds {
		list[i] = state.Draw{
			Key: b.key(&w), Kind: state.Hold, Holder: holder(byTask, w.agent, id), TTL: b.ttl, Soft: true,
		}
	}
	return list
}

// live counts a task in the limits that the call was drawn on for, and keeps its place in
// the others if it has one.
func (p *Pass) live(ctx context.Context, id string) {
	places := p.of.places(id)
	for i, b := range p.of.bounds {
		if slices.Contains(p.of.applied, b) {
			places[i].Limit = forced
		}
	}
	// Where it cannot be counted the place of the send is kept: the task is there all the same.
	if _, at, err := p.limiter.draw(ctx, places); err != nil || at == nowhere {
		return
	}
	p.mu.Lock()
	// The task has a place of its own now, so the one that the send took for it is free.
	made := p.tasks
	p.tasks = nil
	p.mu.Unlock()
	p.limiter.release(ctx, made)
}

// Release gives back what the call held. It may be called more than once; the end of ctx
// does not keep it from being done.
// The keeper forgets the pass before its places are given back, so that none is renewed behind it.
func (p *Pass) Release(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	list := slices.Concat(p.calls, p.tasks, p.frees)
	p.calls, p.tasks, p.frees = nil, nil, nil
	p.mu.Unlock()
	p.limiter.keeper.remove(p)
	p.limiter.release(ctx, list)
}

// Leave is Release for a call that went to the agent and whose answer nobody waited for:
// whether it made a task, no one can say. The place for one stays taken until it runs out,
// or hanging up would be a way to make any number of tasks; and so do the places of the
// call itself as long as somebody has a Hold on them.
func (p *Pass) Leave(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.tasks, p.left = nil, true
	p.mu.Unlock()
	p.giveUp(ctx)
}

// giveUp is Release where nobody needs the places any more.
// It is called by whoever of the client and the agent ends last.
func (p *Pass) giveUp(ctx context.Context) {
	p.mu.Lock()
	// Done counts more than holds: the agent has ended what they are for.
	over := p.left && (p.holds <= 0 || p.done)
	p.mu.Unlock()
	if over {
		p.Release(ctx)
	}
}

// Holds reports whether the call has places of its own: of limits of calls at the same time.
func (p *Pass) Holds() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls) > 0
}

// Hold is for what an agent goes on with when the call's client has left: with Leave, the
// places of the call are given back no earlier than free is called, which may be more than
// once.
func (p *Pass) Hold() (free func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	p.holds++
	p.mu.Unlock()
	// The end of a stream may be seen in two places.
	return sync.OnceFunc(func() {
		p.mu.Lock()
		p.holds--
		p.mu.Unlock()
		p.giveUp(context.Background())
	})
}

// Return has another call take the places of one that was left and is still held: the
// client has come back to what it left, and does nothing more at the same time. It ends
// with another Leave. False where there is nothing to come back to, or somebody has.
func (p *Pass) Return() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.left || p.holds <= 0 || p.done || len(p.calls) == 0 {
		return false
	}
	p.left = false
	return true
}

// Done says that the agent has ended what the places are held for, whatever becomes of its
// stream: Leave gives them back.
func (p *Pass) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
}

// held is what is to be kept.
func (p *Pass) held() []state.Draw {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.calls, p.tasks)
}
