package stream

import "context"

// Bind makes f the feed of a task, so that others can find and join it; task is any
// bytes that name the task and its agent. Its entries have numbers from then on. Where
// the task has a feed without a source already, f becomes a part of it and goes on with
// its numbers. False: the task has a feed with a source, here or on another replica, or
// has ended, or its feed speaks differently; f goes on as before.
//
// With logs it takes the lease on the task first, and gives it back where the feed could not be
// bound.
func (f *Feed) Bind(ctx context.Context, task string) (bool, error) {
	if !f.hub.persists() {
		return f.bind(task, false), nil
	}
	if mine, other := f.isOf(task); mine || other {
		return mine, nil
	}
	free, err := f.hub.reserve(ctx, task)
	if err != nil {
		return false, err
	}
	defer free()
	old, err := f.hub.found(ctx, task)
	if err != nil {
		return false, err
	}
	var mine bool
	if old == nil {
		mine, err = f.hub.draw(ctx, task, 1)
	} else {
		mine, err = old.shared.regain(ctx)
	}
	if err != nil || !mine {
		return false, err
	}
	if f.bind(task, old == nil) {
		return true, nil
	}
	if old == nil {
		f.hub.release(ctx, task)
		return false, nil
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	if old.source == nil && len(old.cursors) == 0 {
		old.shared.surrender()
	}
	return false, nil
}

// isOf reports whether f is bound already, to this task or to another.
func (f *Feed) isOf(task string) (mine, other bool) {
	f = f.lock()
	defer f.mu.Unlock()
	return f.task == task, f.task != "" && f.task != task
}

// bind binds a feed as far as this process is concerned. logged says that a log begins
// with it.
//
// It tries again where the task's feed was forgotten between the two locks.
func (f *Feed) bind(task string, logged bool) bool {
	for {
		old, done := f.claim(task, logged)
		if done {
			return old == nil
		}
		old.mu.Lock()
		if old.gone {
			old.mu.Unlock()
			continue
		}
		bound := old.source == nil && !old.shared.following && old.phase != ended && old.form == f.form && old.adopt(f)
		old.mu.Unlock()
		return bound
	}
}

// claim binds a feed to a task that has none. Else it gives the task's feed; done says
// that there is nothing left to do.
func (f *Feed) claim(task string, logged bool) (old *Feed, done bool) {
	f = f.lock()
	defer f.mu.Unlock()
	if f.task != "" {
		if f.task != task {
			return f, true
		}
		return nil, true
	}
	h := f.hub
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return f, true
	}
	if old = h.tasks[task]; old != nil {
		h.mu.Unlock()
		return old, false
	}
	h.tasks[task], f.task = f, task
	h.mu.Unlock()
	f.begins()
	f.reopen()
	if logged {
		f.shared.holds(0)
		f.shared.mark()
	}
	if f.joined && len(f.cursors) == 0 && f.source == nil {
		f.desert()
	}
	return nil, true
}

// reopen looks again at how the source ended, now that the feed is a task's: others
// may be opened.
func (f *Feed) reopen() {
	switch {
	case f.phase != ended || f.settled:
	case f.over == nil && f.rests:
		f.phase = rested
	default:
		if f.phase = lost; f.over != nil && refused(f.over) { // and some clients have come since
			f.fail(f.over)
		}
	}
}

// adopt makes part a part of f. Both are locked by then; false when part is not free.
//
// The part's entries get the next numbers of f, and its cursors move along. A leader of before is
// none any more, since there is a source again.
func (f *Feed) adopt(part *Feed) bool {
	part.mu.Lock()
	defer part.mu.Unlock()
	if part.to != nil || part.task != "" {
		return false
	}
	shift := f.tip()
	if part.start > 0 {
		f.skip(shift + part.start)
	}
	for part.kept.n > 0 {
		it := *part.kept.at(0)
		part.drop()
		f.push(it)
	}
	for _, c := range part.cursors {
		c.pos, c.until = c.pos+shift, c.until+shift
	}
	f.cursors = append(f.cursors, part.cursors...)
	f.company()
	if part.source != nil {
		part.source.until = 0 // in numbers that do not count any more
	}
	f.source, f.phase, f.over, f.leader = part.source, part.phase, part.over, nil
	part.to, part.source, part.cursors = f, nil, nil
	f.shared.release = false
	part.attend()
	if f.reopen(); len(f.cursors) > 0 {
		f.joined = true
		f.attend()
	}
	if f.stir(); f.phase == ended && f.source == nil {
		f.shared.surrender()
	}
	return true
}
