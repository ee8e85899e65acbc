package translate

import (
	"math"
	"strconv"
)

// settings are what a caller may choose about the answer, wherever its version
// puts it.
type settings struct {
	modes    []byte // acceptedOutputModes
	push     []byte // the webhook
	history  *int   // messages of history wanted, nil for all
	blocking bool   // wait for the end of the task
}

var settingRules = []rule{
	{only01, after01, added, "Blocking: a 0.1 call waits for the end of the task, and says so to the agent."},
	{after01, only01, changed, "0.1 has no say in waiting: a caller that wants to wait is kept waiting by the gateway, " +
		"which asks the agent for the task until it rests."},
	{onlyD03, after01, changed, "`blocking` that is absent is said as true, as the SDKs' servers take it."},
	{onlyP03, every, changed, "`blocking` that is absent is false if there is a `configuration`, else true: ProtoJSON " +
		"cannot tell absent from false."},
	{[]dialect{d03, p03}, only10, changed, "`blocking` becomes its opposite, `returnImmediately`, and is always said."},
	{only10, []dialect{d03, p03}, changed, "`returnImmediately` becomes its opposite, `blocking`, and is always said."},
	{every, onlyP03, lost, "A `historyLength` of 0, which ProtoJSON cannot tell from none; the gateway cuts the history."},
	{onlyP03, every, changed, "A `historyLength` of 0 is none at all, except in a query."},
	{every, onlyD03, added, "`acceptedOutputModes` from the agent's card, if the caller has none: agents of 0.2 require it, and those on fasta2a."},
	{every, every, refused, "A `historyLength` that is no number of messages, a `blocking` or `returnImmediately` that is " +
		"not a boolean: `INVALID_PARAMS`."},
}

// readSettings finds the settings in the params of a send. Whether a call waits is
// said differently everywhere, and absent means something else each time:
// 0.1 has no say and waits; on 0.3's JSON-RPC the SDKs' servers wait unless told
// otherwise; ProtoJSON cannot tell absent from false, so that there a
// configuration without "blocking" does not wait; in 1.0 absent is waiting.
func readSettings(w *writer, v *values) {
	s := &w.settings
	s.blocking = true
	if w.from == d01 {
		s.push, s.history = v[sendPush], countOf(w, v[sendHistory])
		return
	}
	raw := v[sendConfiguration]
	if raw == nil {
		return
	}
	if !isObject(raw) {
		w.broken("configuration is not an object")
		return
	}
	var c values
	settingsObject.gather(w.from, raw, &c)
	s.modes, s.push, s.history = c[setModes], c[setPush], countOf(w, c[setHistory])
	switch {
	case w.from == p03 || c[setBlock] != nil:
		s.blocking = isSet(w, c[setBlock])
	case c[setReturn] != nil:
		s.blocking = !isSet(w, c[setReturn])
	case w.from == d10: // of the release candidate
		block := lookup(raw, "blocking")
		s.blocking = block == nil || isSet(w, block)
	}
}

// isSet reads a boolean of the configuration: blocking, or what 1.0 has for its opposite. Absent is
// false, and anything else an error.
//
// "true" in quotes is an error and not a true: the agent's parser would refuse it, and one that did not
// might take every string for true.
func isSet(w *writer, raw []byte) bool {
	if raw != nil && string(raw) != "true" && string(raw) != "false" {
		w.broken("blocking is neither true nor false")
	}
	return isTrue(raw)
}

// countOf reads a number of messages, which ProtoJSON may have in quotes. There, 0 is
// what is said by saying nothing.
//
//	2, 2.0, "2"   2 messages: protojson writes 64-bit integers in quotes, and readers take both
//	-1, 1.5       INVALID_PARAMS
func countOf(w *writer, raw []byte) *int {
	if raw == nil {
		return nil
	}
	text := raw
	if isString(raw) {
		text = inside(raw)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f < 0 || f > math.MaxInt32 || f != math.Trunc(f) {
		w.broken("historyLength is not a number of messages")
		return nil
	}
	n := int(f)
	if n == 0 && w.from == p03 {
		return nil
	}
	return &n
}

// writeSetting writes one of the settings.
func writeSetting(w *writer, m *member, raw []byte) bool {
	s := &w.settings
	switch m.is {
	case aConfiguration:
		if w.from == w.to && !w.proper {
			w.object(m.of, raw)
			return true
		}
		w.literal("{")
		w.fields(m.of, new(values))
		w.literal("}")
	case aModeList:
		return writeModes(w)
	case aHistoryLength:
		if s.history == nil || w.quiet || *s.history == 0 && w.to == p03 {
			return false
		}
		w.number(*s.history)
	case aBlocking:
		w.out = strconv.AppendBool(w.out, s.blocking)
	case aReturn:
		w.out = strconv.AppendBool(w.out, !s.blocking)
	case aPushConfig:
		if s.push == nil {
			return false
		}
		writeWebhook(w, readConfig(w.from, s.push))
	}
	return true
}

// writeModes writes acceptedOutputModes, which agents of 0.2 require, and those on fasta2a.
func writeModes(w *writer) bool {
	if w.settings.modes != nil {
		w.raw(w.settings.modes)
		return true
	}
	if w.to != d03 || len(w.target.OutputModes) == 0 {
		return false
	}
	w.literal("[")
	for _, mode := range w.target.OutputModes {
		w.comma()
		w.text(mode)
	}
	w.literal("]")
	return true
}
