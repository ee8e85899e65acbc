package stream

import "time"

// push adds an entry, and lets go of the oldest that have no room beside it.
func (f *Feed) push(it item) {
	h := f.hub
	if f.kept.n == 0 {
		h.feeds.Add(1)
	}
	f.kept.push(it)
	f.bytes += it.cost
	h.bytes.Add(it.cost)
	events, bytes := f.bounds(0)
	for f.kept.n > 1 && (f.kept.n > events || f.bytes > bytes) {
		f.drop()
	}
	f.settled, f.rests = it.Last, it.Rest
	f.stir()
	if f.task != "" && len(f.cursors) == 0 {
		f.wait()
	}
}

// drop lets go of the oldest entry.
func (f *Feed) drop() {
	cost := f.kept.drop()
	f.start++
	f.bytes -= cost
	f.hub.bytes.Add(-cost)
	if f.kept.n == 0 {
		f.hub.feeds.Add(-1)
	}
}

func (f *Feed) clear() {
	for f.kept.n > 0 {
		f.drop()
	}
}

// bounds are how many events and bytes may be kept when cost more are. While all feeds
// keep too much, one with more than its share keeps its newest entry only.
func (f *Feed) bounds(cost int64) (events int, bytes int64) {
	b, h := f.hub.Config.Buffer, f.hub
	if total := int64(b.Total); h.bytes.Load()+cost > total && f.bytes > total/max(h.feeds.Load(), 1) {
		return 1, 0
	}
	return b.Events, int64(b.Bytes)
}

// full reports whether an entry of that cost has to wait: it would put one away that
// not even the fastest client has. Without clients nothing waits, unless the first one
// has yet to come.
func (f *Feed) full(cost int64) bool {
	events, bytes := f.bounds(cost)
	n, size := f.kept.n+1, f.bytes+cost
	if n <= events && size <= bytes {
		return false
	}
	fastest, any := f.start, !f.joined
	for _, c := range f.cursors {
		if c.err == nil {
			fastest, any = max(fastest, c.pos), true
		}
	}
	if !any {
		return false
	}
	for i := 0; i < f.kept.n && (n > events || size > bytes); i++ {
		if f.start+uint64(i) >= fastest {
			return true
		}
		n, size = n-1, size-f.kept.at(i).cost
	}
	return false
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
		return f.source
	}
	f.wait()
	after := f.hub.Config.Retain.Std()
	if f.source != nil {
		if after = f.hub.Config.Linger.Std(); after == 0 {
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
	f.clear()
	f.attend()
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks[f.task] == f {
		delete(h.tasks, f.task)
	}
}

// shut ends a feed with its hub.
func (f *Feed) shut() {
	f = f.lock()
	defer f.mu.Unlock()
	for _, c := range f.cursors {
		c.fail(ErrDraining, 0)
		c.stir()
	}
	f.forget()
}

// squeeze makes room while all feeds together keep too much.
func (h *Hub) squeeze() {
	for h.bytes.Load() > int64(h.Config.Buffer.Total) {
		h.mu.Lock()
		f := h.idle.first
		if f != nil {
			h.idle.leave(f)
		}
		h.mu.Unlock()
		if f == nil {
			return
		}
		f.mu.Lock()
		if len(f.cursors) == 0 {
			f.clear()
		}
		f.mu.Unlock()
	}
}
