package overload

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// usual is GOGC unless somebody says something else: garbage may become as much as
	// what is alive.
	usual = 100

	// spare is how much garbage may gather however little is alive. Of a call nothing stays
	// alive, so that a gateway with few streams would collect several times a second.
	spare = 32 << 20
)

// pacer has the collector wait until it is worth its while.
type pacer struct {
	live []metrics.Sample
	now  int // percent; 0 where GOGC says it
}

func newPacer() *pacer {
	p := &pacer{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, now: usual}
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
	want := pace(int64(p.live[0].Value.Uint64()), r) //nolint:gosec // no heap is that large
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
