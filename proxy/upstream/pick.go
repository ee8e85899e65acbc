package upstream

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// choose is the load balancing among the instances of an agent: it finds the one for a call that
// others have failed before; enter it and leave it. The order is: who has the task, who has the
// context, who has least to do.
//
// Its error is *Unavailable or ErrBusy. A circuit that is half open lets one call through, so
// that of several that choose it at once all but one choose again.
func (f *fleet) choose(h *Hint, before []*instance, now int64) (*instance, uint64, error) {
	s := f.set.Load()
	if h.Instance != "" && (h.Task && f.byTask || !h.Task && f.byContext) {
		i, era, err := f.owner(s, h, before, now)
		if i != nil || err != nil {
			return i, era, err
		}
	}
	for range 4 { // somebody else may be faster with the last call that a circuit lets through
		var i *instance
		if h.Context != "" && f.byContext {
			i = f.rendezvous(s, h.Context, before, now)
		} else {
			i = f.least(s, before, now)
		}
		if i == nil {
			break
		}
		if era, ok := i.circuit.enter(now); ok {
			return i, era, nil
		}
	}
	return nil, 0, f.away(s, now)
}

// owner is the instance that a hint names, nil for any other.
func (f *fleet) owner(s *set, h *Hint, before []*instance, now int64) (*instance, uint64, error) {
	i := s.names[h.Instance]
	if i == nil {
		return nil, 0, nil // what it knew may be in a store that others have, too
	}
	only := h.Task && !h.Safe && f.Affinity.strict()
	tried := slices.Contains(before, i)
	// An ejected one is asked all the same: that is about new work. Reads also try one
	// that is down, whose word on the task is the only one that counts.
	if !tried && f.hasRoom(i) && (!i.down.Load() || h.Safe && h.Task) {
		if era, ok := i.circuit.enter(now); ok {
			return i, era, nil
		}
	}
	if !only {
		return nil, 0, nil
	}
	return nil, 0, &Unavailable{
		After: max(i.circuit.wait(now), time.Second),
		Why:   "the instance that has the task does not answer (agents[].load.affinity.strict)",
	}
}

// least takes two instances by chance and of them the one with less to do, which is
// nearly as good as to look at all of them, and better where many choose at once.
//
// This is "the power of two choices": to look at all instances would have all gateways choose the
// same one at the same moment.
func (f *fleet) least(s *set, before []*instance, now int64) *instance {
	a := f.any(s, before, nil, now)
	if a == nil || len(s.all) == 1 {
		return a
	}
	b := f.any(s, before, a, now)
	if b == nil {
		return a
	}
	if busier(a, b, now) {
		a, b = b, a
	}
	slow := f.SlowStart.Std()
	if warm := a.warm(now, slow); warm < 1 && b.warm(now, slow) == 1 && rand.Float64() > warm { //nolint:gosec // spreads load, no secret
		return b
	}
	return a
}

// any is an instance by chance that may have a call, nil for none.
func (f *fleet) any(s *set, before []*instance, but *instance, now int64) *instance {
	ok := func(i *instance) bool {
		return i != but && !slices.Contains(before, i) && f.available(i, now)
	}
	if len(s.all) == 0 {
		return nil
	}
	for range 3 {
		if i := s.all[s.random()]; ok(i) {
			return i
		}
	}
	from := rand.IntN(len(s.all)) //nolint:gosec // spreads load, no secret
	for n := range s.all {
		if i := s.all[(from+n)%len(s.all)]; ok(i) {
			return i
		}
	}
	return nil
}

// random draws an index by the weights.
func (s *set) random() int {
	if s.sums == nil {
		return rand.IntN(len(s.all)) //nolint:gosec // spreads load, no secret
	}
	n, _ := slices.BinarySearch(s.sums, rand.Float64()*s.sums[len(s.sums)-1]) //nolint:gosec // spreads load, no secret
	return min(n, len(s.all)-1)
}

// mostSlower bounds what a latency counts beside the calls in flight: an instance may
// also be slow because what it was asked for takes long.
const mostSlower = 10

// busier reports whether a has more to do than b: calls in flight, times how much
// slower it is, as far as both were measured lately.
func busier(a, b *instance, now int64) bool {
	slower := 1.0
	if la, lb := a.recent(now), b.recent(now); la > 0 && lb > 0 {
		slower = min(max(float64(la)/float64(lb), 1.0/mostSlower), mostSlower)
	}
	if slower > 0.5 && slower < 2 {
		slower = 1 // no two are ever quite alike
	}
	return float64(a.calls.Load()+1)*slower/a.weight > float64(b.calls.Load()+1)/b.weight
}

// recent is the latency, 0 for one that was not measured lately.
func (i *instance) recent(now int64) int64 {
	if now-i.measured.Load() > int64(memory) {
		return 0
	}
	return i.latency.Load()
}

// rendezvous gives every text an order of the instances, by weight and else by chance,
// and takes the first that may have a call. When instances come and go, only the texts
// that were theirs, or become theirs, move.
func (f *fleet) rendezvous(s *set, text string, before []*instance, now int64) *instance {
	h, highest := xxhash.Sum64String(text), 0.0
	var best *instance
	for _, i := range s.all {
		score := unit(h ^ i.hash)
		if s.sums != nil {
			score = math.Pow(score, 1/i.weight)
		}
		if score > highest && !slices.Contains(before, i) && f.available(i, now) {
			best, highest = i, score
		}
	}
	return best
}

// unit mixes h into a number between 0 and 1, neither of them included.
func unit(h uint64) float64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return (float64(h>>11) + 0.5) / (1 << 53)
}

// away says that nobody may have a call, and when that may be different.
func (f *fleet) away(s *set, now int64) error {
	if len(s.all) > 0 && !slices.ContainsFunc(s.all, func(i *instance) bool { return i.well(now) }) {
		after := 30 * time.Second
		for _, i := range s.all {
			if i.down.Load() {
				after = min(after, f.Health.Interval.Std())
				continue
			}
			after = min(after, max(i.circuit.wait(now), time.Duration(i.ejected.Load()-now)))
		}
		return &Unavailable{After: max(after, time.Second), Why: "agents[].load: no instance is healthy"}
	}
	if len(s.all) == 0 {
		return &Unavailable{After: 5 * time.Second, Why: "agents[].load.instances: there are none"}
	}
	return ErrBusy // of those that are well, all have as many calls as they may
}
