package state

import "container/list"

// The order of webhook deliveries, and of whatever else is queued: items of one line are handed out as
// they were pushed, one at a time. Lines know nothing of each other.

// lane is the items of one line: those that wait in their order, and the dead.
type lane struct{ waiting, buried list.List }

// add puts an item at the end of its line.
func (b *backlog) add(w *work) {
	b.last++
	w.number, w.place = b.last, behind
	r := b.lines[w.line]
	if r == nil {
		r = new(lane)
		b.lines[w.line] = r
	}
	w.element = r.waiting.PushBack(w)
	b.works[w.id] = w
	b.waiting.Set(w.id, w)
	b.stake(w.owner).waiting++
	b.age.Set(w)
	b.lead(r)
}

// lead makes the first of a line known as that.
func (b *backlog) lead(r *lane) {
	if first := r.waiting.Front(); first != nil {
		if w, ok := first.Value.(*work); ok && w.place == behind {
			b.move(w, free, w.due)
		}
	}
}

// move gives an item another place.
func (b *backlog) move(w *work, to standing, at int64) {
	if t := b.at[w.place]; t != nil {
		t.Delete(w)
	}
	w.place, w.at = to, at
	if t := b.at[to]; t != nil {
		t.Set(w)
	}
}

// bury takes an item that waits out of the way of its line.
func (b *backlog) bury(w *work, until int64) {
	r := b.lines[w.line]
	r.waiting.Remove(w.element)
	w.element = r.buried.PushBack(w)
	b.waiting.Delete(w.id)
	b.age.Delete(w)
	b.buried.Set(w.id, w)
	b.move(w, dead, until)
	s := b.stake(w.owner)
	s.waiting--
	s.dead.Set(w)
	b.lead(r)
}

// remove forgets an item.
func (b *backlog) remove(w *work) {
	r, s := b.lines[w.line], b.stake(w.owner)
	if w.place == dead {
		r.buried.Remove(w.element)
		b.buried.Delete(w.id)
		s.dead.Delete(w)
	} else {
		s.waiting--
		r.waiting.Remove(w.element)
		b.waiting.Delete(w.id)
		b.age.Delete(w)
	}
	b.move(w, behind, 0)
	delete(b.works, w.id)
	b.lead(r)
	if r.waiting.Len()+r.buried.Len() == 0 {
		delete(b.lines, w.line)
	}
	if s.waiting+s.dead.Len() == 0 {
		delete(b.stakes, w.owner)
	}
}

// removeLine removes all notifications of a line, and says how many those were.
func (b *backlog) removeLine(line string) int {
	r := b.lines[line]
	if r == nil {
		return 0
	}
	n := r.waiting.Len() + r.buried.Len()
	for _, l := range []*list.List{&r.buried, &r.waiting} {
		// From the end, so that nobody else becomes the first.
		for e := l.Back(); e != nil; e = l.Back() {
			if w, ok := e.Value.(*work); ok {
				b.remove(w)
			}
		}
	}
	return n
}

// settle gives items whose lease has ended back, and forgets some of the dead whose time
// has come.
func (b *backlog) settle(now int64) {
	for w, ok := b.at[leased].Min(); ok && w.at <= now; w, ok = b.at[leased].Min() {
		b.move(w, free, w.due)
	}
	for range buries {
		w, ok := b.at[dead].Min()
		if !ok || w.at > now {
			return
		}
		b.remove(w)
	}
}
