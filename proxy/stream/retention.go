package stream

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// attend ends what was begun when there were no clients.
func (f *Feed) attend() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	h := f.hub
	h.mu.Lock()
	h.idle.leave(f)
	h.mu.Unlock()
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
//
// The feed is locked, and the source is stopped by the caller once it is not.
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
		f.shared.surrender()
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
	s.stop(ending.ErrGone)
}

// forget takes a feed out of the hub.
//
// Cursors that are still there find it gone, and end with what they were told.
func (f *Feed) forget() {
	f.gone = true
	if f.shared.retrial != nil {
		f.shared.retrial.Stop()
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
