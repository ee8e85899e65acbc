package explain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
)

// guard names the guards that look at the call and its answers, and has those look at the message that
// look at requests. What hooks and extensions would make of it before is not known.
func (j *judgement) guard() error {
	selected := j.Guards.For(j.ask)
	j.e.Guards = selected.Names()
	on := selected.On(guard.Request)
	if len(on) > len(on.Offline()) {
		j.note("guards that ask a service are not asked, and may still refuse or redact the message")
	}
	if j.Message == nil || len(on) == 0 {
		return nil
	}
	d := inspect.GuardedDocument{
		Phase: guard.Request, Side: wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, Method: j.Method, Doc: j.call.Body, Limits: j.Wire,
	}
	r, _, refused, err := d.Inspect(j.ctx, on.Offline())
	if err != nil {
		return err
	}
	j.e.Findings = findings(r)
	if refused == nil {
		return nil
	}
	return refused
}

// becomes is what an action of a guard makes of a document.
var becomes = map[string]string{"refuse": verdict.Refused, "redact": verdict.Redacted, "report": verdict.Recorded}

// findings are those of guards as they are shown.
func findings(r *guard.Result) (list []verdict.GuardFinding) {
	for _, f := range r.Findings {
		one := verdict.GuardFinding{Guard: f.Guard, Kind: f.Kind, Part: f.Part, Count: f.Count, Becomes: becomes[f.Action]}
		switch {
		case f.Shadow:
			one.Becomes = "recorded (shadow of " + one.Becomes + ")"
		case one.Becomes == "": // a service gave no answer, and onFailure is allow
			one.Becomes = verdict.Recorded
		}
		list = append(list, one)
	}
	return list
}

// phases are those of documents, as questions name them.
var phases = map[string]guard.Phase{"": guard.Request, "request": guard.Request, "answer": guard.Answer, "event": guard.Event}

// ReadTrial makes a question about guards ready, as Read does: a caller needs no credential here. With an error it
// returns the member that is wrong.
func (jd *Judge) ReadTrial(t *verdict.GuardTrial) (i *Inquiry, wrong string, err error) {
	anybody, authn := *jd, *jd.Authn
	authn.Anonymous, anybody.Authn = true, &authn
	return anybody.Read(&verdict.Question{Agent: t.Agent, Method: t.Method, Skill: t.Skill, Caller: t.Caller}, time.Now())
}

// TryGuards has the guards look at a text or a message as at what a call brings. Nothing is recorded or kept. With an
// error it returns the member of the question that is wrong.
func (jd *Judge) TryGuards(ctx context.Context, t *verdict.GuardTrial, i *Inquiry) (*verdict.GuardTried, string, error) {
	phase, ok := phases[t.Phase]
	if !ok {
		return nil, "phase", fmt.Errorf("%q is none of request, answer and event", t.Phase)
	}
	if i.Method.Subject != wire.OfMessage {
		return nil, "method", fmt.Errorf("%s brings no message", i.Method.Name)
	}
	doc, err := t.Document(phase != guard.Request)
	if err != nil {
		return nil, "message", err
	}
	if phase == guard.Request {
		i.Message = doc
	}
	j, bad, _ := jd.begin(ctx, i)
	if bad != nil {
		return nil, "message", fault(bad)
	}
	tried, err := j.try(phase, doc, t.Offline)
	if err != nil {
		return nil, "message", fault(err)
	}
	return tried, "", nil
}

// fault is what is wrong with a document, in words for who wrote it.
func fault(err error) error {
	var told *wire.Error
	if !errors.As(err, &told) {
		return err
	}
	if told.Err != nil {
		return told.Err
	}
	return errors.New(told.Error())
}

// try has guards look at a document, which is one of 1.0 as HTTP+JSON has it: what is shown of it has no envelope.
func (j *judgement) try(phase guard.Phase, doc []byte, offline bool) (*verdict.GuardTried, error) {
	if err := j.settle(""); err != nil {
		j.ask.Agentwide = true
		j.note("which skill the call is for is not known: " + err.Error())
	}
	j.ask.Message = j.said
	on := j.Guards.For(j.ask).On(phase)
	tried := &verdict.GuardTried{Phase: string(phase), Guards: on.Names(), Findings: []verdict.GuardFinding{}}
	if asking := len(on) - len(on.Offline()); offline && asking > 0 {
		on = on.Offline()
		tried.Guards = on.Names()
		j.note(fmt.Sprintf("%d of the guards that look at it ask a service, and were left out", asking))
	}
	d := inspect.GuardedDocument{
		Phase: phase, Side: wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, Method: j.Method, Doc: doc, Limits: j.Wire,
	}
	r, left, refused, err := d.Inspect(j.ctx, on)
	if err != nil {
		return nil, err
	}
	tried.Findings, tried.Notes = append(tried.Findings, findings(r)...), j.e.Notes
	tried.Redacted = len(r.Cuts) > 0 || len(r.Whole) > 0
	if tried.Guards == nil {
		tried.Guards = []string{}
	}
	if refused == nil {
		tried.Document = jsontext.Value(left)
		return tried, nil
	}
	tried.Refused = &verdict.GuardRefused{Guard: r.Refused.Guard, Error: refused.Reason, Status: refused.HTTP, Message: refused.Message}
	tried.Redacted = false
	return tried, nil
}
