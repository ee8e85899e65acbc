package translate

import (
	"time"
)

// value writes the value of a member; raw is what the source has, v what its whole
// object has. It returns false when there is nothing to say, and may have written
// some of it then.
//
// The caller of value has written the member's name and takes it back when value returns false: so
// a value is never looked at twice to find out whether it is worth a name.
func (w *writer) value(m *member, raw []byte, v *values) bool {
	switch m.is {
	case aTaskID, aContextID, ownTaskID, ownContextID:
		return w.id(m.is, raw)
	case aMessageID, anArtifactID, anIndex, anAppend, aLastChunk, aFinal:
		return w.derived(m.is, raw, v)
	case aRole:
		return w.role(raw)
	case aState:
		return w.state(raw)
	case aPartList:
		return w.parts(raw)
	case aStatus:
		return w.status(raw)
	}
	if m.is >= aTenant {
		return w.param(m, raw)
	}
	if raw == nil {
		return false
	}
	switch m.is {
	case anObject:
		w.object(m.of, raw)
	case aList:
		return w.list(m.of, raw, nil)
	case aHistory:
		return w.list(m.of, raw, w.history)
	case aTime:
		return w.time(raw)
	default:
		w.raw(raw)
	}
	return true
}

// list writes the last keep objects of a list, all for nil. An empty one is left
// out; copied within a dialect, it stays.
//
// Only history has a keep. The last messages are kept (historyLength), and a 0 keeps
// none, whatever an agent sends that takes 0 for "not said".
func (w *writer) list(o *object, raw []byte, keep *int) bool {
	if !isArray(raw) {
		w.broken("a list of " + o.name + " is not an array")
		return false
	}
	skip := 0
	if keep != nil {
		for range elements(raw) {
			skip++
		}
		skip = max(skip-*keep, 0)
	}
	w.literal("[")
	n, written := 0, 0
	for value := range elements(raw) {
		if n++; n <= skip {
			continue
		}
		w.comma()
		w.position = n - 1
		w.object(o, value)
		written++
	}
	w.literal("]")
	return written > 0 || skip == 0 && w.from == w.to
}

// status writes the status of a task, which no version lets be missing.
func (w *writer) status(raw []byte) bool {
	if raw == nil {
		raw = []byte("{}")
	}
	w.object(statusObject, raw)
	return true
}

var valueRules = []rule{
	{every, every, refused, "A caller's role that is neither user nor agent: `INVALID_PARAMS`. An agent's is taken for agent."},
	{after01, only01, changed, "The state `rejected` becomes `failed`, and `auth-required` becomes `input-required`."},
	{every, every, changed, "A state that no version has becomes unknown (unspecified)."},
	{every, every, added, "A status whose state is unknown, for a task that has none."},
	{every, kinded, added, "An empty list of parts where there is none."},
	{kinded, proto, changed, "Timestamps become RFC 3339 in UTC; those without a zone are taken for UTC."},
	{kinded, proto, lost, "Timestamps that cannot be read."},
	{every, every, changed, "`history` is cut to the `historyLength` that the caller gave, whatever the agent makes of it."},
	{every, every, lost, "Empty lists of history and artifacts, and members that are null."},
}

// role writes a role. A caller must name one; an agent that names none, or one that
// nobody knows, speaks for itself.
//
// An agent's message that claims no role must be the agent's: it came from there.
func (w *writer) role(raw []byte) bool {
	n, ok := number(roles[:], raw)
	if !ok {
		if w.call != nil {
			w.broken("message.role is neither user nor agent")
		}
		n = 2
	}
	w.word(w.spelled(roles[n]))
	return true
}

// state writes a task state; what no version has becomes "unknown".
func (w *writer) state(raw []byte) bool {
	n, _ := number(states[:], raw)
	w.word(w.spelled(states[n]))
	return true
}

// rfc3339 is what 1.0 asks for: UTC, milliseconds (A2A 1.0 §5.6.1).
const rfc3339 = "2006-01-02T15:04:05.000Z"

// stamps are how times are written in the field. Those of Python often have no
// zone; they are taken for UTC.
var stamps = [...]string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05",
}

// time writes a timestamp. Before 1.0 it is any text; ProtoJSON knows RFC 3339
// only, and an agent's clock must not cost its answer, so others are left out.
//
//	2026-01-02T15:04:05Z               copied
//	2026-01-02T17:04:05.5+02:00        "2026-01-02T15:04:05.500Z"
//	2026-01-02T15:04:05.123456         "2026-01-02T15:04:05.123Z", as Python's isoformat of a naive time
//	yesterday                          left out toward ProtoJSON, copied toward 0.1 and 0.3
func (w *writer) time(raw []byte) bool {
	if w.to == d01 || w.to == d03 || isUTC(raw) {
		w.raw(raw)
		return true
	}
	for _, layout := range stamps {
		t, err := time.Parse(layout, string(inside(raw)))
		if t = t.UTC(); err == nil && 1 <= t.Year() && t.Year() <= 9999 {
			w.word(t.Format(rfc3339))
			return true
		}
	}
	return false
}

// isUTC reports whether a JSON string is a time that ProtoJSON takes as it stands:
// "YYYY-MM-DDTHH:MM:SS[.fraction]Z" with at most nine digits of fraction.
func isUTC(raw []byte) bool {
	const shortest, point, longest = len(`"2006-01-02T15:04:05Z"`), len(`"2006-01-02T15:04:05`), len(`"2006-01-02T15:04:05.999999999Z"`)
	if len(raw) < shortest || len(raw) > longest || raw[len(raw)-2] != 'Z' || raw[point] != '.' && raw[point] != 'Z' {
		return false
	}
	t, err := time.Parse(time.RFC3339, string(raw[1:len(raw)-1]))
	return err == nil && t.Year() >= 1
}
