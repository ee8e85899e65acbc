package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// watch is what the agent's documents are held to, made with the first of them.
type watch struct {
	terms     content.Terms
	skill     agents.SkillSchemas
	objects   bool // some schema is for whole objects
	canonical *translate.Retelling
}

// watch returns the exchange's.
func (in *inspector) watch(x *exchange) *watch {
	if x.watched != nil {
		return x.watched
	}
	w := &watch{terms: in.bounds(x, in.visibleIn(x)), skill: x.view.Schemas[x.skill]}
	w.terms.Answer = true
	w.objects = w.terms.JudgesObjects()
	if w.objects && x.upstream != nil && x.upstream.Version != wire.V10 {
		as, side := x.call, modernSide(x.upstream.Binding)
		as.Version, as.Binding = side.Version, side.Binding
		w.canonical = &translate.Retelling{From: x.upstream.Side, Call: &as, Bytes: x.agent.Bytes()}
	}
	x.watched = w
	return w
}

// looksAtAll reports whether every document of the agent's is looked at; else those are
// that may carry something.
func (in *inspector) looksAtAll(x *exchange) bool {
	t := in.bounds(x, nil)
	return t.JudgesObjects() || x.view.Schemas[x.skill].Output != nil || len(x.terms.Provided) > 0 || x.conforms() || in.hooked(x)
}

// visibleIn lists the extensions that the caller may find in the agent's documents:
// those of this call; those that were active when the task was made; and in what only
// shows tasks as they are, whatever the caller could have asked for when they ran.
func (in *inspector) visibleIn(x *exchange) ext.Set {
	visible := union(union(x.shown, ours), x.record.Extensions)
	if x.call.Method.Subject == wire.OfMessage && x.record.ID == "" { // 0.1's clients name tasks that are new
		return visible
	}
	q := in.question(x, x.decision.Extensions)
	for _, d := range in.Book.Effective(&q) {
		if !visible.Has(d.URI) && !x.terms.Injected.Has(d.URI) {
			visible = append(visible, d.URI)
		}
	}
	return visible
}

// carries reports whether a method's answers show messages, tasks or artifacts.
func carries(m *wire.Method) bool {
	return m.Extension != "" || m.Subject == wire.OfMessage || m.Subject == wire.OfTask || m.Subject == wire.OfCaller
}

// govern makes an answer or event of the agent's agree with what was negotiated,
// before it is retold: what nobody asked for is taken out, the rest held against
// schemas and states, and the gateway's own extensions and hooks have their turn.
func (in *inspector) govern(x *exchange, seen wire.Answer, doc []byte) ([]byte, error) {
	if len(doc) == 0 || x.upstream.Binding == wire.GRPC && x.call.Method.Extension != "" || !carries(x.call.Method) {
		return doc, nil
	}
	doc, err := in.screenAnswer(x, x.upstream.Side, x.upstream.call.Method, seen, doc)
	if err != nil || unconstrained(x, seen.MayCarry, x.view.Schemas[x.skill].Output) {
		return doc, err
	}
	if !seen.MayCarry && (x.passes || !in.looksAtAll(x)) {
		x.passes = true
		return doc, nil
	}
	if in.judgesContent(x, x.view.Schemas[x.skill].Output) {
		doc = jsonscan.Mend(doc) // what is judged is what the caller reads
	}
	w := in.watch(x)
	cs, err := in.clean(x, w, seen, doc)
	if err == nil {
		doc, err = cs.Doc, in.weigh(x, w, seen, cs)
	}
	if err == nil {
		doc, err = in.answerProvided(x, seen, doc)
	}
	if err == nil {
		doc, err = in.tellHooks(x, doc)
	}
	return doc, err
}

func (ho *hooks) readAnswer(x *exchange, doc []byte) (*wire.Carriers, error) {
	return wire.ReadCarriers(x.upstream.Side, x.upstream.call.Method, true, doc, ho.answerLimits())
}

// clean takes out what does not belong into the caller's answers. The carriers are those
// of what is left.
func (in *inspector) clean(x *exchange, w *watch, seen wire.Answer, doc []byte) (*wire.Carriers, error) {
	cs, err := in.readAnswer(x, doc)
	if err != nil || !seen.MayCarry {
		return cs, err
	}
	if err := in.clear(x, &w.terms, cs); err != nil {
		return nil, err
	}
	if out := cs.Apply(); !same(out, doc) {
		return in.readAnswer(x, out)
	}
	return cs, nil
}

// strip is clean for answers to questions of the gateway's own, which several goroutines
// put at the same time: what it finds is for one of them to settle.
func (in *inspector) strip(x *exchange, l *upstreamCall, seen wire.Answer, doc []byte) ([]byte, strays, error) {
	if !seen.MayCarry {
		return doc, strays{}, nil
	}
	cs, err := wire.ReadCarriers(l.Side, l.call.Method, true, jsonscan.Mend(doc), in.answerLimits())
	if err != nil {
		return nil, strays{}, err
	}
	found := x.sweep(&x.watched.terms, cs)
	return cs.Apply(), found, nil
}

// weigh holds a document of the agent's against schemas, states and A2A's limits.
func (in *inspector) weigh(x *exchange, w *watch, seen wire.Answer, cs *wire.Carriers) error {
	var found []content.Violation
	if x.conforms() {
		found = in.strange(x, x.upstream.Side, true, resultOf(x.upstream.Binding, cs.Doc))
	}
	found = append(append(found, w.terms.Unknown(cs)...), w.terms.Values(cs)...)
	if w.skill.Output != nil {
		found = append(found, w.skill.Hold(cs, w.skill.Output)...)
	}
	arrived, err := in.follow(x, w, seen, cs)
	if err != nil {
		return err
	}
	found = append(found, arrived...)
	if !w.objects {
		return x.judge(found, true)
	}
	if w.canonical != nil {
		if cs, err = in.modernAnswer(x, w, cs.Doc); err != nil {
			return err
		}
	}
	return x.judge(append(found, w.terms.Objects(cs)...), true)
}

// modernAnswer is a document of the agent's as A2A 1.0 would have it. Of what becomes
// of an event the last is the agent's; the task that 1.0 wants before it is made up.
func (in *inspector) modernAnswer(x *exchange, w *watch, doc []byte) (*wire.Carriers, error) {
	var out []byte
	var err error
	if x.streams() {
		err = w.canonical.Event(doc, func(event []byte) error {
			out = append(out[:0], event...)
			return nil
		})
	} else {
		out, err = w.canonical.Answer(nil, doc)
	}
	if err != nil {
		return nil, retelling(err)
	}
	return wire.ReadCarriers(modernSide(x.upstream.Binding), x.call.Method, true, out, in.answerLimits())
}

// streams reports whether the agent's document at hand is one of a stream.
func (x *exchange) streams() bool { return x.rec.Streamed || x.leads }
