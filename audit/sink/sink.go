// Package sink takes the records of the audit log to other places, which its
// configuration names: each record at least once, in their order, whenever the place is
// there to take it.
//
// It owns the reading from the local segments, what happens when a place takes nothing,
// and where it goes on after a restart. It does not know the places themselves, which are
// the packages beside it, and has no part in writing the log: a sink that hangs holds up
// nobody. It may import telemetry, audit and the packages of the places.
//
// A sink goes through these states, each time it fails:
//
//	begin    find the place: the sink's own, or the one in sink-NAME.json, or the beginning
//	follow   read records behind it from the segments, which may be years old
//	collect  wait for one, then for up to 100 ms for others, up to the configured batch
//	deliver  fsync the segment first, hand the batch over, keep the place
//	pause    after an error: 200 ms, doubling to 30 s, at random; then begin again
//
// The log does not know of sinks, but for one thing: retention by age spares segments that a sink
// has not read ([Holds]). Retention by size does not, so that a sink that is away for long cannot
// fill the disk; what is lost then is logged and counted.
package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Sink is a place that takes records. It is for one goroutine.
type Sink interface {
	// Put stores entries, in their order. When it returns nil they are there for good.
	// After an error some of them may be, and they come again; it is not told why twice.
	Put(ctx context.Context, entries []reader.Entry) error
	Close() error
}

// keeper is a Sink that keeps how far it has come together with the records. It is asked
// whenever reading begins: a database that was restored from a backup, or whose standby
// took over, has less than what it once confirmed.
type keeper interface {
	Place(ctx context.Context) (reader.Cursor, error)
}

// Options are what sinks have in common.
type Options struct {
	Source    reader.Source
	Log       *audit.Log
	Gateway   string        // server.id
	Egress    *tunnel.Proxy // the way to those that are reached by HTTP
	Telemetry *telemetry.Telemetry

	passedOver func(reader.Entry, error) // for a sink to tell of a record that it gives up on
}

// Sinks are those of one log. A nil *Sinks has none.
type Sinks struct {
	log     *audit.Log
	runners []*runner
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Open begins to hand records over. Nobody is asked whether he is there to take them, so
// that errors are about the configuration and the files beside the segments only.
func Open(sinks []Config, o Options) (*Sinks, error) {
	if err := Check(sinks); err != nil {
		return nil, err
	}
	s := &Sinks{log: o.Log}
	for i, c := range sinks {
		r, err := open(c, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("telemetry.audit.sinks[%d]: %w", i, err), s.Close(context.Background()))
		}
		s.runners = append(s.runners, r)
	}
	s.start(&o.Telemetry.Metrics.Audit)
	return s, nil
}

func (s *Sinks) start(counts *metrics.Audit) {
	counts.Watch(s.States)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, r := range s.runners {
		s.running.Go(func() { r.run(ctx) })
	}
}

func open(c Config, o Options) (*runner, error) {
	path := placePath(o.Source.Path, c.name())
	at, err := openPlace(path)
	if err != nil {
		return nil, err
	}
	kind := c.sections()[0]
	r := &runner{
		name: c.name(), kind: kind.kind, batch: c.batch(), timeout: c.timeout(),
		source: o.Source, path: path, place: at,
		metrics: &o.Telemetry.Metrics.Audit, log: o.Telemetry.Log,
	}
	o.passedOver = r.passOver
	r.to, err = kind.open(at.Log, o)
	return r, err
}

// States sums the sinks up by kind.
func (s *Sinks) States() (all []metrics.SinkState) {
	if s == nil {
		return nil
	}
	last, now := s.log.Seq(), time.Now()
	for _, r := range s.runners {
		one := r.state(last, now)
		i := slices.IndexFunc(all, func(other metrics.SinkState) bool { return other.Kind == one.Kind })
		if i < 0 {
			all = append(all, one)
			continue
		}
		all[i].Records += one.Records
		all[i].Oldest = max(all[i].Oldest, one.Oldest)
		all[i].Failing += one.Failing
	}
	return all
}

// flushFor is how long Close waits for records that are on their way.
const flushFor = 5 * time.Second

// Close ends the sinks, after the log has been closed. Those that take records have the
// last of them before; the others have them after the next start.
func (s *Sinks) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	if s.stop != nil {
		s.flush(ctx)
		s.stop()
		s.running.Wait()
	}
	var errs []error
	for _, r := range s.runners {
		errs = append(errs, r.to.Close())
	}
	return errors.Join(errs...)
}

func (s *Sinks) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushFor)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		waiting := func(r *runner) bool {
			state := r.state(s.log.Seq(), time.Now())
			return state.Records > 0 && state.Failing == 0
		}
		if !slices.ContainsFunc(s.runners, waiting) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
