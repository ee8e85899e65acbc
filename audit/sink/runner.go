package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

const (
	// linger is how long a record waits for others, so that a quiet gateway does not hand
	// them over one by one.
	linger = 100 * time.Millisecond

	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

// runner hands the records to one sink, for ever.
// Only its goroutine changes place and passed; the mutex is for States, which others call.
type runner struct {
	name, kind string
	batch      int
	timeout    time.Duration
	source     reader.Source
	to         Sink
	path       string // of the file with the place
	metrics    *metrics.Audit
	log        *slog.Logger
	passed     int // records that the sink gave up on, of those being handed over

	mu      sync.Mutex
	place   place
	oldest  time.Time // when the first of the records was made that are being handed over
	failing time.Time // since when none of them are taken; zero while they are
}

// tries starts again with each batch that was taken, so that a sink which works slowly is not
// paused.
func (r *runner) run(ctx context.Context) {
	for tries := 0; ; tries++ {
		moved, err := r.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		r.failed(err)
		if moved {
			tries = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause(tries)):
		}
	}
}

// pause is how long to wait after so many failures in a row: at random, so that gateways
// which lost the same database do not all come back to it at once.
func pause(tries int) time.Duration {
	longest := min(firstPause<<min(tries, 10), longestPause)
	return longest/2 + rand.N(longest/2) //nolint:gosec // nobody gains by guessing it
}

// follow hands records over until something fails. It reports whether any were taken.
// Reading and delivering overlap: while one batch is on its way the next is read, up to a batch
// ahead.
func (r *runner) follow(ctx context.Context) (moved bool, err error) {
	at, err := r.begin(ctx)
	if err != nil {
		return false, err
	}
	found := make(chan found, r.batch)
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reading.Go(func() { r.read(ctx, at, found) })
	for {
		b := r.collect(ctx, found)
		if len(b.entries) > 0 {
			if err := r.deliver(ctx, b); err != nil {
				return moved, err
			}
			moved = true
		}
		if b.err != nil {
			return moved, b.err
		}
	}
}

// begin finds where to go on: where the sink is, or from the beginning of a log that is not
// the one that the sink has had, as it is when the directory was restored from a copy. What
// has a number that the sink has seen would be left out otherwise.
// The runner never goes on from a place that the log does not know: what it skipped would be
// missing in the sink without a word.
func (r *runner) begin(ctx context.Context) (reader.Cursor, error) {
	at, err := r.known(ctx)
	if err != nil {
		return at, err
	}
	before := r.place.Cursor
	there, err := r.source.Knows(at)
	if err != nil {
		return at, err
	}
	if !there {
		if before.Seq > 0 { // or it has been said
			r.log.Error("a sink has audit records that are not in the log: it gets all that are", "sink", r.name, "record", at.Seq)
		}
		at = reader.Cursor{}
	}
	if at == before {
		return at, nil
	}
	r.mu.Lock()
	r.place.Cursor = at
	r.mu.Unlock()
	return at, r.place.keep(r.path)
}

// known is how far the sink has come, by its own account if it keeps one.
// A place that the sink keeps itself is always right, whatever was restored on either side.
func (r *runner) known(ctx context.Context) (reader.Cursor, error) {
	k, ok := r.to.(keeper)
	if !ok {
		return r.place.Cursor, nil
	}
	// The timeout is for one batch, and the next try has one of its own.
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return k.Place(ctx)
}

// found is a record, or why there is none.
type found struct {
	entry reader.Entry
	err   error
}

// read passes the records on until ctx ends or one cannot be read.
// The line is copied, as the reader's buffer is reused while the record waits here.
func (r *runner) read(ctx context.Context, from reader.Cursor, to chan<- found) {
	for entry, err := range r.source.Follow(ctx, from) {
		entry.Line = bytes.Clone(entry.Line)
		select {
		case to <- found{entry, err}:
		case <-ctx.Done():
			return
		}
	}
}

// batch is what is handed over at once.
// The entries before err are delivered before the error counts.
type batch struct {
	entries []reader.Entry
	lost    []*reader.LostError // before or between them
	err     error               // why no more can be read
}

