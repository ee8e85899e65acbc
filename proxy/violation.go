package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// judge records violations and refuses the document for the first that is enforced:
// the caller's as invalid params, the agent's as a bad response.
func (x *exchange) judge(found []content.Violation, answer bool) error {
	var first *content.Violation
	for i := range found {
		v := &found[i]
		x.rec.Violations = append(x.rec.Violations, telemetry.Violation{
			Extension: v.Extension, Fault: string(v.Fault), Pointer: v.Pointer, Text: v.Text, Enforced: v.Enforced,
		})
		if v.Enforced && first == nil {
			first = v
		}
	}
	if first == nil {
		return nil
	}
	return refuseFor(first, answer)
}

// refuseFor tells which extension, where and what. The value itself is not repeated.
func refuseFor(v *content.Violation, answer bool) *wire.Error {
	kind, whose := wire.InvalidParams, "Invalid parameters: "
	if answer {
		kind, whose = wire.BadAgentResponse, "the agent's answer: "
	}
	text := whose
	if v.Pointer != "" {
		text += v.Pointer + ": "
	}
	text += v.Text
	meta := map[string]string{"fault": string(v.Fault)}
	if v.Pointer != "" {
		meta["pointer"] = v.Pointer
	}
	if v.Extension != "" {
		text += " (" + v.Extension + ")"
		meta["extension"] = v.Extension
	}
	e := wire.Errorf(kind, "%s", text)
	e.Meta = meta
	return e
}
