package telemetry

import (
	"slices"
	"strconv"
)

// extensionMetrics are about extensions, and about what bodies say that they may not.
type extensionMetrics struct {
	// Negotiated counts each that a client asked for once, and those that the gateway
	// injected: activated or inactive by what the agent said, provided by the gateway in its
	// place, refused where known and not permitted, or injected.
	Negotiated counterVec `metric:"extensions_negotiated_total{uri,result=activated|inactive|refused|injected|provided}" help:"Extensions that clients asked for, and those that were injected."`
	// Violations are enforced where the call was refused or the place removed.
	Violations counterVec `metric:"extension_violations_total{uri,fault=$faults,enforced=true|false}" help:"What bodies held against extensions, or of files against the rules for them."`
}

// What became of an extension in a call, as indices of uriSeries.
const (
	resultActivated = iota
	resultInactive
	resultRefused
	resultInjected
	resultProvided
)

var resultNames = [...]string{
	resultActivated: "activated", resultInactive: "inactive", resultRefused: "refused",
	resultInjected: "injected", resultProvided: "provided",
}

// Violation is one thing in a call that an extension, or A2A itself, does not allow.
type Violation struct {
	Extension string // URI; empty when it is nobody's, or A2A's
	Fault     string // one of faultNames
	Pointer   string // where, as a JSON Pointer (RFC 6901) into the body; empty for the whole
	Text      string // what is wrong, without the value
	Enforced  bool   // something came of it: the call was refused, or the place removed
	More      int    // further ones like it, of which nothing else is recorded
}

// faultNames are the values of Violation.Fault, and of the fault label. What is not
// one of them is counted as the last.
var faultNames = [...]string{
	"unrequested",   // stands in a body and is not active in the call
	"undeclared",    // stands in a body and is nobody's that is known
	"schema",        // breaks a schema of the extension, or of the skill
	"transition",    // a task went where the extension's states do not lead
	"conformance",   // a member or a value that A2A does not define
	"not_activated", // required, and the agent did not activate it
	"hook",          // a hook refused the call
	"modes",         // a media type that neither the skill nor the card lists
	"file_uri",      // the URI of a file leads where it may not, or is none
	"file_type",     // a file is of a type that files may not have
	"file_size",     // a file is too large, or one too many
	"file_name",     // the name of a file leads elsewhere
	labelOther,
}

// faultIndex is the place of a fault in faultNames.
func faultIndex(fault string) int {
	for i, name := range faultNames {
		if name == fault {
			return i
		}
	}
	return len(faultNames) - 1
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

// violated is how many violations there are.
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

// countExtensions counts what became of each extension that the client asked for. What comes first here
// decides where a URI is in several of the lists.
func (m *Metrics) countExtensions(sets *labelSet, e *Exchange) {
	for _, uri := range e.ExtensionsRequested {
		result := resultInactive
		switch {
		case slices.Contains(e.ExtensionsProvided, uri): // activated too, though not by the agent
			result = resultProvided
		case slices.Contains(e.ExtensionsActivated, uri):
			result = resultActivated
		case slices.Contains(e.ExtensionsRefused, uri):
			result = resultRefused
		}
		m.countExtension(sets, uri, result)
	}
	for _, uri := range e.ExtensionsInjected {
		m.countExtension(sets, uri, resultInjected)
	}
}

// countExtension counts one.
func (m *Metrics) countExtension(sets *labelSet, uri string, result int) {
	cell := &bounded(sets.uris, uri).results[result]
	p := cell.Load()
	if p == nil {
		counter := m.extensions.Negotiated.WithLabelValues(member(sets.uris, uri), resultNames[result])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
}

// countViolations counts them all, those of which nothing else is recorded included.
func (m *Metrics) countViolations(sets *labelSet, e *Exchange) {
	for i := range e.Violations {
		v := &e.Violations[i]
		fault, enforced := faultIndex(v.Fault), 0
		if v.Enforced {
			enforced = 1
		}
		cell := &bounded(sets.uris, v.Extension).faults[fault][enforced]
		p := cell.Load()
		if p == nil {
			counter := m.extensions.Violations.WithLabelValues(member(sets.uris, v.Extension), faultNames[fault],
				strconv.FormatBool(v.Enforced))
			p = &counter
			cell.Store(p)
		}
		(*p).Add(float64(1 + v.More))
	}
}
