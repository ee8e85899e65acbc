package limits

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// A place lives for holdTTL and is renewed every callEvery, so that two renewals may fail before
// somebody else can take it.
const (
	keepBatch = 128           // draws in one round trip
	mostLater = 10_000        // places to be given back later; more run out by themselves
	keepFor   = callEvery / 2 // younger places need not be renewed
)

// keeper renews the places of the calls that run, all with one goroutine, which is there
// only while there are any, and gives back later what could not be given back.
// The ring is a doubly linked list through the passes themselves, so that taking a call in or out
// takes no memory and no search.
type keeper struct {
	limiter *Limiter

	mu      sync.Mutex
	ring    *Pass // the calls with places, in no order; nil for none
	due     []state.Draw
	running bool
	closed  bool
	wake    chan struct{}
}

// add takes over a Pass whose places are there.
func (k *keeper) add(p *Pass, at where) {
	p.kept, p.drawn = at, time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ring == nil {
		p.before, p.after, k.ring = p, p, p
	} else {
		p.before, p.after = k.ring.before, k.ring
		p.before.after, p.after.before = p, p
	}
	k.run()
}

// remove forgets a Pass, also one that it does not have.
func (k *keeper) remove(p *Pass) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.after == nil {
		return
	}
	if p.after == p {
		k.ring = nil
	} else {
		p.before.after, p.after.before = p.after, p.before
		k.ring = p.after
	}
	p.before, p.after = nil, nil
	if k.ring == nil && k.closed {
		k.stir()
	}
}

// later notes places that could not be given back.
// Beyond mostLater they are left to run out, a minute later.
func (k *keeper) later(holds []state.Draw) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || len(k.due)+len(holds) > mostLater {
		return
	}
	k.due = append(k.due, holds...)
	k.run()
}

// close ends the goroutine once there are no calls.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.stir()
}

// run and stir are called with the lock held.
func (k *keeper) run() {
	if !k.running {
		k.running, k.wake = true, make(chan struct{}, 1)
		go k.loop(k.wake)
	}
}

// stir wakes the goroutine, where there is one, before its next tick. One wake that waits is
// as good as several.
func (k *keeper) stir() {
	if !k.running {
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// loop is the goroutine. It ends when work finds nothing to do, so that a gateway without
// limits of calls at the same time runs none.
func (k *keeper) loop(wake <-chan struct{}) {
	tick := time.NewTicker(callEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-wake:
		}
		// The lock is not held while the store is asked.
		passes, due, over := k.work()
		if over {
			return
		}
		k.renew(passes)
		k.giveBack(due)
		k.settle()
	}
}

// settle comes back at once where nothing is left to wait for.
// It is for the end of the process: the last pass may have gone while the store was asked.
func (k *keeper) settle() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed && k.ring == nil {
		k.stir()
	}
}

// work returns what there is to do. Without any the goroutine is over.
func (k *keeper) work() (passes []*Pass, due []state.Draw, over bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	due, k.due = k.due, nil
	if k.ring == nil && len(due) == 0 {
		k.running = false
		return nil, nil, true
	}
	for p := k.ring; p != nil; {
		if time.Since(p.drawn) >= keepFor {
			passes = append(passes, p)
			p.drawn = time.Now()
		}
		if p = p.after; p == k.ring {
			break
		}
	}
	return passes, due, false
}

// renew draws on the places again. Each is soft: one that was lost meanwhile, and is
// somebody else's now, takes none of the others along.
func (k *keeper) renew(passes []*Pass) {
	for _, at := range []where{inStore, inLocal} {
		var list []state.Draw
		var of []*Pass
		for _, p := range passes {
			// Places are renewed where they were taken. A store that is there again knows nothing of
			// those that were counted locally, and others may have them by now.
			if p.kept != at {
				continue
			}
			for _, d := range p.held() {
				d.Soft = true
				list, of = append(list, d), append(of, p)
			}
		}
		for n := 0; n < len(list); n += keepBatch {
			to := min(n+keepBatch, len(list))
			k.renewBatch(at, list[n:to], of[n:to])
		}
	}
}

// renewBatch draws on some places again, and gives back those that their calls have given
// back meanwhile: the draw may have come after the release.
func (k *keeper) renewBatch(at where, list []state.Draw, of []*Pass) {
	// An error leaves two more tries, and then places that others may take: better than
	// calls that are ended because a store is away.
	store := k.limiter.options.Store
	if at == inLocal {
		store = k.limiter.options.Local
	}
	_, _ = store.Draw(context.Background(), list)
	// What was given back while it was renewed must not be held again.
	var gone []state.Draw
	for i, p := range of {
		still := slices.ContainsFunc(p.held(), func(d state.Draw) bool { return d.Key == list[i].Key && d.Holder == list[i].Holder })
		if !still {
			gone = append(gone, list[i])
		}
	}
	k.limiter.release(context.Background(), gone)
}

// giveBack tries again to give places back, some at a time.
func (k *keeper) giveBack(due []state.Draw) {
	for batch := range slices.Chunk(due, keepBatch) {
		k.limiter.release(context.Background(), batch) // which comes back here when it fails
	}
}
