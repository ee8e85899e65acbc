package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"time"
)

const (
	// saving is how often counts of limits are written down.
	saving = time.Second
	// flushing is how often uses are.
	flushing = 5 * time.Second
	// sweeping is how often what ran out is removed.
	sweeping = time.Minute
	// batch is how many rows one write removes or marks, so that others need not wait
	// long.
	batch = 500
	// probing is how long to wait between looks at a file that takes no writes.
	probing = 250 * time.Millisecond
	// probed is how many bytes have to find room then: those of a task with its context and
	// all that points to them, and more.
	probed = 64 << 10
)

// keep writes down what was used and removes what ran out, until closing. What cannot
// be written is tried again the next time; Ping tells of the disk.
func (s *Store) keep() {
	defer close(s.kept)
	// One goroutine for all four: none of them is worth meeting another in the writer.
	probe, save, flush, sweep := time.NewTicker(probing), time.NewTicker(saving), time.NewTicker(flushing), time.NewTicker(sweeping)
	defer probe.Stop()
	defer save.Stop()
	defer flush.Stop()
	defer sweep.Stop()
	for {
		select {
		// The last counts and uses are written after callers are turned away and before the writer ends.
		case <-s.closing:
			_ = s.limits.write()
			_ = s.flush()
			return
		case <-probe.C:
			s.probe()
		case <-save.C:
			// With nobody writing, nobody would find out that the file is gone; Away has to know.
			_ = s.place.check()
			_ = s.limits.write()
		case <-flush.C:
			_ = s.flush()
			s.counts.Sweep()
		case <-sweep.C:
			_ = s.sweep()
		}
	}
}

// flush writes down what was used.
func (s *Store) flush() error {
	all := s.uses.all()
	part := make(map[use]int64, batch)
	// Batches keep each transaction short.
	for k, at := range all {
		part[k] = at
		delete(all, k)
		if len(part) < batch && len(all) > 0 {
			continue
		}
		err := s.hand(func() error { return s.use(part) })
		if err != nil {
			return err
		}
		// Only after the commit: what was used again meanwhile stays noted.
		s.uses.written(part)
		part = make(map[use]int64, batch)
	}
	return nil
}

// use writes down one batch of uses, in a job of the writer. A row that has gone meanwhile is not
// made again: UPDATE finds none.
func (s *Store) use(part map[use]int64) error {
	for k, at := range part {
		var err error
		if k.kind == 0 {
			_, err = s.steps.use.Exec(at, []byte(k.agent), []byte(k.id), []byte(k.extension))
		} else {
			_, err = s.ledger.use.Exec(at, []byte(k.agent), k.kind, []byte(k.id))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what ran out a while ago: nobody who found it alive is still about to
// note so.
func (s *Store) sweep() error {
	if err := s.flush(); err != nil {
		return err
	}
	now := s.now()
	// A minute earlier than what live calls over: who has just found a row alive may be about to note
	// its use, which would be lost with the row.
	horizon := s.uses.horizon(now) - int64(sweeping/time.Second)
	for {
		var gone int64
		err := s.hand(func() (err error) {
			gone, err = s.sweepBatch(horizon, now.UnixNano())
			return err
		})
		if err != nil || gone == 0 {
			return err
		}
	}
}

// sweepBatch removes at most a batch of each and says how many rows have gone.
func (s *Store) sweepBatch(horizon, now int64) (gone int64, err error) {
	for _, part := range []struct {
		remove *sql.Stmt
		before int64
	}{
		{s.ledger.sweep, horizon},
		{s.steps.sweep, horizon},
		{s.values.sweep, now},
		{s.sweepEntries, now},
		{s.logs.sweep, now},
	} {
		// DELETE with LIMIT is an option of SQLite's build, hence the sub-selects of the statements.
		result, err := part.remove.Exec(part.before, batch)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		gone += n
	}
	return gone, nil
}

// probe finds out whether a file takes writes again that took none.
func (s *Store) probe() {
	// Writes work: nothing is probed.
	if s.refusal.why.Load() == nil {
		return
	}
	// As large as what a call needs: a disk with room for one byte would be found well and be full at the
	// next claim.
	data := bytes.Repeat([]byte{byte(time.Now().UnixNano() & 0xff)}, probed) // SQLite writes nothing where nothing has changed
	if s.Put(context.Background(), "", "probe", data, sweeping) == nil {
		s.refusal.why.Store(nil)
		s.refusal.told(nil)
	}
}
