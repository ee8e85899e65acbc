package overload

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// usual is GOGC unless somebody says something else: garbage may become as much as
	// what is alive.
	usual = 100

	// spare is how much garbage may gather however little is alive. Of a call nothing stays
	// alive, so that a gateway with few streams would collect several times a second.
	spare = 32 << 20

	// longest is GOGC at most for collecting to become cheaper.
	longest = 400

	// dear is the part of the process's work that collecting may be before more garbage may
	// gather for it to become less. A collection looks at all that is alive, which is in no
	// cache where that are thousands of agents or callers.
	dear = 0.05

	// grown is how much more than before may be alive for that. Where what is allocated
	// stays, as while thousands of streams are opened, it would be spread over memory that
	// much garbage has had, and keep all of that.
	grown = 1.1

	// toilFor is for how long work is looked at, and toilMost until it is no measure any
	// more: who has little to do is collected for every two minutes.
	toilFor  = time.Second
	toilMost = 30 * time.Second
)

// pacer sets GOGC: it has the garbage collector wait until it is worth its while.
type pacer struct {
	live    []metrics.Sample
	machine int64 // its memory, 0 where that is not known
	now     int   // percent; 0 where GOGC says it
	cheaper int   // percent, for collecting to be cheap enough
	since   toil  // at the last look at it
	looked  time.Time
}

// newPacer asks the system how much memory there is. With GOGC set the pace is the operator's.
func newPacer() *pacer {
	p := &pacer{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, now: usual, cheaper: usual}
	if all, err := memlimit.FromSystem(); err == nil {
		p.machine = int64(min(all, 1<<62)) //nolint:gosec // bounded
	}
	if os.Getenv("GOGC") != "" {
		p.now = 0
	}
	return p
}

// ours reports whether nobody else has said how to collect.
func (p *pacer) ours() bool { return p.now != 0 }

// settle changes the pace to what has become of the heap. Every change stops the world for
// a moment: small ones are not worth it.
func (p *pacer) settle(r *Reading) {
	if !p.ours() {
		return
	}
	metrics.Read(p.live)
	if p.live[0].Value.Kind() != metrics.KindUint64 { // a later Go may have dropped it
		return
	}
	live := int64(p.live[0].Value.Uint64()) //nolint:gosec // no heap is that large
	p.look(time.Now(), live, readToil)
	want := max(pace(live, r), min(p.cheaper, p.beyond(live, r)))
	if want == p.now || want != usual && want > p.now-p.now/4 && want < p.now+p.now/4 {
		return
	}
	debug.SetGCPercent(want)
	p.now = want
}

// pace is how much garbage may gather, in percent of what is alive: as much again, or
// what may be spared, of which a limit of memory leaves a quarter of what is free below it.
func pace(live int64, r *Reading) int {
	room := int64(spare)
	if r.Hard > 0 {
		room = min(room, (r.Hard-r.Used)/4)
	}
	if live <= 0 { // nothing has been collected yet
		return usual
	}
	return int(min(max(usual, room*100/live), 16*usual))
}

// beyond is how much garbage may gather where collecting is dear: a quarter of what is free
// below a limit of memory, or a sixteenth of the machine's where there is none.
func (p *pacer) beyond(live int64, r *Reading) int {
	room := p.machine / 16
	if r.Hard > 0 {
		room = (r.Hard - r.Used) / 4
	}
	if live <= 0 {
		return usual
	}
	return int(min(max(usual, room*100/live), longest))
}

// toil is what collecting has cost since the process began.
type toil struct {
	collecting, working float64 // seconds of processors
	asked               uint64  // collections that the garbage was not the reason of
	live                int64   // what the last one has found
}

// readToil is the zero toil where the runtime does not tell, which changes nothing.
func readToil() toil {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/user:cpu-seconds"},
		{Name: "/gc/cycles/forced:gc-cycles"},
	}
	metrics.Read(samples)
	if samples[0].Value.Kind() != metrics.KindFloat64 || samples[1].Value.Kind() != metrics.KindFloat64 ||
		samples[2].Value.Kind() != metrics.KindUint64 { // a later Go may have dropped one
		return toil{}
	}
	return toil{collecting: samples[0].Value.Float64(), working: samples[1].Value.Float64(), asked: samples[2].Value.Uint64()}
}

// look finds out what collecting costs, and how much garbage would make it cheap enough:
// a collection costs the same however much there is of that. What it has cost is known
// once it is over.
func (p *pacer) look(now time.Time, live int64, read func() toil) {
	if now.Sub(p.looked) < toilFor {
		return
	}
	t := read()
	t.live = live
	collecting, working := t.collecting-p.since.collecting, t.working-p.since.working
	switch {
	case p.looked.IsZero() || t.asked != p.since.asked || now.Sub(p.looked) > toilMost:
		p.cheaper = usual
	case collecting <= 0 || working <= 0: // none has ended
		return
	default:
		ratio := collecting / working * (1 - dear) / dear
		want := int(min(max(usual, ratio*float64(p.now)), longest))
		if float64(live) > grown*float64(p.since.live) {
			want = min(want, p.cheaper)
		}
		p.cheaper = want
	}
	p.looked, p.since = now, t
}
