package exchange

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Strays are those marks, after the configuration's way with them.
type Strays struct {
	found   []content.Violation
	refused bool // with the document; else they were taken out, or left where they are
}

// Conforms reports whether the agent's documents, and what is for it, are held to A2A.
func (x *Destination) Conforms() bool {
	mode := x.Agent.Extensions.Conformance
	return mode != "" && mode != ext.Off
}

// Sweep deals with a document's strays.
//
//	extensions.unrequested   a mark that nobody asked for
//	report                   stays, and is recorded
//	refuse                   refuses the document, but for a mark in a task's history
//	any other                is taken out of the document
func (x *Destination) Sweep(t *content.Terms, cs *wire.Carriers) Strays {
	marks := t.Strays(cs)
	if len(marks) == 0 {
		return Strays{}
	}
	mode := x.Agent.Extensions.Unrequested
	if x.Shadows() {
		mode = "report"
	}
	var refused []wire.Mark
	for _, m := range marks {
		switch {
		case mode == "report":
		case mode == "refuse" && !cs.List[m.Carrier].History:
			refused = append(refused, m)
		default:
			// A task's history may be of calls in which the extension was active: what
			// is left of them is no reason to withhold the task.
			cs.Remove(m)
		}
	}
	if refused != nil {
		return Strays{t.Describe(cs, refused, true), true}
	}
	return Strays{t.Describe(cs, marks, mode != "report"), false}
}

// Settle records strays, and refuses the document if that is their fate.
func (x *Exchange) Settle(s Strays, answer bool) error {
	if s.refused {
		return x.Judge(s.found, answer)
	}
	for i := range s.found {
		x.Note(&s.found[i])
	}
	return nil
}
