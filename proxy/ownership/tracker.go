package ownership

import (
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// Tracker knows what the task of a feed has become by the events that the feed has
// shown. It takes them in as late as it can: of most feeds nobody ever asks.
//
// It is the follower of a feed: Drop is called with the feed locked, and therefore takes events
// in only when several have come together. Mu is a lock of its own, held while events are folded.
type Tracker struct {
	owners *Owners
	Dialect

	Mu         sync.Mutex
	dropped    []stream.Entry // that the feed does not keep any more, and task has not taken in
	bytes      int
	task       fold.Task
	shown      *stream.Entry // the event that showed the task, where none has changed it since; else nil
	translated *translate.Retelling
	upTo       uint64  // number of the newest event that task has taken in
	epoch      [8]byte // and its epoch
	broken     bool    // an event was missed or could not be read, or the task is too large

	lostAt    uint64    // number of the newest event when the agent's stream was lost
	lostSince time.Time // for the first time since then
	lost      int       // how often
	Regained  time.Time // when another was opened last; zero for never
	brief     int       // how many in a row were lost before they had lasted for shortStream
}

// Bounds of what waits to be taken in.
const (
	mostDropped  = 64
	bytesDropped = 32 << 10
)

// NewTracker follows one task by the events that an agent shows in m.
func (ow *Owners) NewTracker(m Dialect) *Tracker {
	return &Tracker{owners: ow, Dialect: m}
}

// Drop is told what the feed gives up.
func (t *Tracker) Drop(e stream.Entry) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if t.broken {
		return
	}
	t.dropped = append(t.dropped, e)
	if t.bytes += len(e.Data); len(t.dropped) >= mostDropped || t.bytes >= bytesDropped {
		t.takeDropped()
	}
}

// takeDropped folds what the feed has given up. The lock is held.
func (t *Tracker) takeDropped() {
	for _, e := range t.dropped {
		t.take(e)
	}
	t.dropped, t.bytes = nil, 0
}

// take folds one event, in the order of their numbers. A gap, an event that cannot be read and a
// task larger than streams.buffer.snapshot end the tracking for good: a task that may be wrong
// must not be shown.
func (t *Tracker) take(e stream.Entry) {
	switch {
	case t.broken || e.Number < t.upTo:
		return
	case e.Number == t.upTo:
		if e.Epoch != t.epoch { // what was taken in was taken back
			t.giveUp()
		}
		return
	case e.Number != t.upTo+1 && t.task.Known():
		t.giveUp()
		return
	}
	t.upTo, t.epoch = e.Number, e.Epoch
	found, err := t.owners.JudgedOf(t.Side, e)
	if err != nil {
		t.giveUp()
		return
	}
	if exchange.IsError(*found.Seen) || found.Seen.Kind == "message" {
		return
	}
	if t.shown = t.still(e, found.Seen.Kind); found.Seen.Kind == "" {
		return // of no kind that says anything of a task
	}
	doc := found.DocOf(e.Data)
	if t.Side == modernRPC {
		err = t.task.Apply(memberOf(doc, "result"))
	} else {
		if t.translated == nil {
			t.translated = t.Canonical()
		}
		err = t.ToCanonical(t.translated, doc, t.task.Apply)
	}
	if err != nil || int64(t.task.Size()) > int64(t.owners.StreamConfig.Buffer.Snapshot) {
		t.giveUp()
	}
}

// still is the event that shows the task as it is, now that e has come: e itself, the one
// before where e changes nothing, or none.
func (t *Tracker) still(e stream.Entry, kind string) *stream.Entry {
	switch kind {
	case "task":
		return &e
	case "":
		return t.shown
	}
	return nil
}

// giveUp forgets the task. Who joins its feed then gets a stream of the agent's of their
// own.
func (t *Tracker) giveUp() { t.broken, t.task, t.shown, t.translated = true, fold.Task{}, nil, nil }

// Now brings the task up to what the feed has shown, and says how it was shown, where that is how
// it is, and the number of the event that it has come to. It is not usable where the feed does
// not go back to the beginning of what it shows.
//
// Between two calls it takes in only what is new. The task is the tracker's own and must not be
// changed.
func (t *Tracker) Now(feed *stream.Feed) (task *fold.Task, shown *stream.Entry, number uint64, ok bool) {
	_, entries := feed.Entries()
	t.Mu.Lock()
	defer t.Mu.Unlock()
	t.takeDropped()
	for _, e := range entries {
		t.take(e)
	}
	return &t.task, t.shown, t.upTo, !t.broken && t.task.Known()
}

// TrackerOf is a tracker of the events that a feed has, where these are all that it has had, for
// one look at them: a feed that is no task's yet has no other.
func (ow *Owners) TrackerOf(feed *stream.Feed, m Dialect) *Tracker {
	from, entries := feed.Entries()
	if from != 1 {
		t, _ := feed.Follower(func() stream.Follower { return ow.NewTracker(m) }).(*Tracker)
		if _, _, _, ok := t.Now(feed); !ok {
			return nil
		}
		return t
	}
	t := ow.NewTracker(m)
	for i, e := range entries {
		e.Number, e.Epoch = uint64(i)+1, [8]byte{} //nolint:gosec // within what is kept
		t.take(e)
	}
	return t
}

// Differs reports whether differs says so of what the tracker has taken in and an event or
// answer in the agent's words.
func (t *Tracker) Differs(m Dialect, doc []byte, differs func(*fold.Task, []byte) (bool, error)) bool {
	found := false
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if t.broken {
		return false
	}
	err := m.shows(doc, func(event []byte) error {
		differ, err := differs(&t.task, event)
		found = found || differ
		return err
	})
	return err == nil && found
}

// Losing notes that the agent's stream is lost, and says since when this happens without
// anything new coming in between, and how often it has.
//
// times is what the pause before the next try is made of. An agent that accepts each subscription
// and closes it at once is not asked faster for that.
func (t *Tracker) Losing(newest uint64) (since time.Time, times int) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if t.lost == 0 || t.lostAt != newest {
		t.lostAt, t.lostSince, t.lost = newest, time.Now(), 0
	}
	t.lost++
	lasted := time.Since(t.Regained)
	if t.brief++; lasted >= shortStream {
		t.brief = 0
	}
	if t.lost == 1 && lasted < LastRetry {
		return t.lostSince, 2 + t.brief // a word and another break is no recovery
	}
	return t.lostSince, max(t.lost, 1+t.brief)
}

// shortStream is how long a stream that was regained lasts at least, for the next not to be
// put off longer: an agent that shows the same beginning at every subscription says something
// new each time, as chunks of artifacts have nothing to tell them apart.
const shortStream = time.Second

// Mend notes that another stream has taken the place of the one that was lost.
func (t *Tracker) Mend() {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	t.Regained = time.Now()
}

// JudgedOf is what the judge has found of an entry, or what would be found of one that
// comes from elsewhere.
func (ow *Owners) JudgedOf(side wire.Side, e stream.Entry) (*intake.Judged, error) {
	if found, ok := e.Seen.(*intake.Judged); ok {
		return found, nil
	}
	return ow.ReadEvent(side, SubscribeToTask, e.Data)
}