// collect waits for a record, and then a little for more.
// A lost record does not end a batch; it is told of when the batch is delivered.
func (r *runner) collect(ctx context.Context, from <-chan found) (b batch) {
	var enough <-chan time.Time
	for len(b.entries) < r.batch {
		select {
		case f := <-from:
			var lost *reader.LostError
			switch {
			case errors.As(f.err, &lost):
				b.lost = append(b.lost, lost)
			case f.err != nil:
				b.err = f.err
				return b
			default:
				if b.entries = append(b.entries, f.entry); enough == nil {
					enough = time.After(linger)
					r.waiting(f.entry)
				}
			}
		case <-enough:
			return b
		case <-ctx.Done():
			b.err = ctx.Err()
			return b
		}
	}
	return b
}

// waiting notes how old the oldest record is that the sink does not have.
func (r *runner) waiting(e reader.Entry) {
	var record struct {
		Time time.Time `json:"time"`
	}
	if err := json.Unmarshal(e.Line, &record); err != nil {
		record.Time = time.Now()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.oldest = record.Time
}

// deliver hands a batch over and keeps that.
// The fsync comes before the records leave: else a loss of power could take records from the files
// that the sink has, and the log would give their numbers to others.
func (r *runner) deliver(ctx context.Context, b batch) error {
	segment := ""
	for _, e := range b.entries {
		if e.Cursor.Segment == segment {
			continue
		}
		segment = e.Cursor.Segment
		if err := r.source.Sync(segment); err != nil {
			return fmt.Errorf("sync %s: %w", segment, err)
		}
	}
	for _, lost := range b.lost {
		r.log.Error("audit records were removed before a sink had them", "sink", r.name, "from", lost.From, "to", lost.To)
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if err := r.to.Put(ctx, b.entries); err != nil {
		return err
	}
	r.stored(b)
	return r.place.keep(r.path)
}

// stored notes that the sink has a batch.
// Records that the sink gave up on are counted as lost, though the batch as a whole was taken.
func (r *runner) stored(b batch) {
	lost := uint64(0)
	for _, l := range b.lost {
		lost += l.To - l.From + 1
	}
	passed := min(r.passed, len(b.entries))
	r.passed -= passed
	r.metrics.Sent(r.kind, len(b.entries)-passed, lost)
	r.mu.Lock()
	since := r.failing
	r.place.Cursor = b.entries[len(b.entries)-1].Cursor
	r.oldest, r.failing = time.Time{}, time.Time{}
	r.mu.Unlock()
	if !since.IsZero() {
		r.log.Info("audit records reach a sink again", "sink", r.name, "after", time.Since(since).Round(time.Millisecond))
	}
}

// passOver notes that the sink gives up on a record, in the middle of taking others.
func (r *runner) passOver(e reader.Entry, why error) {
	r.passed++
	r.metrics.Sent(r.kind, 0, 1)
	r.log.Error("an audit record is rejected by a sink, which goes on without it", "sink", r.name, "record", e.Seq,
		"segment", e.Cursor.Segment, "error", why)
}

// failed notes that the sink does not take records, or that there are none to be had.
// The first failure is logged as an error, those that follow at debug level, and the recovery as
// info: a database that is away for a night makes two lines.
func (r *runner) failed(err error) {
	r.metrics.SinkFailed(r.kind)
	r.mu.Lock()
	first := r.failing.IsZero()
	if first {
		r.failing = time.Now()
	}
	r.mu.Unlock()
	if first {
		r.log.Error("audit records do not reach a sink and are kept for it", "sink", r.name, "error", err)
		return
	}
	r.log.Debug("audit records still do not reach a sink", "sink", r.name, "error", err)
}

// state is how the sink is doing, where last is the number of the last record.
func (r *runner) state(last uint64, now time.Time) metrics.SinkState {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := metrics.SinkState{Kind: r.kind}
	if at := r.place.Cursor.Seq; last > at {
		s.Records = last - at
	}
	for _, since := range []time.Time{r.oldest, r.failing} {
		if !since.IsZero() {
			s.Oldest = max(s.Oldest, now.Sub(since))
		}
	}
	if !r.failing.IsZero() && s.Records > 0 {
		s.Failing = 1
	}
	return s
}
