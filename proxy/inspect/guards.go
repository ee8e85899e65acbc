package inspect

import (
	"context"
	"errors"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// guardRequest has the guards look at what a caller sends, as the agent would get it, and finds out
// which of them look at this call. They are the last to change it: nothing may go to the agent that
// they have not seen.
func (in *Inspector) guardRequest(x *exchange.Exchange) error {
	if !in.Guards.About(x.Agent.ID) {
		return nil
	}
	x.Guards, x.Rec.Guards = in.Guards.For(x.PolicyRequest()), nil
	on := x.Guards.On(guard.Request)
	if on == nil || len(x.Call.Body) == 0 || x.Opaque() {
		return nil
	}
	x.Mend()
	read := func(body []byte) (*wire.Carriers, error) {
		return wire.ReadCarriers(x.Side(), x.Call.Method, false, body, in.ChangedLimits())
	}
	cs, err := in.carriers(x)
	if err != nil {
		return err
	}
	body, err := guarded(x, on, readTexts(cs, guard.Request, caller(x), read))
	if err != nil {
		return err
	}
	return in.ReplaceBody(x, body)
}

// guardAnswer does the same to an answer of the agent's, or to an event that is not one of a stream.
func (in *Inspector) guardAnswer(x *exchange.Exchange, doc []byte) ([]byte, error) {
	phase := guard.Answer
	if x.Streams() {
		phase = guard.Event
	}
	return in.guardDocument(x, x.Guards.On(phase), phase, x.Upstream.Side, x.Upstream.Call.Method, doc)
}

// GuardNotification does it to a notification. Nobody's call brings one, so that of the conditions of
// guards only that on the agent counts.
func (in *Inspector) GuardNotification(x *exchange.Exchange, side wire.Side, m *wire.Method, doc []byte) ([]byte, error) {
	if !in.Guards.About(x.Agent.ID) {
		return doc, nil
	}
	return in.guardDocument(x, in.Guards.Of(x.Agent.ID).On(guard.Event), guard.Event, side, m, doc)
}

func (in *Inspector) guardDocument(x *exchange.Exchange, on guard.Selection, phase guard.Phase, side wire.Side, m *wire.Method, doc []byte) ([]byte, error) {
	if on == nil || len(doc) == 0 {
		return doc, nil
	}
	t, err := in.answerTexts(x, phase, side, m, doc)
	if err != nil {
		return nil, err
	}
	return guarded(x, on, t)
}

// answerTexts reads a document of the agent's.
func (in *Inspector) answerTexts(x *exchange.Exchange, phase guard.Phase, side wire.Side, m *wire.Method, doc []byte) (*texts, error) {
	read := func(doc []byte) (*wire.Carriers, error) {
		return wire.ReadCarriers(side, m, true, doc, in.AnswerLimits())
	}
	cs, err := read(jsonscan.Mend(doc))
	if err != nil {
		return nil, err
	}
	return readTexts(cs, phase, caller(x), read), nil
}

// guarded is what guards leave of a document: the document itself where nothing is redacted.
func guarded(x *exchange.Exchange, on guard.Selection, t *texts) ([]byte, error) {
	found := on.Inspect(x.Ctx, &t.content)
	noteGuards(x, found)
	if found.Refused != nil {
		return nil, guardRefusal(found.Refused)
	}
	return t.redacted(found)
}

// caller is whose call it is, to share services out; notifications are nobody's.
func caller(x *exchange.Exchange) string {
	if x.Principal == nil {
		return ""
	}
	return x.Principal.Key()
}

// manyGuardFindings is how many a call records one by one.
const manyGuardFindings = 64

// noteGuards records what guards have found. Those that are like one before are counted with it, and so
// are, where there are many, those of other parts.
func noteGuards(x *exchange.Exchange, r *guard.Result) {
	for _, f := range r.Findings {
		one := telemetry.GuardFinding{
			Guard: f.Guard, On: string(f.On), Kind: f.Kind, Part: f.Part, Action: f.Action, Shadow: f.Shadow, Count: int64(f.Count),
		}
		if len(x.Rec.Guards) >= manyGuardFindings {
			one.Part = -1
		}
		x.Rec.Guards = telemetry.AddGuardFinding(x.Rec.Guards, one)
	}
}

// guardRefusal is the answer to a document that a guard refuses. It says what kind of content it was,
// so that the caller can leave it out, and in which part; neither the guard nor the content.
func guardRefusal(r *guard.Refused) *wire.Error {
	switch {
	case r.TooLarge() && r.On == guard.Request:
		return wire.Errorf(wire.TooLarge, "the message cannot be inspected: %s", r.Err).Because(r)
	case r.TooLarge():
		return wire.Errorf(wire.AnswerRefused, "%s: the agent's answer cannot be inspected: %s", wire.AnswerRefused.Text, r.Err).Because(r)
	case r.Err != nil:
		return exchange.RetryLater("5", "the content cannot be inspected at the moment").Because(quieted(r))
	}
	kind, whose := wire.ContentRefused, "the message"
	if r.On != guard.Request {
		kind, whose = wire.AnswerRefused, "the agent's answer"
	}
	meta := map[string]string{"kind": r.Kind}
	text := kind.Text + ": " + whose + " has " + r.Kind
	if r.Part >= 0 {
		meta["part"] = strconv.Itoa(r.Part)
		text += " in part " + meta["part"]
	}
	e := wire.Errorf(kind, "%s", text)
	e.Meta = meta
	return e.Because(r)
}

// quieted keeps the ends of a call's own context out of what becomes of it: a service that took too
// long is not the agent.
func quieted(r *guard.Refused) error {
	if errors.Is(r.Err, context.DeadlineExceeded) {
		return errors.New(r.Error())
	}
	return r
}

// GuardedDocument is a document that guards are to look at in no call, and how it is written.
type GuardedDocument struct {
	Phase  guard.Phase
	Side   wire.Side
	Method *wire.Method
	Doc    []byte
	Limits wire.Limits
}

// Inspect is what guards find in the document, what they leave of it, and the error that takes its place; nil where
// none refuses it. Nothing is counted or recorded. err is one of reading the document.
func (d *GuardedDocument) Inspect(ctx context.Context, on guard.Selection) (found *guard.Result, left []byte, refused *wire.Error, err error) {
	read := func(doc []byte) (*wire.Carriers, error) {
		return wire.ReadCarriers(d.Side, d.Method, d.Phase != guard.Request, doc, d.Limits)
	}
	cs, err := read(jsonscan.Mend(d.Doc))
	if err != nil {
		return nil, nil, nil, err
	}
	t := readTexts(cs, d.Phase, "", read)
	if found = on.Inspect(ctx, &t.content); found.Refused != nil {
		refused = guardRefusal(found.Refused)
	}
	left, err = t.redacted(found)
	return found, left, refused, err
}
