package telemetry

// Violation is one thing in a call that an extension, or A2A itself, does not allow.
type Violation struct {
	Extension string // URI; empty when it is nobody's, or A2A's
	Fault     string // a value of the label fault of metrics.Extensions: "schema", "unrequested"
	Pointer   string // where, as a JSON Pointer (RFC 6901) into the body; empty for the whole
	Text      string // what is wrong, without the value
	Enforced  bool   // something came of it: the call was refused, or the place removed
	More      int    // further ones like it, of which nothing else is recorded
}

// maxViolations bounds those that a line shows: an agent can make thousands in one
// answer.
const maxViolations = 16

// appendViolations appends how many violations there are and the first of them,
// each as an object; on a terminal as one text.
func appendViolations(l *Line, all []Violation) {
	if len(all) == 0 {
		return
	}
	l.Int("violation_count", int64(violated(all)))
	l.key("violations")
	open := byte('[')
	for i := range all[:min(len(all), maxViolations)] {
		l.buf = append(l.buf, open)
		l.violation(&all[i])
		open = ','
	}
	l.buf = append(l.buf, ']')
}

// violated is how many violations there are. It counts those as well of which only their
// number is known (More).
func violated(all []Violation) int {
	n := len(all)
	for i := range all {
		n += all[i].More
	}
	return n
}

// violation appends one as an object. It is written in place and not by Object, as it is an element
// of a list and has no name.
func (l *Line) violation(v *Violation) {
	if l.text {
		l.value(v.Fault+" "+v.Extension+" at "+v.Pointer+": "+v.Text, MaxText)
		return
	}
	at := len(l.buf)
	l.Str("extension", v.Extension)
	l.Str("fault", v.Fault)
	l.Str("pointer", v.Pointer)
	l.Str("text", v.Text)
	l.key("enforced") // false is told too: it is what a report is read for
	if v.Enforced {
		l.buf = append(l.buf, "true}"...)
	} else {
		l.buf = append(l.buf, "false}"...)
	}
	l.buf[at] = '{' // for the comma of the first member
}
