package exchange

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Judge records violations and refuses the document for the first that is enforced:
// the caller's as invalid params, the agent's as a bad response.
//
// All are recorded before the first is refused: the operator sees the whole fault and not its first
// line.
func (x *Exchange) Judge(found []content.Violation, answer bool) error {
	var first *content.Violation
	for i := range found {
		v := &found[i]
		v.Enforced = v.Enforced && !x.Shadows()
		x.Note(v)
		if v.Enforced && first == nil {
			first = v
		}
	}
	if first == nil {
		return nil
	}
	return RefuseFor(x.discreet(*first, answer), answer)
}

// discreet is a violation as the caller may hear of it. Extensions that were injected,
// or that an agent adds unasked, are none of the caller's business.
func (x *Negotiation) discreet(v content.Violation, answer bool) *content.Violation {
	switch {
	case v.Extension == "" || x.Shown.Has(v.Extension):
	case answer:
		v.Extension, v.Pointer, v.Text = "", "", "breaks the rules of an extension"
	case v.Fault == content.Invalid:
		v.Extension = ""
	}
	return &v
}

// ManyViolations is how many a call records one by one. A stream can bring some with
// every event, and last for days.
const ManyViolations = 64

// Note records a violation: as one more like another where there are many. Those of
// extensions that nobody has registered are then all alike, for anything can be one.
//
// A violation that is counted and not kept still shows in the number of one like it (More), so that
// the record's total is right.
func (x *Exchange) Note(v *content.Violation) {
	fault, kept := string(v.Fault), x.Rec.Violations
	if len(kept) >= ManyViolations {
		for i := range kept {
			k := &kept[i]
			if k.Fault == fault && k.Enforced == v.Enforced &&
				(k.Extension == v.Extension || !x.registered(k.Extension) && !x.registered(v.Extension)) {
				k.More++
				return
			}
		}
	}
	x.Rec.Violations = append(kept, telemetry.Violation{
		Extension: v.Extension, Fault: fault, Pointer: near(v.Pointer), Text: v.Text, Enforced: v.Enforced,
	})
}

func (x *Negotiation) registered(uri string) bool {
	_, ok := x.Book.Entry(uri)
	return ok
}

// near is a pointer, or, instead of one that is longer than anybody reads, that to
// something around it: names of members may be as long as a body.
func near(pointer string) string {
	const most = 512
	if len(pointer) <= most {
		return pointer
	}
	return pointer[:max(strings.LastIndexByte(pointer[:most+1], '/'), 0)]
}

// RefuseFor tells which extension, where and what. The value itself is not repeated.
//
//	INVALID_PARAMS  "Invalid parameters: /message/metadata/k: not a string (https://example.com/ext/v1)"
//	metadata        {"fault":"invalid","pointer":"/message/metadata/k","extension":"https://example.com/ext/v1"}
func RefuseFor(v *content.Violation, answer bool) *wire.Error {
	kind, whose := wire.InvalidParams, "Invalid parameters: "
	if answer {
		kind, whose = wire.BadAgentResponse, "the agent's answer: "
	}
	text, pointer := whose, near(v.Pointer)
	meta := map[string]string{"fault": string(v.Fault)}
	if pointer != "" {
		text += pointer + ": "
		meta["pointer"] = pointer
	}
	text += v.Text
	if v.Extension != "" {
		text += " (" + v.Extension + ")"
		meta["extension"] = v.Extension
	}
	e := wire.Errorf(kind, "%s", text)
	e.Meta = meta
	return e
}
