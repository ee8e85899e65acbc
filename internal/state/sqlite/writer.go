package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// group is how many writes one transaction holds at most.
const group = 512

// writer is the one connection that writes, and what waits for it.
type writer struct {
	place   *place
	db      *sql.DB
	conn    *sql.Conn
	version int
	put     puts
	queue   queuePuts
	jobs    chan *job
	ended   chan struct{}
}

// job is one caller's write. It runs in a transaction with those of others, and alone
// once more if one of them fails; so it sets its results anew each time, and reports
// only what went wrong with the database.
type job struct {
	run  func(*writer) error
	done chan error // has room, as nobody may be waiting any more
}

func newWriter(ctx context.Context, c state.SQLiteConfig, at *place) (*writer, error) {
	db, err := connect(c, at, true)
	if err != nil {
		return nil, err
	}
	w := &writer{place: at, db: db, jobs: make(chan *job, group), ended: make(chan struct{})}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) prepare(ctx context.Context) error {
	err := inspect(ctx, w.db)
	if err != nil {
		return err
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if w.version, err = migrate(ctx, w.conn); err != nil {
		return err
	}
	if w.put, err = newPuts(ctx, w.conn, w.version); err != nil {
		return err
	}
	queue, all, err := newQueuePuts(ctx, w.conn)
	w.queue, w.put.all = queue, append(w.put.all, all...)
	return err
}

// write hands a job to the writer and waits for its transaction. When the caller's
// context ends first, the job is done all the same, and the caller must not look at its
// results.
func (s *Store) write(ctx context.Context, run func(*writer) error) error {
	select {
	case <-s.closing:
		return ErrClosed
	default:
		return s.heard(s.writer.do(ctx, run))
	}
}

// hand is write for the keeper, which goes on while others are turned away.
func (s *Store) hand(run func(*writer) error) error {
	return s.heard(s.writer.do(context.Background(), run))
}

func (w *writer) do(ctx context.Context, run func(*writer) error) error {
	j := &job{run: run, done: make(chan error, 1)}
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case w.jobs <- j:
	case <-w.ended:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-patient.C:
		return errSlow
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-patient.C:
		return errSlow
	case <-w.ended:
		select {
		case err := <-j.done:
			return err
		default:
			return ErrClosed // it came as the writer went
		}
	}
}

var errSlow = errors.New("state: the disk does not keep up")

// run makes transactions of what comes until the last that has to come has, and nothing
// waits.
func (w *writer) run(last <-chan struct{}) {
	defer close(w.ended)
	for {
		select {
		case j := <-w.jobs:
			runtime.Gosched() // to whoever is about to bring another
			w.commit(w.gather(j))
		case <-last:
			select {
			case j := <-w.jobs:
				w.commit(w.gather(j))
			default:
				return
			}
		}
	}
}

// gather adds to a job those that wait already.
func (w *writer) gather(first *job) []*job {
	jobs := []*job{first}
	for len(jobs) < group {
		select {
		case j := <-w.jobs:
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

// commit runs jobs in one transaction. If that fails each gets one of its own, so that
// nobody suffers for what somebody else brought.
func (w *writer) commit(jobs []*job) {
	err := w.transact(jobs)
	if err != nil && len(jobs) > 1 {
		for _, j := range jobs {
			j.done <- w.transact([]*job{j})
		}
		return
	}
	for _, j := range jobs {
		j.done <- err
	}
}

// transact does not know the callers' contexts: a transaction belongs to all of them.
func (w *writer) transact(jobs []*job) error {
	if err := w.place.check(); err != nil {
		return err
	}
	if _, err := w.put.begin.Exec(); err != nil {
		return err
	}
	var err error
	for _, j := range jobs {
		if err = j.run(w); err != nil {
			break
		}
	}
	if err == nil {
		if _, err = w.put.commit.Exec(); err == nil {
			return nil
		}
	}
	// SQLite has rolled back already after some errors, and then says so.
	_, _ = w.put.rollback.Exec()
	return err
}

// close closes what must be the last connection: SQLite then empties the journal into
// the file, so that a copy of that alone is whole.
func (w *writer) close() error {
	if w.conn == nil {
		return w.db.Close()
	}
	var errs []error
	for _, s := range w.put.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}
