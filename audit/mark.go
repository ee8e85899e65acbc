package audit

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// Mark is a place in a log, for somebody else to remember: up to it the records are on the disk.
// Who puts the directory back to an older copy, its head included, cannot put that back with it.
type Mark struct {
	Seq     uint64 `json:"seq"`     // of the last record; 0 for none
	Hash    string `json:"hash"`    // of that record
	Segment string `json:"segment"` // the file that has it
}

// Memory remembers how far a log has come, where who writes to the log's directory does not.
// In the gateway it is the shared state (Redis) or a database in another directory. It may be away
// for any time; nothing waits for it but the first question at the start, and that for
// rememberTime.
type Memory interface {
	// Known returns what is remembered, the zero Mark for nothing.
	Known(ctx context.Context) (Mark, error)
	// Put remembers a mark in the place of the one before.
	Put(ctx context.Context, m Mark) error
}

const (
	// A memory over the network may be slow, and the gateway starts only after the first question.
	rememberTime = 5 * time.Second // for one question to a Memory
	farewellTime = time.Second     // for the last one, which the end of the gateway waits for
)

// past is what was found when the log was opened, and what is remembered of it elsewhere.
type past struct {
	opened   chain.Chain // how the log ended when it was opened, behind its head
	marks    marks
	deferred deferredEvents
	gone     atomic.Pointer[map[string]string] // what was missing when the log was opened
}

// marks is what of the log is to be remembered, and who does.
type marks struct {
	mu      sync.Mutex
	durable Mark // up to here records are on the disk

	// The rest is that of Remember, then of its goroutine, and of Close when that has ended.
	memory   Memory          // nil: nobody remembers
	until    context.Context //nolint:containedctx // of the goroutine; ends when the log is closed
	end      context.CancelFunc
	compared bool   // with what was remembered before; nothing takes its place until then
	told     uint64 // number of the last record that is remembered
	failed   bool   // the last question
}

// note says that records are on the disk.
func (m *marks) note(at chain.Chain) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.Seq > m.durable.Seq {
		m.durable = Mark{Seq: at.Seq, Hash: at.Hash.String(), Segment: at.Segment}
	}
}

// tell has what is new remembered. It may take as long as the memory does.
func (m *marks) tell(ctx context.Context) error {
	m.mu.Lock()
	at := m.durable
	m.mu.Unlock()
	if !m.compared || at.Seq <= m.told {
		return nil
	}
	if err := m.memory.Put(ctx, at); err != nil {
		return err
	}
	m.told = at.Seq
	return nil
}

// Remember compares the log, as it was when it was opened, with what memory knows of it, and has
// it remembered from now on: about once a second while there is something new, and when the log
// is closed. No caller waits for that. A log that ends before the mark, or has another record in
// its place, is not the one that was written: the event audit.gone says so, and records go on
// behind the mark as behind a head. While memory does not answer the two are not compared, and the
// mark stays; the log asks again every second. It is to be called once, before anything is
// recorded but by Open.
// A head in the directory shows records that were taken off the end, and not that the directory as
// a whole was put back to an older state, head and all: for that somebody else has to remember the
// end.
func (l *Log) Remember(ctx context.Context, memory Memory) {
	l.marks.memory = memory
	l.marks.until, l.marks.end = context.WithCancel(context.WithoutCancel(ctx))
	l.remind(ctx)
	l.file.Lock()
	defer l.file.Unlock()
	if !l.closed { // Close does not wait for what begins later
		l.tending.Go(l.remember)
	}
}

// farewell tells the memory how far the log has come in the end.
func (l *Log) farewell() {
	if l.marks.memory == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewellTime)
	defer cancel()
	if err := l.marks.tell(ctx); err != nil {
		l.logger.Warn("how far the audit log has come is not remembered", "dir", l.config.Dir, "error", err)
	}
}

