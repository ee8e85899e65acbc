package inspect

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// GuardedEvent is an event of a stream that guards have looked at. What is to be redacted in the texts of
// an artifact is known once enough of it has come behind them.
type GuardedEvent struct {
	texts  *texts
	cuts   map[int][]detect.Finding
	whole  map[int]string // as of a guard.Result
	window *guard.Window  // nil where nothing has to come behind the event
	chunks map[int]guard.Chunk
}

// GuardEvent has the guards look at an event of a stream, on its way to the caller. artifact is the id of
// the artifact that it brings a chunk of; w may be nil. The error refuses the event, with which the
// stream ends.
func (in *Inspector) GuardEvent(x *exchange.Exchange, w *guard.Window, artifact string, seen wire.Answer, doc []byte) (*GuardedEvent, error) {
	on := x.Guards.On(guard.Event)
	if !shows(x, doc) || exchange.IsError(seen) {
		w.EndAll()
		return &GuardedEvent{texts: plainDocument(doc)}, nil
	}
	t, err := in.answerTexts(x, guard.Event, x.Upstream.Side, x.Upstream.Call.Method, doc)
	if err != nil {
		return nil, err
	}
	chunked := w != nil && seen.Kind == "artifactUpdate"
	for i := range t.spots {
		c := &t.cs.List[t.spots[i].carrier]
		t.content.Texts[i].Chunk = chunked && c.Place == wire.InPart && t.spots[i].span == c.Text
	}
	found := on.Inspect(x.Ctx, &t.content)
	g := &GuardedEvent{texts: t, window: w, chunks: map[int]guard.Chunk{}}
	if chunked && !seen.Chunk.Append {
		w.Begin(artifact)
	}
	for i := range t.content.Texts {
		if !t.content.Texts[i].Chunk {
			continue
		}
		chunk, more := w.Add(artifact, t.content.Texts[i])
		g.chunks[i] = chunk
		found.Findings = append(found.Findings, more.Findings...)
		if found.Refused == nil {
			found.Refused = more.Refused
		}
	}
	if noteGuards(x, found); found.Refused != nil {
		return nil, guardRefusal(found.Refused)
	}
	if chunked && seen.Chunk.Last {
		w.End(artifact)
	}
	if seen.Final || taskstate.Terminal(seen.State) || seen.Kind == "task" || seen.Kind == "message" {
		w.EndAll()
	}
	g.cuts, g.whole = found.Cuts, found.Whole
	return g, nil
}

// plainDocument is one in which nothing is looked at.
func plainDocument(doc []byte) *texts { return &texts{cs: &wire.Carriers{Doc: doc}} }

// Ready reports whether enough has come behind the event.
func (g *GuardedEvent) Ready() bool {
	for _, c := range g.chunks {
		if !g.window.Behind(c) {
			return false
		}
	}
	return true
}

// Release is the event as the caller is to have it, by what has been found until now.
func (g *GuardedEvent) Release() ([]byte, error) {
	cuts := map[int][]detect.Finding{}
	for i, list := range g.cuts {
		cuts[i] = list
	}
	marks := map[int][]bool{}
	for i, c := range g.chunks {
		found, marked := g.window.Cuts(c)
		if found != nil {
			cuts[i], marks[i] = found, marked
		}
	}
	doc, err := g.texts.rewritten(cuts, g.whole, func(i int) string {
		value := g.texts.content.Texts[i].Value
		if marks[i] == nil {
			return detect.Replace(value, cuts[i], guard.Mark)
		}
		return pieced(value, cuts[i], marks[i])
	})
	for _, c := range g.chunks {
		g.window.Release(c)
	}
	return doc, err
}

// pieced is a text without what is cut, and with marks for what begins in it: what goes on in several
// chunks has its mark in the first.
func pieced(text string, cuts []detect.Finding, marked []bool) string {
	var out strings.Builder
	at := 0
	for n, f := range cuts {
		out.WriteString(text[at:f.Begin])
		if marked[n] {
			out.WriteString(guard.Mark(f.Kind))
		}
		at = f.End
	}
	out.WriteString(text[at:])
	return out.String()
}
