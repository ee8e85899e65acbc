package anomaly

// opened is a task that has not ended, as far as is known.
type opened struct {
	by    key
	slice int64 // in which it was counted
}

// openTasks counts the tasks of callers that have begun within a window and not ended.
type openTasks struct {
	callers[tally, *tally]
	room  int
	tasks table[opened]
}

// hoard is how many times the threshold a caller may have of the tasks that are
// remembered: there is no need to know of more, and others need the room.
const hoard = 2

func (d *openTasks) configure(set settings, now moment) {
	d.mu.Lock()
	if d.set != set {
		d.tasks = newTable[opened](d.room)
	}
	d.mu.Unlock()
	d.callers.configure(set, now)
}

// see counts a task that a call has left unfinished, once.
func (d *openTasks) see(task uint64, s *sighting) {
	d.mu.Lock()
	defer d.unlock()
	if d.off() {
		return
	}
	at := d.slice(s.now)
	c := d.of(s.key, s.now)
	// A task that many calls leave unfinished counts once per window.
	if t := d.tasks.find(task); t != nil && at-t.slice < parts {
		return
	}
	n := c.count(at)
	if n < hoard*d.set.threshold {
		t, had := d.tasks.take(task, s.now.since)
		if !had {
			d.close(t, at)
		}
		n = c.add(at)
		*t = opened{by: s.key, slice: c.at}
	}
	d.judge(c, n, s)
}

// finished counts a task no more. Whoever has ended it: an agent that is done, a webhook that says
// so, another caller who may cancel it.
func (d *openTasks) finished(task uint64, now moment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off() {
		return
	}
	if t := d.tasks.find(task); t != nil {
		d.close(t, d.slice(now))
		d.tasks.drop(task)
	}
}

// close takes a task back from the caller that it was counted for, if it was.
func (d *openTasks) close(t *opened, at int64) {
	if t.by.hash == 0 {
		return // a place that nobody had
	}
	if c := d.tables[t.by.table].find(t.by.hash); c != nil {
		c.take(t.slice, at)
	}
}
