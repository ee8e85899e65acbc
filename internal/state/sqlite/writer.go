package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// group is how many writes one transaction holds at most.
const group = 512

// writer is the one connection that writes, and what waits for it.
type writer struct {
	place   *place
	db      *sql.DB   // of one connection
	conn    *sql.Conn // that one, taken for good: its statements are prepared once
	version int       // of the schema, after migrate
	// jobs has room for one transaction, so that callers need not meet the writer to hand over.
	jobs  chan *job
	ended chan struct{}

	begin, commit, rollback, touch *sql.Stmt

	prepared []*sql.Stmt // to be closed: those of one connection are not closed with it
}

// job is one caller's write. It runs in a transaction with those of others, and alone
// once more if one of them fails; so it sets its results anew each time, and reports
// only what went wrong with the database.
type job struct {
	run   func() error
	apart bool       // each of its statements may be kept without the others
	done  chan error // has room, as nobody may be waiting any more
}

// newWriter opens the connection that writes. With an error everything is closed again.
func newWriter(ctx context.Context, c state.SQLiteConfig, at *place) (*writer, error) {
	db, err := connect(c, at, true)
	if err != nil {
		return nil, err
	}
	w := &writer{place: at, db: db, jobs: make(chan *job, group), ended: make(chan struct{})}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// open makes the connection, brings the schema up to date and prepares what makes
// transactions.
func (w *writer) open(ctx context.Context) error {
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
	return w.prepare(ctx, statements{
		&w.begin: `BEGIN IMMEDIATE`, &w.commit: `COMMIT`, &w.rollback: `ROLLBACK`,
		&w.touch: `PRAGMA user_version = ` + strconv.Itoa(w.version), // what it is
	})
}

// prepare prepares statements for jobs to run.
func (w *writer) prepare(ctx context.Context, all statements) error {
	prepared, err := all.prepare(ctx, w.conn)
	w.prepared = append(w.prepared, prepared...)
	return err
}

// do hands a job over and waits for its transaction, as long as ctx and patience allow. Whoever
// leaves early does not take the job back.
func (w *writer) do(ctx context.Context, j *job) error {
	j.done = make(chan error, 1)
	// One timer bounds both waits: for a place among the jobs, and for the commit.
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
	// Both may be true at once: the job was done, and then the writer ended. Its answer counts.
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
			// Without it the writer takes the first job alone, commits it, and finds the others waiting: on
			// one processor each caller would get a transaction of its own.
			runtime.Gosched() // to whoever is about to bring another
			w.process(w.gather(j))
		case <-last:
			select {
			case j := <-w.jobs:
				w.process(w.gather(j))
			default:
				return
			}
		}
	}
}

// gather adds to a job those that wait already.
func (w *writer) gather(first *job) []*job {
	// The others are taken as they stand in the channel: nobody is waited for.
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

// process runs jobs in one transaction. If that fails each gets one of its own, so that
// nobody suffers for what somebody else brought.
func (w *writer) process(jobs []*job) {
	err := w.transact(jobs)
	// A full disk or a row that cannot be written fails the transaction for all of them.
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
	// A file that was deleted takes writes without an error, and they are gone with it.
	if err := w.place.check(); err != nil {
		return err
	}
	if len(jobs) == 1 && jobs[0].apart { // SQLite makes a transaction of a statement that is in none
		return jobs[0].run()
	}
	if _, err := w.begin.Exec(); err != nil {
		return err
	}
	var err error
	for _, j := range jobs {
		if err = j.run(); err != nil {
			break
		}
	}
	if err == nil {
		if _, err = w.commit.Exec(); err == nil {
			return nil
		}
	}
	// After an error the transaction may still be open, and the next BEGIN would fail.
	// SQLite has rolled back already after some errors, and then says so.
	_, _ = w.rollback.Exec()
	return err
}

// close closes what must be the last connection: SQLite then empties the journal into
// the file, so that a copy of that alone is whole.
func (w *writer) close() error {
	if w.conn == nil {
		return w.db.Close()
	}
	var errs []error
	// database/sql closes statements of a DB with it, but not those of a Conn.
	for _, s := range w.prepared {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}
