package inspect

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
)

// Watch returns the exchange's.
//
// It is made once per exchange, at the first answer, because what bounds answers depends on the
// skill and the extensions that were settled for the call. Canonical is set where objects have to
// be judged in 1.0's words although the agent speaks another version.
func (in *Inspector) Watch(x *exchange.Exchange) *exchange.Watch {
	if x.Watched != nil {
		return x.Watched
	}
	w := &exchange.Watch{Terms: in.Bounds(x, in.visibleIn(x)), Skill: x.View.Schemas[x.Skill]}
	w.Terms.Answer = true
	w.Objects = w.Terms.JudgesObjects()
	if w.Objects && x.Upstream != nil && x.Upstream.Version != wire.V10 {
		as, side := x.Call, modernSide(x.Upstream.Binding)
		as.Version, as.Binding = side.Version, side.Binding
		w.Canonical = &translate.Retelling{From: x.Upstream.Side, Call: &as, Bytes: x.Agent.Bytes()}
	}
	x.Watched = w
	return w
}

// looksAtAll reports whether every document of the agent's is looked at; else those are
// that may carry something.
//
// It is asked once per exchange: x.Passes remembers that it said no, so that the events of a
// stream cost nothing.
func (in *Inspector) looksAtAll(x *exchange.Exchange) bool {
	t := in.Bounds(x, nil)
	return t.JudgesObjects() || x.View.Schemas[x.Skill].Output != nil || len(x.Terms.Provided) > 0 || x.Conforms() || in.Hooked(x)
}

// visibleIn lists the extensions that the caller may find in the agent's documents:
// those of this call; those that were active when the task was made; and in what only
// shows tasks as they are, whatever the caller could have asked for when they ran.
//
// A task keeps the extensions it was made with (the ledger has them), since a client that fetches
// it later need not repeat them. Injected extensions stay invisible: the client does not know
// them and would be shown metadata that it never asked for.
func (in *Inspector) visibleIn(x *exchange.Exchange) ext.Set {
	visible := ext.Union(ext.Union(x.Shown, ours), x.Record.Extensions)
	if x.Call.Method.Subject == wire.OfMessage && x.Record.ID == "" { // 0.1's clients name tasks that are new
		return visible
	}
	q := in.Question(x, x.Extensions)
	for _, d := range in.Book.Effective(&q) {
		if !visible.Has(d.URI) && !x.Terms.Injected.Has(d.URI) {
			visible = append(visible, d.URI)
		}
	}
	return visible
}

// carries reports whether a method's answers show messages, tasks or artifacts.
func carries(m *wire.Method) bool {
	return m.Extension != "" || m.Subject == wire.OfMessage || m.Subject == wire.OfTask || m.Subject == wire.OfCaller
}

// GovernAnswer makes an answer or event of the agent's agree with what was negotiated, before it is
// retold, and has guards look at what is left of it. The events of a stream that goes on are guarded
// where they are passed on (GuardEvent), since what is found in one may depend on the next.
func (in *Inspector) GovernAnswer(x *exchange.Exchange, seen wire.Answer, doc []byte) ([]byte, error) {
	doc, err := in.negotiated(x, seen, doc)
	if err != nil || x.Guards == nil || x.Fed || !shows(x, doc) {
		return doc, err
	}
	return in.guardAnswer(x, doc)
}

// shows reports whether a document has anything to be looked at.
func shows(x *exchange.Exchange, doc []byte) bool {
	return len(doc) > 0 && (x.Upstream.Binding != wire.GRPC || x.Call.Method.Extension == "") && carries(x.Call.Method)
}

// negotiated makes a document agree with what was negotiated: what nobody asked for is taken out, the
// rest held against schemas and states, and the gateway's own extensions and hooks have their turn.
//
// doc is in the agent's words and stays so; what is returned may share memory with it. The cheap
// ways out come first: no document, a method that shows no content, nothing that could be
// carried, and nothing that is configured.
func (in *Inspector) negotiated(x *exchange.Exchange, seen wire.Answer, doc []byte) ([]byte, error) {
	if !shows(x, doc) {
		return doc, nil
	}
	doc, err := in.ScreenAnswer(x, x.Upstream.Side, x.Upstream.Call.Method, seen, doc)
	if err != nil || unconstrained(x, seen.MayCarry, x.View.Schemas[x.Skill].Output) {
		return doc, err
	}
	if !seen.MayCarry && (x.Passes || !in.looksAtAll(x)) {
		x.Passes = true
		return doc, nil
	}
	if in.judgesContent(x, x.View.Schemas[x.Skill].Output) {
		doc = jsonscan.Mend(doc) // what is judged is what the caller reads
	}
	w := in.Watch(x)
	cs, err := in.cleanAnswer(x, w, seen, doc)
	if err == nil {
		doc, err = cs.Doc, in.judgeAnswer(x, w, seen, cs)
	}
	if err == nil {
		doc, err = in.answerProvided(x, seen, doc)
	}
	if err == nil {
		doc, err = in.tellHooks(x, doc)
	}
	return doc, err
}

