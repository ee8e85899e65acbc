// Package sqlite is the driver of internal/state that keeps everything in one file: it
// survives restarts, and serves one gateway. It owns the file, its schema and who may
// open it; what the answers mean is internal/state's. It imports internal/state only.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// ErrClosed is what a store that was closed answers.
var ErrClosed = errors.New("state: the store is closed")

// patience bounds how long a caller waits for its write, also one that nobody cancels.
const patience = 10 * time.Second

// Store is the driver. It is ready for use by many goroutines.
//
// Writes of all callers go to one goroutine, which makes one transaction of those that
// wait and answers when it is committed. A caller whose context ends leaves, but what
// it has handed over is still done: an id that an agent has shown gets its owner also
// when the client has gone.
type Store struct {
	retention time.Duration
	grain     time.Duration // how old the time of the last use may be; see uses
	now       func() time.Time
	unlock    func() error
	place     *place
	refusal   refusal
	readers   *sql.DB
	read      reads
	writer    *writer
	uses      uses
	recent    recent
	counts    *state.Counts

	once    sync.Once
	closing chan struct{}  // closed first: nobody's writes are taken any more
	kept    chan struct{}  // closed then: the keeper has written its last
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

func open(ctx context.Context, c state.Config, w *Watcher, now func() time.Time) (*Store, error) {
	if c.SQLite.Path == "" {
		return nil, errors.New("state.sqlite.path: is empty; name the file that keeps the state")
	}
	unlock, err := claimFile(c.SQLite.Path)
	if err == nil {
		s := &Store{
			retention: c.KeptFor(), now: now, unlock: unlock,
			closing: make(chan struct{}), kept: make(chan struct{}), uses: newUses(), counts: state.NewCounts(c.Memory),
		}
		if w == nil {
			w = new(Watcher)
		}
		s.place = newPlace(c.SQLite.Path, w.Lost)
		s.refusal.path, s.refusal.told = c.SQLite.Path, orNobody(w.Refuses)
		s.grain = min(max(s.retention/16, time.Second), time.Minute)
		if err = s.start(ctx, c.SQLite); err == nil {
			return s, nil
		}
		err = errors.Join(err, s.end())
	}
	return nil, fmt.Errorf("state.sqlite.path: %s: %w", c.SQLite.Path, err)
}

// start opens the connections, brings the schema up to date and starts what runs.
func (s *Store) start(ctx context.Context, c state.SQLiteConfig) error {
	w, err := newWriter(ctx, c, s.place)
	if err != nil {
		return err
	}
	s.writer = w
	if err := s.place.note(); err != nil {
		return err
	}
	if s.readers, err = connect(c, s.place, false); err != nil {
		return err
	}
	if s.read, err = newReads(ctx, s.readers); err != nil {
		return err
	}
	if err := s.loadCounts(ctx); err != nil {
		return err
	}
	s.running.Go(func() { w.run(s.kept) })
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

// Ping implements state.Store: it writes, unless it is known that this does not work.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.refusal.away(); err != nil {
		return err
	}
	return s.touch(ctx)
}

// Close finishes what was handed over, writes down what was used and closes the file.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		s.running.Wait()
		s.closed = s.end()
	})
	return s.closed
}

// end closes what is open.
func (s *Store) end() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	return errors.Join(append(errs, s.unlock())...)
}
