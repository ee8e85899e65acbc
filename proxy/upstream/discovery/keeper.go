package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"
)

// keeper is what all sources have in common: it remembers what was said last, decides
// whether a new answer counts, and says when the source fails and works again.
//
// It is used by the source's own goroutine alone and has no lock. found must therefore not call
// back into the source.
type keeper struct {
	log        *slog.Logger // knows which source it is
	onError    func(error)
	found      func([]Instance)
	emptyAfter int
	limit      int

	last    []Instance
	told    bool // found was called
	empties int  // answers of none since the last one that named instances
	failing bool
}

func newKeeper(c Config, o Options, found func([]Instance), source string) *keeper {
	k := &keeper{log: o.Logger.With("source", source), onError: o.OnError, found: found, emptyAfter: c.EmptyAfter, limit: c.Limit}
	if k.onError == nil {
		k.onError = func(error) {}
	}
	return k
}

// answer takes what the source says, and passes it on if it counts and is new.
//
// The list is given as a copy, because the keeper goes on comparing the next answer with its own.
func (k *keeper) answer(list []Instance) error {
	if list = ordered(list); len(list) > k.limit {
		return fmt.Errorf("%d instances are more than limit (%d)", len(list), k.limit)
	}
	if len(list) > 0 {
		k.empties = 0
	} else if k.empties++; k.doubts() {
		if k.empties == 1 {
			k.log.Warn("no instance is named; those of before stay until that is said again",
				"instances", len(k.last), "emptyAfter", k.emptyAfter)
		}
		return nil
	}
	if k.told && slices.Equal(list, k.last) {
		return nil
	}
	k.last, k.told = list, true
	k.found(slices.Clone(list))
	return nil
}

// doubts reports whether the last answer was of none and does not count yet. Where
// nothing is known, there is nothing to hold on to.
func (k *keeper) doubts() bool {
	return k.empties > 0 && k.empties < k.emptyAfter && len(k.last) > 0
}

// failed says so at the first failure in a row; an outage of hours is one line.
func (k *keeper) failed(err error) {
	if !k.failing {
		k.log.Warn("where the agent's instances are cannot be found out; those of before stay",
			"instances", len(k.last), "err", err)
	}
	k.failing = true
	k.onError(err)
}

// worked ends a failure.
func (k *keeper) worked() {
	if !k.failing {
		return
	}
	k.failing = false
	k.log.Info("where the agent's instances are is found out again", "instances", len(k.last))
	k.onError(nil)
}

// settle is answer, failed or worked, for sources that are asked and answer.
func (k *keeper) settle(list []Instance, err error) {
	if err == nil {
		err = k.answer(list)
	}
	if err != nil {
		k.failed(err)
		return
	}
	k.worked()
}

// wait is over after d, give or take a tenth, so that gateways that began together do not
// go on asking together. It is false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d - d/10 + rand.N(d/5+1)) //nolint:gosec // spreads load, no secret
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// backOff is the pause after so many failures in a row.
//
// It is first after one failure, twice as long after each further one, and never more than most.
// The shift is bounded, since a shift by more bits than a Duration has gives 0.
func backOff(first, most time.Duration, failures int) time.Duration {
	return min(first<<min(max(failures-1, 0), 16), most)
}