// readAnswer finds the carriers of an answer, in the agent's version and binding.
func (ho *Hooks) readAnswer(x *exchange.Exchange, doc []byte) (*wire.Carriers, error) {
	return wire.ReadCarriers(x.Upstream.Side, x.Upstream.Call.Method, true, doc, ho.AnswerLimits())
}

// cleanAnswer takes out what does not belong into the caller's answers. The carriers are those
// of what is left.
//
// Carriers point into the document by offsets, so that they have to be read again once it has
// changed.
func (in *Inspector) cleanAnswer(x *exchange.Exchange, w *exchange.Watch, seen wire.Answer, doc []byte) (*wire.Carriers, error) {
	cs, err := in.readAnswer(x, doc)
	if err != nil || !seen.MayCarry {
		return cs, err
	}
	if err := in.clearMarks(x, &w.Terms, cs); err != nil {
		return nil, err
	}
	if out := cs.Apply(); !exchange.Same(out, doc) {
		return in.readAnswer(x, out)
	}
	return cs, nil
}

// StripTask takes out what does not belong into answers to questions of the gateway's own, which
// several goroutines put at the same time: what it finds is for one of them to settle.
//
// The tasks of a list are asked for at the same time when an agent cannot list them; x.Watched is
// read by all of them and must have been made before.
func (in *Inspector) StripTask(x *exchange.Exchange, l *exchange.UpstreamCall, seen wire.Answer, doc []byte) ([]byte, exchange.Strays, error) {
	if !seen.MayCarry {
		return doc, exchange.Strays{}, nil
	}
	cs, err := wire.ReadCarriers(l.Side, l.Call.Method, true, jsonscan.Mend(doc), in.AnswerLimits())
	if err != nil {
		return nil, exchange.Strays{}, err
	}
	found := x.Sweep(&x.Watched.Terms, cs)
	return cs.Apply(), found, nil
}

// judgeAnswer holds a document of the agent's against schemas, states and A2A's limits.
//
// The findings of schemas, of skills' output schemas, of states and of objects are settled
// together, so that the record has all of them even where the first refuses.
func (in *Inspector) judgeAnswer(x *exchange.Exchange, w *exchange.Watch, seen wire.Answer, cs *wire.Carriers) error {
	var found []content.Violation
	if x.Conforms() {
		found = in.findStrangers(x, x.Upstream.Side, true, ownership.ResultOf(x.Upstream.Binding, cs.Doc))
	}
	found = append(append(found, w.Terms.Unknown(cs)...), w.Terms.Values(cs)...)
	if w.Skill.Output != nil {
		found = append(found, w.Skill.Hold(cs, w.Skill.Output)...)
	}
	arrived, err := in.followStates(x, w, seen, cs)
	if err != nil {
		return err
	}
	found = append(found, arrived...)
	if !w.Objects {
		return x.Judge(found, true)
	}
	if w.Canonical != nil {
		if cs, err = in.modernAnswer(x, w, cs.Doc); err != nil {
			return err
		}
	}
	return x.Judge(append(found, w.Terms.Objects(cs)...), true)
}

// modernAnswer is a document of the agent's as A2A 1.0 would have it. Of what becomes
// of an event the last is the agent's; the task that 1.0 wants before it is made up.
func (in *Inspector) modernAnswer(x *exchange.Exchange, w *exchange.Watch, doc []byte) (*wire.Carriers, error) {
	var out []byte
	var err error
	if x.Streams() {
		err = w.Canonical.Event(doc, func(event []byte) error {
			out = append(out[:0], event...)
			return nil
		})
	} else {
		out, err = w.Canonical.Answer(nil, doc)
	}
	if err != nil {
		return nil, exchange.Retelling(err)
	}
	return wire.ReadCarriers(modernSide(x.Upstream.Binding), x.Call.Method, true, out, in.AnswerLimits())
}
