package metrics

import (
	"slices"
	"strconv"
)

// Extensions counts what becomes of A2A extensions in calls.
type Extensions struct {
	sets    *labelSets
	metrics extensionMetrics
}

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

// faultNames are the values of the label fault. What is not
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

// Negotiation is what became of extensions in a call: lists of URIs, of which one can be in
// several.
type Negotiation struct {
	Requested []string // by the client
	Provided  []string // by the gateway in the agent's place
	Activated []string // by the agent
	Refused   []string // known and not permitted
	Injected  []string // asked of the agent, that the client did not ask for
}

// Negotiated counts what became of each extension that a client asked for, and of each that was
// injected. What comes first here decides where a URI is in several of the lists.
func (x *Extensions) Negotiated(n Negotiation) {
	for _, uri := range n.Requested {
		result := resultInactive
		switch {
		case slices.Contains(n.Provided, uri): // activated too, though not by the agent
			result = resultProvided
		case slices.Contains(n.Activated, uri):
			result = resultActivated
		case slices.Contains(n.Refused, uri):
			result = resultRefused
		}
		x.negotiated(uri, result)
	}
	for _, uri := range n.Injected {
		x.negotiated(uri, resultInjected)
	}
}

// negotiated counts one.
func (x *Extensions) negotiated(uri string, result int) {
	uris := x.sets.Load().uris
	cell := &bounded(uris, uri).results[result]
	p := cell.Load()
	if p == nil {
		counter := x.metrics.Negotiated.WithLabelValues(member(uris, uri), resultNames[result])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
}

// Violated counts n things in a call that an extension, or A2A itself where uri is empty, does
// not allow. fault is one of faultNames; enforced is whether something came of it.
func (x *Extensions) Violated(uri, fault string, enforced bool, n int) {
	uris, index, came := x.sets.Load().uris, faultIndex(fault), 0
	if enforced {
		came = 1
	}
	cell := &bounded(uris, uri).faults[index][came]
	p := cell.Load()
	if p == nil {
		counter := x.metrics.Violations.WithLabelValues(member(uris, uri), faultNames[index], strconv.FormatBool(enforced))
		p = &counter
		cell.Store(p)
	}
	(*p).Add(float64(n))
}

// Negotiations are the series of extensions_negotiated_total.
func (x *Extensions) Negotiations() []Count { return countsOf(x.metrics.Negotiated.CounterVec) }

// Violations are the series of extension_violations_total.
func (x *Extensions) Violations() []Count { return countsOf(x.metrics.Violations.CounterVec) }
