package sqlite

import (
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
)

// keep writes down what was used and removes what ran out, until closing. What cannot
// be written is tried again the next time; Ping tells of the disk.
func (s *Store) keep() {
	defer close(s.kept)
	probe, save, flush, sweep := time.NewTicker(probing), time.NewTicker(saving), time.NewTicker(flushing), time.NewTicker(sweeping)
	defer probe.Stop()
	defer save.Stop()
	defer flush.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-s.closing:
			_ = s.saveCounts()
			_ = s.flush()
			return
		case <-probe.C:
			s.probe()
		case <-save.C:
			_ = s.place.check()
			_ = s.saveCounts()
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
	for k, at := range all {
		part[k] = at
		delete(all, k)
		if len(part) < batch && len(all) > 0 {
			continue
		}
		err := s.hand(func(w *writer) error { return w.use(part) })
		if err != nil {
			return err
		}
		s.uses.written(part)
		part = make(map[use]int64, batch)
	}
	return nil
}

func (w *writer) use(part map[use]int64) error {
	for k, at := range part {
		var err error
		if k.kind == 0 {
			_, err = w.put.useStep.Exec(at, []byte(k.agent), []byte(k.id), []byte(k.extension))
		} else {
			_, err = w.put.useRecord.Exec(at, []byte(k.agent), k.kind, []byte(k.id))
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
	horizon := s.horizon(now) - int64(sweeping/time.Second)
	for {
		var gone int64
		err := s.hand(func(w *writer) (err error) {
			gone, err = w.sweep(horizon, now.UnixNano())
			return err
		})
		if err != nil || gone == 0 {
			return err
		}
	}
}

// sweep removes at most a batch of each and says how many rows have gone.
func (w *writer) sweep(horizon, now int64) (gone int64, err error) {
	for _, part := range []struct {
		remove *sql.Stmt
		before int64
	}{
		{w.put.sweepRecords, horizon},
		{w.put.sweepSteps, horizon},
		{w.put.sweepValues, now},
		{w.put.sweepLogEntries, now},
		{w.put.sweepLogs, now},
	} {
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
