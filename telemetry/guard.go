package telemetry

// GuardFinding is what a guard found in messages and artifacts: never the text.
type GuardFinding struct {
	Guard  string // its name
	On     string // request, answer or event
	Kind   string // what it was, by the guard's use
	Part   int    // index of the part in its message or artifact; -1 for none, or several
	Count  int64
	Action string // report, redact, refuse or passed
	Shadow bool   // nothing came of it
}

// AddGuardFinding adds a finding to a list, or its count to that of one like it.
func AddGuardFinding(list []GuardFinding, f GuardFinding) []GuardFinding {
	for i := range list {
		n := list[i].Count
		like := list[i]
		if like.Count = f.Count; like == f {
			list[i].Count = n + f.Count
			return list
		}
	}
	return append(list, f)
}

// maxGuardFindings bounds those that a line shows.
const maxGuardFindings = 12

// appendGuards appends how much guards have found, and the first of it, each as an object; on a
// terminal as one text.
func appendGuards(l *Line, all []GuardFinding) {
	if len(all) == 0 {
		return
	}
	l.Int("guard_finding_count", guardFindings(all))
	l.key("guards")
	open := byte('[')
	for i := range all[:min(len(all), maxGuardFindings)] {
		l.buf = append(l.buf, open)
		l.guard(&all[i])
		open = ','
	}
	l.buf = append(l.buf, ']')
}

// guardFindings is how much was found.
func guardFindings(all []GuardFinding) (n int64) {
	for i := range all {
		n += all[i].Count
	}
	return n
}

// guard appends one as an object, which is an element of a list and has no name.
func (l *Line) guard(f *GuardFinding) {
	if l.text {
		l.value(f.Guard+" found "+f.Kind+" in the "+f.On+": "+f.Action, MaxText)
		return
	}
	at := len(l.buf)
	l.name("guard", f.Guard)
	l.name("on", f.On)
	l.name("kind", f.Kind)
	if f.Part >= 0 {
		l.Int("part", int64(f.Part))
	}
	l.Int("count", f.Count)
	l.name("action", f.Action)
	l.Flag("shadow", f.Shadow)
	l.buf = append(l.buf, '}')
	l.buf[at] = '{' // for the comma of the first member
}
