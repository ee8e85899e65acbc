package state

import (
	"strings"
	"time"
)

// hold is who holds places, and until when: a limit of concurrency.
type hold struct {
	all      *buckets
	places   map[string]uint64 // nanoseconds since the driver began
	first    uint64            // no place runs out before
	reserved int64             // places that the Draw under way will take
}

func (h *hold) kind() DrawKind { return Hold }

func (h *hold) idle(now moment) bool {
	h.expire(now)
	return len(h.places) == 0
}

// expire gives up places whose time has come. It looks at all of them only when one may
// have run out, which renewing makes rare.
func (h *hold) expire(now moment) {
	if now.since < h.first {
		return
	}
	h.first = ^uint64(0)
	for holder, until := range h.places {
		if until <= now.since {
			h.release(holder)
		} else {
			h.first = min(h.first, until)
		}
	}
}

func (h *hold) release(holder string) {
	if _, ok := h.places[holder]; ok {
		delete(h.places, holder)
		h.all.size.Add(-1)
	}
}

// reserve keeps a place while the other buckets are asked. A holder who has one keeps that.
func (h *hold) reserve(d *Draw, got *Drawn, now moment) error {
	h.expire(now)
	if _, got.OK = h.places[d.Holder]; got.OK || int64(len(h.places))+h.reserved >= d.Limit {
		return nil
	}
	if !h.all.grow() {
		return ErrFull
	}
	h.reserved++
	got.OK = true
	return nil
}

func (h *hold) settle(d *Draw, now moment, take bool) {
	_, held := h.places[d.Holder]
	if !held {
		h.reserved--
	}
	if !take {
		if !held {
			h.all.size.Add(-1)
		}
		return
	}
	until, holder := now.since+uint64(d.TTL), d.Holder //nolint:gosec // as checked: above zero, below 292 years
	if !held {
		holder = strings.Clone(holder)
	}
	if h.places == nil {
		h.places = make(map[string]uint64)
	}
	h.places[holder] = until
	h.first = min(h.first, until)
}

func (h *hold) stand(d *Draw, now moment) (int64, time.Duration) {
	h.expire(now)
	return max(d.Limit-int64(len(h.places)), 0), 0
}
