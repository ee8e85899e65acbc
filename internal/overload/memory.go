package overload

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
)

// weighMemory judges memory in use: each rung stands above its limit, and until 5 % of that
// limit are free again.
func (l *Ladder) weighMemory(s set, r *Reading) set {
	// 5 % between refusing and admitting, so that a rung does not come and go with every collection.
	s = s.with(SoftMemory, above(s.has(SoftMemory), r.Used, r.Soft))
	s = s.with(Memory, above(s.has(Memory), r.Used, r.Hard))
	if r.Hard == 0 {
		l.room.Store(0)
		return s
	}
	// What is held may be in what is used already, or not: at worst large bodies get all
	// that is free instead of half of it.
	free := (r.Hard - r.Used + l.bodies.Load()) / 2
	if free <= 0 {
		free = -1
	}
	l.room.Store(free)
	return s
}

// above reports whether a rung stands whose value is compared with a limit, 0 for none.
func above(stands bool, value, limit int64) bool {
	if limit == 0 {
		return false
	}
	if stands {
		return value >= limit-limit/20
	}
	return value > limit
}

// bounds are the limits of memory, or their defaults, 0 for none.
func bounds(l *Limits) (soft, hard int64) {
	if hard = l.Memory; hard == 0 {
		if all := debug.SetMemoryLimit(-1); all < math.MaxInt64 { // a negative one only asks
			hard = all / 10 * 9
		}
	}
	if soft = l.SoftMemory; soft == 0 || hard != 0 && soft > hard {
		soft = hard / 20 * 17
	}
	return soft, hard
}

// heed has the collector work for a configured limit before calls are refused for it, where
// neither GOMEMLIMIT nor a container says how much there is. set is what it has said before.
func heed(configured, set int64) int64 {
	switch now := debug.SetMemoryLimit(-1); {
	case now != math.MaxInt64 && now != set: // somebody else's word
		return 0
	case configured > 0 && now != configured/9*10:
		debug.SetMemoryLimit(configured / 9 * 10)
		return configured / 9 * 10
	case configured == 0 && set != 0:
		debug.SetMemoryLimit(math.MaxInt64)
		return 0
	}
	return set
}

// measure reads what of the memory that GOMEMLIMIT bounds is in use, and no collection
// would give back: what the last one found alive, stacks, and the runtime's own.
type measure []metrics.Sample

// newMeasure names what is read: not the heap's size, of which garbage is a part.
func newMeasure() measure {
	names := []string{
		"/gc/cycles/total:gc-cycles", // the first one; what follows is added up
		"/gc/heap/live:bytes", "/memory/classes/heap/stacks:bytes", "/memory/classes/os-stacks:bytes",
		"/memory/classes/metadata/mcache/inuse:bytes", "/memory/classes/metadata/mspan/inuse:bytes",
		"/memory/classes/metadata/other:bytes", "/memory/classes/other:bytes", "/memory/classes/profiling/buckets:bytes",
	}
	m := make(measure, len(names))
	for i, name := range names {
		m[i].Name = name
	}
	return m
}

// read also tells how many collections there have been.
func (m measure) read() (used int64, cycles uint64) {
	metrics.Read(m)
	for _, s := range m[1:] {
		if s.Value.Kind() == metrics.KindUint64 { // a later Go may have dropped one
			used += int64(s.Value.Uint64()) //nolint:gosec // no memory is that large
		}
	}
	if m[0].Value.Kind() == metrics.KindUint64 {
		cycles = m[0].Value.Uint64()
	}
	return used, cycles
}
