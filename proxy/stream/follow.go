package stream

import (
	"context"
	"time"
)

// Another replica's log is looked at so often; the more seldom, the longer it is silent.
const (
	followSoon = 100 * time.Millisecond
	followLate = time.Second
)

// load makes a feed of a task's log; it has no entries where there is none. The task is
// reserved.
//
// It reads page by page until the end that the log had when the last page was read.
func (h *Hub) load(ctx context.Context, task string) (*Feed, error) {
	f := newFeed(h)
	f.task, f.joined, f.shared.following = task, true, true
	for first := true; ; first = false {
		before := f.tip()
		tail, err := h.logs.Read(ctx, logName(task), before, h.settings().Buffer.Events)
		if err != nil {
			return f, err
		}
		records, err := readRecords(tail.Entries)
		if err != nil || len(records) == 0 {
			return f, err
		}
		if first {
			f.form = records[0].form
		}
		f.mu.Lock()
		if tail.From > before+1 {
			f.skip(tail.From - 1)
		}
		for _, r := range records {
			f.reign(f.tip()+1, r.epoch)
			f.push(r.item())
		}
		f.mu.Unlock()
		if f.tip() >= tail.Last {
			return f, nil
		}
	}
}

// readRecords decodes entries of a log, all of them or none: a log that cannot be read is not
// followed in part.
func readRecords(entries [][]byte) ([]record, error) {
	records := make([]record, len(entries))
	for i, e := range entries {
		r, err := readRecord(e)
		if err != nil {
			return nil, err
		}
		records[i] = r
	}
	return records, nil
}

func (r record) item() item { return item{r.Entry, costOf(r.Entry)} }

// found is a task's feed, here or in the logs. The task is reserved.
//
// A feed that was loaded begins without clients, and is forgotten after Retain unless one comes.
func (h *Hub) found(ctx context.Context, task string) (*Feed, error) {
	h.mu.Lock()
	f := h.tasks[task]
	h.mu.Unlock()
	if f != nil {
		err := f.shared.refresh(ctx, false) // what is here is better than nothing
		f.mu.Lock()
		defer f.mu.Unlock()
		if err != nil || !f.gone {
			return f, nil
		}
	}
	f, err := h.load(ctx, task)
	h.evict()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tip() == 0 || err != nil {
		f.forget()
		return nil, err
	}
	if f.settled {
		h.conclude(ctx, f)
	}
	f.desert()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks[task] = f
	return f, nil
}

// conclude ends a feed, which is locked, whose task has ended, unless another replica reads
// what its agent sends behind that. The task is reserved.
func (h *Hub) conclude(ctx context.Context, f *Feed) {
	free, err := h.draw(ctx, f.task, 1)
	if err != nil || !free {
		return
	}
	f.phase, f.shared.following = ended, false
	h.release(ctx, f.task)
}

// isHere reports whether nobody else can know more of the feed.
func (f *Feed) isHere() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.shared.following && !f.gone
}

// refresh reads what another replica has written to the log of a feed that follows it;
// not more than the fastest client has room for, unless it is to be all.
//
// Entries stay in the log until there is room, so that a slow client of this replica does not
// cost those of the other anything.
func (l *sharedLog) refresh(ctx context.Context, all bool) error {
	f := l.feed
	f.mu.Lock()
	following, after, name := l.following, f.tip(), logName(f.task)
	f.mu.Unlock()
	if !following {
		return nil
	}
	tail, err := f.hub.logs.Read(ctx, name, after, f.hub.settings().Buffer.Events)
	if err != nil {
		return err
	}
	records, err := readRecords(tail.Entries)
	if err != nil {
		return err
	}
	defer f.hub.evict()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !l.following || f.tip() != after {
		return nil // somebody else has
	}
	if tail.Last < after || len(records) > 0 && f.isOther(records[0].epoch) {
		l.astray()
		return nil
	}
	if tail.From > after+1 {
		f.skip(tail.From - 1)
	}
	for _, r := range records {
		it := r.item()
		if !all {
			if full, _ := f.full(it.cost); full {
				break
			}
		}
		f.reign(f.tip()+1, r.epoch)
		f.push(it)
	}
	return nil
}

