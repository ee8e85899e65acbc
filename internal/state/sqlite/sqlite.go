// Package sqlite is the driver of internal/state that keeps everything in one SQLite file: it
// survives restarts, and serves one gateway. It owns the file, its schema and who may
// open it; what the answers mean is internal/state's. It imports internal/state only.
//
// # One write
//
// A caller of Claim looks into recent first, which has records that were read or written not
// long ago. What is not there becomes a job for the writer:
//
//	caller ── job ──▶ writer.jobs ── gather ──▶ BEGIN IMMEDIATE, up to 512 jobs, COMMIT ──▶ answers
//
// SQLite has one writer at a time, whatever the number of connections, and a commit costs an
// fsync with sync: full. One goroutine that commits for many callers at once makes of 64 waiting
// claims one transaction. Readers have connections of their own, which the write-ahead log
// (journal_mode WAL) lets read while somebody writes; they see what the last commit left.
//
// # The parts
//
//	part    table                     what it keeps
//	ledger  records                   whose an id is
//	steps   steps                     where tasks stand in extensions' states
//	limits  counts                    a copy, once a second, of counts in memory
//	values  entries                   small things under keys, until they expire
//	logs    logs, log_entries         events of tasks, for who comes back to a stream
//	queue   items, queues, shares     webhooks to deliver
//
// Each part prepares its statements when the file is opened, those that read for any of the
// readers' connections and those that write for the writer's only one.
//
// # What a crash loses
//
// What a call has been answered is in the write-ahead log. With sync: normal, the default, a crash
// of the machine can take the last commits with it; a crash of the process cannot. The last
// second of counts and the last seconds of uses are in memory only; see limits and uses.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// ErrClosed is what a store that was closed answers.
var ErrClosed = errors.New("state: the store is closed")

// Store is the driver. It is ready for use by many goroutines.
//
// Writes of all callers go to one goroutine, which makes one transaction of those that
// wait and answers when it is committed. A caller whose context ends leaves, but what
// it has handed over is still done: an id that an agent has shown gets its owner also
// when the client has gone.
//
// Each part of state.Store is a type of its own, with its own tables and statements; the
// parts share the database, and those whose rows run out unused share uses.
type Store struct {
	*database
	*ledger
	*steps
	*limits
	*values
	*logs
	*queue

	uses   *uses
	unlock func() error

	// What follows is for Close: closing first, then the keeper writes its last, and the writer ends
	// when nothing waits for it any more.
	once    sync.Once
	kept    chan struct{}  // closed after closing: the keeper has written its last
	closed  error          // after once
	running sync.WaitGroup // the writer and the keeper
}

var _ state.Store = (*Store)(nil)

// Open opens the file of c.SQLite, and makes it with all of its directory if it is not
// there. A file that something else made, that is damaged or that a newer gateway wrote
// is refused and not touched, as is one that another process has open.
//
// w, which may be nil, is told of what becomes of the file.
func Open(ctx context.Context, c state.Config, w *Watcher) (*Store, error) {
	return open(ctx, c, w, time.Now)
}

// Watcher is told why writes fail, with an error that wraps state.ErrUnavailable, and with nil
// when they work again. Its functions have to return soon; each may be nil.
type Watcher struct {
	// Lost is told when somebody has deleted, moved or replaced the file under the running
	// store. Nothing is written then.
	Lost func(error)
	// Refuses is told when the file takes no writes: its disk is full or read-only, or another
	// program keeps it locked.
	Refuses func(error)
}

// open is Open with another clock, for tests of what expires.
func open(ctx context.Context, c state.Config, w *Watcher, now func() time.Time) (*Store, error) {
	if c.SQLite.Path == "" {
		return nil, errors.New("state.sqlite.path: is empty; name the file that keeps the state")
	}
	// From here on the file is this process's, and end gives it back whatever fails.
	unlock, err := claimFile(c.SQLite.Path)
	if err == nil {
		if w == nil {
			w = new(Watcher)
		}
		s := &Store{
			database: &database{
				now: now, place: newPlace(c.SQLite.Path, w.Lost), closing: make(chan struct{}),
				refusal: refusal{path: c.SQLite.Path, told: orNobody(w.Refuses)},
			},
			uses: newUses(c.KeptFor()), unlock: unlock, kept: make(chan struct{}),
		}
		if err = s.start(ctx, c); err == nil {
			return s, nil
		}
		err = errors.Join(err, s.end())
	}
	return nil, fmt.Errorf("state.sqlite.path: %s: %w", c.SQLite.Path, err)
}

// start opens the file, makes the parts and starts what runs.
func (s *Store) start(ctx context.Context, c state.Config) (err error) {
	if err := s.open(ctx, c.SQLite); err != nil {
		return err
	}
	// Each part prepares statements on the writer's connection, which nobody else uses before the
	// writer runs.
	if s.ledger, err = newLedger(ctx, s.database, s.uses); err != nil {
		return err
	}
	if s.steps, err = newSteps(ctx, s.database, s.uses); err != nil {
		return err
	}
	if s.limits, err = newLimits(ctx, s.database, c.Memory); err != nil {
		return err
	}
	if s.values, err = newValues(ctx, s.database); err != nil {
		return err
	}
	if s.logs, err = newLogs(ctx, s.database); err != nil {
		return err
	}
	if s.queue, err = newQueue(ctx, s.database); err != nil {
		return err
	}
	s.running.Go(func() { s.writer.run(s.kept) })
	s.running.Go(s.keep)
	return nil
}

// orNobody is told, or nobody.
func orNobody(told func(error)) func(error) {
	if told == nil {
		return func(error) {}
	}
	return told
}

// Close finishes what was handed over, writes down what was used and closes the file.
func (s *Store) Close() error {
	s.once.Do(func() {
		// Callers are turned away from here on; those whose jobs are with the writer get their answers.
		close(s.closing)
		s.running.Wait()
		s.closed = s.end()
	})
	return s.closed
}

// end closes the file, and lets others open it.
func (s *Store) end() error { return errors.Join(s.close(), s.unlock()) }