// remember goes on with what Remember began, until the log is closed.
func (l *Log) remember() {
	tick := time.NewTicker(l.disk.probe)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			l.remind(l.marks.until)
		}
	}
}

// remind asks the memory what is known, if it has not said so yet, and tells it what is new.
func (l *Log) remind(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rememberTime)
	defer cancel()
	m := &l.marks
	var err error
	if !m.compared {
		var known Mark
		if known, err = m.memory.Known(ctx); err == nil {
			l.compare(known)
			m.told, m.compared = known.Seq, true
		}
	}
	if err == nil {
		err = m.tell(ctx)
	}
	failed := m.failed
	m.failed = err != nil
	switch {
	case err != nil && !failed && !m.compared:
		l.logger.Warn("the audit log cannot be compared with what is remembered of it: the gateway asks again", "dir", l.config.Dir, "error", err)
	case err != nil && !failed:
		l.logger.Warn("how far the audit log has come is not remembered: the gateway tries again", "dir", l.config.Dir, "error", err)
	case err == nil && failed:
		l.logger.Info("how far the audit log has come is remembered again", "dir", l.config.Dir)
	}
}

// compare finds out whether the log that was opened is the one that is known.
func (l *Log) compare(known Mark) {
	gone := l.resumeBehind(known)
	if gone == nil {
		if l.opened.Seq > known.Seq && l.config.Source().Sync(l.opened.Segment) == nil {
			l.marks.note(l.opened) // what came after the last mark before a crash
		}
		return
	}
	l.missing(gone)
	l.deferred.put("audit.gone", gone)
}

// resumeBehind goes on behind a mark that is further than the records were when the log was
// opened, or that another record stands at. Numbers behind it that were given since stay.
// gone is nil where the log is the one that is known, or where that cannot be told.
func (l *Log) resumeBehind(known Mark) (gone map[string]string) {
	if known.Seq == 0 || len(known.Hash) != len(chain.Link{}) {
		return nil
	}
	from := l.opened.Seq + 1
	if known.Seq < from {
		there, err := l.opened.Hash, error(nil)
		if known.Seq < l.opened.Seq { // where it was removed, as its time was over, or moved away there is nothing to compare
			there, _, err = l.config.Source().HashOf(known.Seq)
		}
		if err != nil {
			l.logger.Warn("the audit record that is remembered cannot be read", "dir", l.config.Dir, "seq", known.Seq, "error", err)
		}
		if there.IsZero() || there.String() == known.Hash {
			return nil
		}
		from = known.Seq
	}
	l.file.Lock()
	defer l.file.Unlock()
	if l.chain.Seq < known.Seq || l.chain.Seq == l.opened.Seq && l.chain.Seq == known.Seq {
		l.chain.Seq = known.Seq
		copy(l.chain.Hash[:], known.Hash)
		l.chain.Segment = known.Segment
		l.last.Store(l.chain.Seq)
		l.segments.retire(false) // a file has the numbers that follow each other
		l.wake()
	}
	return map[string]string{
		"from": strconv.FormatUint(from, 10), "to": strconv.FormatUint(known.Seq, 10), "segment": known.Segment,
	}
}

// missing says that records are not there any more.
func (l *Log) missing(gone map[string]string) {
	from, _ := strconv.ParseUint(gone["from"], 10, 64)
	to, _ := strconv.ParseUint(gone["to"], 10, 64)
	l.logger.Error("audit records are not there any more", "dir", l.config.Dir, "from", from, "to", to)
	l.metrics.Gone(int(to-from) + 1) //nolint:gosec // no log has that many
	l.gone.Store(cmp.Or(l.gone.Load(), &gone))
}

// Gone says which records were not there any more when the log was opened; "" for none.
// It is for readiness and the console, which show it until the gateway is started again.
func (l *Log) Gone() string {
	gone := l.gone.Load()
	if gone == nil {
		return ""
	}
	return "records " + (*gone)["from"] + " to " + (*gone)["to"] + " were not there any more at the start"
}
