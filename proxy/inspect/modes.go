package inspect

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// CheckModes: are the media types of what the call brings, and one of those that its caller
// takes, among those that the skill lists, or the card for it? A call of no known skill
// may use what any of them lists.
//
// A message that cannot be read is reported or refused like one with a wrong type. The refusal is
// CONTENT_TYPE_NOT_SUPPORTED (A2A 1.0 §3.3.2, -32005) and names the first mismatch.
func (in *Inspector) CheckModes(x *exchange.Exchange) error {
	mode := x.Agent.Modes
	if mode == "" || mode == ext.Off {
		return nil
	}
	m, err := in.MessageOf(x)
	switch {
	case err != nil && mode == ext.Report:
		x.Note(&content.Violation{Fault: content.Mode, Text: "the message cannot be read in one way only"})
		return nil
	case err != nil || m == nil:
		return err
	}
	listed := x.View.ModesOf(x.Skill)
	odd := listed.Odd(m)
	for _, text := range odd {
		x.Note(&content.Violation{Fault: content.Mode, Text: text, Enforced: mode == ext.Enforce})
	}
	if len(odd) == 0 || mode == ext.Report {
		return nil
	}
	return wire.Errorf(wire.ContentType, "%s: %s", wire.ContentType.Text, odd[0])
}