// astray ends a feed whose log has been forgotten.
func (l *sharedLog) astray() {
	f := l.feed
	l.following, f.phase = false, lost
	for _, c := range f.cursors {
		c.fail(errGap, 0)
	}
	f.stir()
	f.forget()
}

// watch follows another replica's log while there are clients.
func (l *sharedLog) watch() {
	f := l.feed
	if !l.following || l.watched || len(f.cursors) == 0 || !f.hub.employ() {
		return
	}
	l.watched = true
	go l.follow()
}

// employ counts a goroutine that asks the state; false when the hub is closed.
func (h *Hub) employ() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.wait.Add(1)
	}
	return !h.closed
}

// follow reads the log every 100 ms, less often while nothing comes, and every second sees
// whether the lease is free. It ends with the last client.
func (l *sharedLog) follow() {
	f := l.feed
	h := f.hub
	defer h.wait.Done()
	pause := followSoon
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-h.ctx.Done():
		}
		f.mu.Lock()
		tip := f.tip()
		if !l.following || len(f.cursors) == 0 || h.ctx.Err() != nil {
			l.watched = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		if err := l.look(pause == followLate || l.hasSettled()); err != nil {
			h.log.Warn("another replica's stream of a task cannot be read now", "error", err)
		}
		f.mu.Lock()
		if pause = min(2*pause, followLate); f.tip() != tip {
			pause = followSoon
		}
		f.mu.Unlock()
		timer.Reset(pause)
	}
}

// hasSettled reports whether the feed's newest entry was the last. Then it ends as soon as
// nobody holds the lease, and the replica that had it has read its agent's stream to its end.
func (l *sharedLog) hasSettled() bool {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settled
}

// look reads the log; once it has been silent for a while, it is seen whether anybody
// holds the lease.
func (l *sharedLog) look(lease bool) error {
	f := l.feed
	ctx, cancel := context.WithTimeout(f.hub.ctx, storeTimeout)
	defer cancel()
	if !lease {
		return l.refresh(ctx, false)
	}
	free, err := f.hub.reserve(ctx, f.task)
	if err != nil {
		return err
	}
	defer free()
	if _, err := l.regain(ctx); err != nil {
		return err
	}
	return l.refresh(ctx, false)
}

// regain takes the lease of a feed that follows a log, where nobody else has it. The
// task is reserved. It tells whether the feed is this replica's.
func (l *sharedLog) regain(ctx context.Context) (bool, error) {
	f := l.feed
	f.mu.Lock()
	following, mine := l.following, l.lease
	if mine {
		l.release = false
	}
	f.mu.Unlock()
	if !following {
		return mine, nil
	}
	ok, err := f.hub.draw(ctx, f.task, 1)
	if err != nil || !ok {
		return false, err
	}
	// What was written before the lease was free counts.
	for read := true; read; {
		f.mu.Lock()
		before := f.tip()
		f.mu.Unlock()
		if err := l.refresh(ctx, true); err != nil {
			f.hub.release(ctx, f.task)
			return false, err
		}
		f.mu.Lock()
		read = l.following && f.tip() != before
		f.mu.Unlock()
	}
	return l.regained(ctx), nil
}

// regained makes the feed this replica's, now that all of the log has been read. A task that has
// ended needs nobody, and its lease is given back.
func (l *sharedLog) regained(ctx context.Context) bool {
	f := l.feed
	f.mu.Lock()
	if !l.following { // it has ended, or is forgotten
		f.mu.Unlock()
		f.hub.release(ctx, f.task)
		return false
	}
	if f.settled {
		f.phase, l.following = ended, false
		f.stir()
		f.mu.Unlock()
		f.hub.release(ctx, f.task)
		return false
	}
	defer f.mu.Unlock()
	l.holds(f.tip())
	f.succeeds()
	f.phase, f.leader, f.over = lost, nil, nil
	if f.rests {
		f.phase = rested
	}
	f.stir()
	if len(f.cursors) == 0 {
		l.surrender()
	}
	return true
}

// surrender has the lease of a feed given back that nobody needs here.
func (l *sharedLog) surrender() {
	if l.lease {
		l.release = true
		l.mark()
	}
}
