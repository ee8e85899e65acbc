package anomaly

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// counted is what a detector counts for somebody.
type counted interface {
	count(at int64) int // in the window that ends with a slice
	episode() **episode // nil while nothing is unusual
}

// episode is an anomaly that goes on.
// Its fields are under the mutex of its detector.
type episode struct {
	Anomaly
	until time.Duration // when calls are not refused any more
	holds bool          // it can have calls refused
}

// moment is when something is seen.
// Windows go by the monotonic clock, so that setting the system's clock neither ends nor begins an
// anomaly.
type moment struct {
	since time.Duration // since the watch began, by a clock that nobody sets
	unix  int64         // what outlasts the process is counted by
}

// sighting is a call, as detectors see it.
// Strings in it may be parts of the request, which are not to be kept: see keep.
type sighting struct {
	Caller
	key          key
	agent, skill string
	what         string
	now          moment
}

// detector holds counts against a threshold, and knows which anomalies go on. Whoever
// embeds it has the counts.
// Events are collected in news under the lock and told after it, since telling writes an audit
// record, which may wait for the disk.
type detector struct {
	name  string
	start time.Time     // of the watch
	tell  func(Event)   // called without the lock
	holds *atomic.Int64 // episodes of all detectors that can have calls refused

	mu     sync.Mutex // guards what follows, and the counts
	set    settings
	active map[counted]*episode
	news   []Event // to tell once the lock is free
}

func (d *detector) open(name string, w *Watch) {
	d.name, d.start, d.holds, d.tell = name, w.start, &w.holds, w.options.Tell
	d.active = map[counted]*episode{}
}

func (d *detector) off() bool { return d.set.action == actionOff }

// slice is the part of a window that a moment is in.
// A window has a fixed number of slices (parts); counts move on by slices, which is why a window
// counts to an eighth.
func (d *detector) slice(now moment) int64 { return int64(now.since / (d.set.window / parts)) }

// unlock tells what has become known under the lock.
func (d *detector) unlock() {
	news := d.news
	d.news = nil
	d.mu.Unlock()
	for _, e := range news {
		d.tell(e)
	}
}

// judge is told each time something was counted, of which there are n now.
// An anomaly begins at the threshold and ends below half of it (settle), so that a caller who stays
// near the threshold does not make an event a second.
func (d *detector) judge(c counted, n int, s *sighting) {
	on := *c.episode()
	switch {
	// The usual case: something was counted, and it is not much.
	case on == nil && n < d.set.threshold:
		return
	case on == nil:
		on = d.begin(c, n, s)
	default:
		on.Count++
		on.Peak = max(on.Peak, n)
	}
	// A throttled caller's calls are not counted, so that the time is renewed only by what comes
	// after it.
	if on.holds && n >= d.set.threshold && s.now.since >= on.until {
		on.until = s.now.since + d.set.throttle
	}
}

// begin begins an anomaly, with what was seen when the threshold was reached. Its texts are copied:
// an episode lasts longer than the request that they are parts of.
func (d *detector) begin(c counted, n int, s *sighting) *episode {
	on := &episode{
		Anomaly: Anomaly{
			Detector: d.name, Agent: s.agent, Skill: keep(s.skill), What: keep(s.what),
			Caller: Caller{keep(s.Subject), keep(s.Issuer), keep(s.Address)},
			Since:  d.start.Add(s.now.since), Count: uint64(n), Peak: n, //nolint:gosec // counts are above zero
		},
		holds: d.set.action == actionThrottle,
	}
	if on.holds {
		d.holds.Add(1)
	}
	*c.episode(), d.active[c] = on, on
	d.news = append(d.news, Event{Anomaly: on.Anomaly, At: on.Since})
	return on
}

// keep copies a text that may be part of a larger one, and would keep all of that in memory. Nothing
// reads more of it than a record may have.
func keep(s string) string { return strings.Clone(s[:min(len(s), telemetry.MaxText)]) }

// end ends the anomaly of some counts, for a reason that is told with it. It does nothing where no
// anomaly goes on, so that who makes room for other counts need not ask. Under the lock.
func (d *detector) end(c counted, why string, now moment) {
	on := *c.episode()
	if on == nil {
		return
	}
	if on.holds {
		d.holds.Add(-1)
	}
	*c.episode() = nil
	delete(d.active, c)
	d.news = append(d.news, Event{Anomaly: on.Anomaly, Ended: true, Why: why, At: d.start.Add(now.since)})
}

func (d *detector) endAll(why string, now moment) {
	for c := range maps.Clone(d.active) {
		d.end(c, why, now)
	}
}

// refuses is how long calls of a kind are refused yet; 0 when they are not.
func (d *detector) refuses(on *episode, now moment) time.Duration {
	if on == nil || now.since >= on.until {
		return 0
	}
	on.Refused++
	return on.until - now.since
}

// settle ends the anomalies that are over. One that has calls refused cannot be: what is
// not counted for that reason would have it end.
// It is called by the clock, about once a second.
func (d *detector) settle(now moment) {
	d.mu.Lock()
	defer d.unlock()
	at := d.slice(now)
	for c, on := range maps.Clone(d.active) {
		if now.since >= on.until && c.count(at) <= (d.set.threshold-1)/2 {
			d.end(c, quiet, now)
		}
	}
}

// stop ends them all, so that every beginning that was told has an end in the record.
func (d *detector) stop(now moment) {
	d.mu.Lock()
	defer d.unlock()
	d.endAll(stopped, now)
}

// list appends the anomalies that go on, as copies: their counts change while somebody looks.
func (d *detector) list(dst []Anomaly) []Anomaly {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, on := range d.active {
		dst = append(dst, on.Anomaly)
	}
	return dst
}
