package stream

// line is the order in which feeds without clients give up what they keep. The hub's
// mutex guards it.
type line struct{ first, last *Feed }

// join puts f at the end.
func (l *line) join(f *Feed) {
	if f.inLine {
		l.leave(f)
	}
	f.inLine, f.before, f.behind = true, l.last, nil
	if l.last != nil {
		l.last.behind = f
	} else {
		l.first = f
	}
	l.last = f
}

// leave takes f out, wherever it stands; of a feed that is not in line it does nothing.
func (l *line) leave(f *Feed) {
	if !f.inLine {
		return
	}
	if f.before != nil {
		f.before.behind = f.behind
	} else {
		l.first = f.behind
	}
	if f.behind != nil {
		f.behind.before = f.before
	} else {
		l.last = f.before
	}
	f.inLine, f.before, f.behind = false, nil, nil
}
