package stream

import "time"

// push adds an entry, and lets go of the oldest that have no room beside it.
func (f *Feed) push(it item) {
	f.kept.push(it)
	f.bytes += it.cost
	f.hub.bytes.Add(it.cost)
	b := f.hub.settings().Buffer
	for f.kept.n > 1 && (f.kept.n > b.Events || f.bytes > int64(b.Bytes)) {
		f.drop()
	}
	f.settled, f.rests = it.Last, it.Rest
	if len(f.cursors) > 1 {
		now := time.Now()
		for _, c := range f.cursors {
			if c.pos+1 == f.tip() {
				c.active = now
			}
		}
	}
	f.stir()
	switch {
	case len(f.cursors) > 0:
	case f.task != "":
		f.wait()
	case f.stays() && f.joined:
		f.clear() // nobody else can come
	}
	if f.logged {
		f.mark()
	}
}

// retract takes the newest entry back, as if it had never been.
func (f *Feed) retract() {
	cost := f.kept.retract()
	f.bytes -= cost
	f.hub.bytes.Add(-cost)
	if f.settled, f.rests = false, false; f.kept.n > 0 {
		newest := f.kept.at(f.kept.n - 1)
		f.settled, f.rests = newest.Last, newest.Rest
	}
}

// drop lets go of the oldest entry.
func (f *Feed) drop() {
	if f.follower != nil {
		f.follower.Drop(f.entry(0))
	}
	cost := f.kept.drop()
	f.start++
	f.bytes -= cost
	f.hub.bytes.Add(-cost)
}

func (f *Feed) clear() {
	for f.kept.n > 0 {
		f.drop()
	}
}

// full reports whether an entry of that cost has to wait: it would put one away that
// not even the fastest client has, or that another one may still take its time for, which
// is left. Without clients nothing waits, unless the first one has yet to come. While all
// feeds keep too much, because their clients are behind, only one entry is kept ready for
// them.
func (f *Feed) full(cost int64) (full bool, left time.Duration) {
	start, ok := f.room(cost)
	if !ok {
		start = f.start // nobody else is waited for
	}
	left = f.late(start)
	return !ok || left > 0, left
}

// room is the number that start would have with an entry of that cost; not ok where the
// fastest client would lose by it.
func (f *Feed) room(cost int64) (start uint64, ok bool) {
	b := f.hub.settings().Buffer
	events, bytes := b.Events, int64(b.Bytes)
	if f.hub.bytes.Load() > int64(b.Total) {
		events, bytes = 1, 0
	}
	n, size := f.kept.n+1, f.bytes+cost
	if n <= events && size <= bytes {
		return f.start, true
	}
	fastest, i := f.fastest(), 0
	for ; i < f.kept.n && (n > events || size > bytes); i++ {
		if f.start+uint64(i) >= fastest {
			return 0, false
		}
		n, size = n-1, size-f.kept.at(i).cost
	}
	return f.start + uint64(i), true
}

// late is how long the source may still be held up for clients who would lose entries if
// those up to start were put away.
func (f *Feed) late(start uint64) (left time.Duration) {
	var now time.Time
	for _, c := range f.cursors {
		hinders := c.err == nil && c.pos >= f.start && c.pos < start
		if !hinders && c.held.IsZero() {
			continue
		}
		if now.IsZero() {
			now = time.Now()
		}
		if !hinders {
			c.release(now)
			continue
		}
		c.hold(now)
		left = max(left, f.hub.settings().Buffer.CatchUp.Std()-max(now.Sub(c.active), c.spent+now.Sub(c.held)))
	}
	return left
}

// enough is the number that a client must come to before a source that waits looks again:
// for one event's room at a time, each would take the other's turn. A client that lags
// behind others is waited for a moment only, and whatever it takes counts.
func (f *Feed) enough() uint64 {
	fastest := f.fastest()
	if behind := f.tip() - fastest; behind > 0 {
		return fastest + (behind+1)/2
	}
	return 0
}

// fastest is the number of the newest entry that some client has; with no client to wait
// for, of the newest there is.
func (f *Feed) fastest() uint64 {
	fastest, any := f.start, !f.joined
	for _, c := range f.cursors {
		if c.err == nil {
			fastest, any = max(fastest, c.pos), true
		}
	}
	if !any {
		return f.tip()
	}
	return fastest
}

// wait puts a feed without clients in line to give up what it keeps.
func (f *Feed) wait() {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if !f.inLine {
		h.idle.join(f)
	}
}

// desert begins the time of a feed without clients. It gives a source that is to be
// stopped at once.
func (f *Feed) desert() *source {
	if f.task == "" { // nobody else can come
		f.clear()
		if f.stays() {
			return nil
		}
		return f.source
	}
	f.wait()
	if f.stays() {
		return nil
	}
	after := f.hub.settings().Retain.Std()
	if f.source == nil {
		f.surrender()
	} else {
		if after = f.hub.settings().Linger.Std(); after == 0 {
			return f.source
		}
	}
	f.due = time.Now().Add(after)
	if f.timer != nil {
		f.timer.Reset(after)
	} else {
		f.timer = time.AfterFunc(after, f.expire)
	}
	return nil
}

// stays reports whether the feed has a source that is read to its end in any case.
func (f *Feed) stays() bool { return f.source != nil && f.source.Stays }

// expire ends the source of a feed that nobody has come back to; the next time, the
// feed is forgotten.
func (f *Feed) expire() {
	f = f.lock()
	if len(f.cursors) > 0 || f.timer == nil || time.Now().Before(f.due) {
		f.mu.Unlock()
		return
	}
	s := f.source
	if s == nil {
		f.forget()
	}
	f.mu.Unlock()
	s.stop(ErrGone)
}

// forget takes a feed out of the hub.
func (f *Feed) forget() {
	f.gone = true
	if f.retrial != nil {
		f.retrial.Stop()
	}
	f.clear()
	f.attend()
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks[f.task] == f {
		delete(h.tasks, f.task)
	}
}

// tell has all clients end with err at once.
func (f *Feed) tell(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.cursors {
		c.fail(err, 0)
	}
	f.stir()
}
