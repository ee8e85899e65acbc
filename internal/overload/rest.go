package overload

import (
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// restEvery is how often it is asked whether there is nothing to do.
	restEvery = time.Second

	// restAfter is for how long there has been hardly anything to do before memory is given
	// back. A collection then is nobody's delay.
	restAfter = 5 * time.Second

	// hardly is how much may be allocated within restEvery where that is next to nothing: a
	// hundred calls allocate it, or the heartbeats of many streams.
	hardly = 2 << 20

	// worthwhile is how much there has to be to give back, and it has to be a quarter of
	// what is alive, which a collection looks at.
	worthwhile = 16 << 20
)

// heap is how much of it there is.
type heap struct {
	allocated uint64 // since the process began
	live      uint64 // that the last collection has found
	objects   uint64 // alive, or garbage since
	free      uint64 // that the process has and nothing uses
}

// idle is what nobody would miss: the runtime collects garbage when more comes, and keeps what
// it has for as much as there was at the last collection.
func (h *heap) idle() uint64 { return h.objects - min(h.live, h.objects) + h.free }

// rester collects garbage and gives memory back when there is nothing to do. Streams that wait are
// the reason: what began them is garbage, as much as they are themselves, and no collection comes
// for it for two minutes, as nothing is allocated.
type rester struct {
	read    func() heap
	give    func()
	giving  atomic.Bool
	last    time.Time // it was looked at
	quiet   time.Time // since when
	counted uint64    // as allocated then
}

func newRester() *rester {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	return &rester{give: debug.FreeOSMemory, read: func() heap {
		metrics.Read(samples)
		var values [4]uint64
		for i, s := range samples {
			if s.Value.Kind() != metrics.KindUint64 { // a later Go may have dropped one
				return heap{}
			}
			values[i] = s.Value.Uint64()
		}
		return heap{values[0], values[1], values[2], values[3]}
	}}
}

// look gives memory back, beside whoever calls it, once it is worth it.
func (r *rester) look(now time.Time) {
	if now.Sub(r.last) < restEvery || r.giving.Load() {
		return
	}
	h := r.read()
	if r.last.IsZero() || h.allocated-r.counted > hardly {
		r.quiet = now
	}
	r.last, r.counted = now, h.allocated
	if now.Sub(r.quiet) < restAfter || h.idle() < max(worthwhile, h.live/4) {
		return
	}
	r.quiet = now
	r.giving.Store(true)
	go func() {
		defer r.giving.Store(false)
		r.give()
	}()
}
