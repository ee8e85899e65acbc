package proxy

import (
	"cmp"
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// hooks asks the services that take part in calls (extensions[].hooks), and answers calls that the
// gateway serves in an agent's place.
type hooks struct {
	*extensionRules
	*decoder
	*cardViews

	Providers map[string]ext.Provider
	Server    *server.Config
}

var errHook = errors.New("hook")

// hooked reports whether any extension of the call has a hook.
func (er *extensionRules) hooked(x *exchange) bool {
	for _, uri := range x.terms.Send {
		if len(er.book.Hooks(uri)) > 0 {
			return true
		}
	}
	for _, uri := range x.terms.Provided {
		if len(er.book.Hooks(uri)) > 0 {
			return true
		}
	}
	return false
}

// callout describes the call to a hook.
func (ho *hooks) callout(x *exchange, phase hook.Phase, s wire.Side, doc []byte) hook.Callout {
	return hook.Callout{
		Phase: phase, Agent: x.agent.ID, Method: x.call.Method.Name,
		Version: string(s.Version), Binding: s.Binding.String(), Skill: x.skill,
		Principal: x.principal.Subject, Tenant: x.principal.Tenant, RequestID: x.rec.RequestID,
		TaskID: cmp.Or(x.call.TaskID, x.rec.TaskID), Document: doc,
	}
}

// runHooks gives a document to every hook of the call's extensions, one after the
// other, each what the one before has made of it. check says what is wrong with that.
func (er *extensionRules) runHooks(x *exchange, c hook.Callout, check func(doc []byte) error) ([]byte, error) {
	for _, uri := range slices.Concat(x.terms.Send, x.terms.Provided) {
		for _, h := range er.book.Hooks(uri) {
			if !h.Handles(c.Phase) {
				continue
			}
			c.Extension = uri
			c.Failed = func(error) { noteHook(x, uri, "the hook gave no usable answer, and was passed over", false) }
			out, err := h.Call(x.ctx, c)
			var denied *hook.Denied
			switch {
			case errors.As(err, &denied):
				return nil, hookDenied(x, uri, denied, c.Phase != hook.Request)
			case err != nil:
				noteHook(x, uri, "the hook gave no usable answer", true)
				return nil, retryLater("5", "an extension of this call cannot be served at the moment").
					Because(errors.Join(errHook, err))
			}
			if !same(out, c.Document) {
				if err := check(out); err != nil {
					noteHook(x, uri, "the hook changed what it may not", true)
					return nil, wire.Errorf(wire.Internal, "").Because(errors.Join(errHook, hide(err)))
				}
			}
			c.Document = out
		}
	}
	return c.Document, nil
}

// noteHook records what a hook did.
func noteHook(x *exchange, uri, what string, enforced bool) {
	x.note(&content.Violation{Extension: uri, Fault: content.Hooked, Text: what, Enforced: enforced})
}

// hide makes another error of a *wire.Error: it is of what a hook wrote, and not for
// the caller.
func hide(err error) error { return errors.New(err.Error()) }

// hookDenied refuses a call that a hook said no to, and an answer likewise: it is
// withheld.
func hookDenied(x *exchange, uri string, d *hook.Denied, answer bool) error {
	noteHook(x, uri, "a hook said no", true)
	kind, text := wire.Denied, cmp.Or(d.Message, "an extension does not allow this call")
	if answer {
		kind, text = wire.BadAgentResponse, cmp.Or(d.Message, "an extension does not allow this answer")
	}
	e := wire.Errorf(kind, "%s", text)
	if x.shown.Has(uri) {
		e.Meta = map[string]string{"extension": uri}
	}
	return e.Because(d)
}

// askHooks is the request phase.
func (ho *hooks) askHooks(x *exchange) error {
	if !ho.hooked(x) {
		return nil
	}
	doc := x.call.Params
	if doc == nil {
		doc = []byte("{}")
	}
	body := x.call.Body
	_, err := ho.runHooks(x, ho.callout(x, hook.Request, x.side(), doc), func(params []byte) (err error) {
		if body, err = x.withParams(params); err != nil {
			return err
		}
		before, err := ho.reread(x, x.call.Body)
		if err != nil {
			return err
		}
		after, err := ho.reread(x, body)
		if err == nil && !sameBusiness(before, after) {
			err = errors.New("it changed what the call is about")
		}
		return err
	})
	if err != nil {
		return err
	}
	return ho.rebody(x, body)
}

// withParams is the call's body with other params.
func (x *parsedCall) withParams(params []byte) ([]byte, error) {
	if x.call.Binding != wire.JSONRPC {
		if len(x.call.Body) == 0 {
			return nil, errors.New("it gave a body to a call that has none")
		}
		return params, nil
	}
	from, to := memberSpan(x.call.Body, "params")
	if from == to {
		return nil, errors.New("it gave params to a call that has none")
	}
	return splice(x.call.Body, from, to, params), nil
}

// sameBusiness reports whether two calls are about the same things: what decided
// whose they are and whether they are allowed is not for a hook to change.
func sameBusiness(a, b *wire.Call) bool {
	return a.Method == b.Method && a.TaskID == b.TaskID && a.ContextID == b.ContextID && a.Tenant == b.Tenant &&
		a.ConfigID == b.ConfigID && a.Skill == b.Skill && a.HasPushConfig == b.HasPushConfig &&
		a.PageToken == b.PageToken && slices.Equal(a.ReferenceTaskIDs, b.ReferenceTaskIDs)
}

// tellHooks is the response phase, or that of one event.
func (ho *hooks) tellHooks(x *exchange, doc []byte) ([]byte, error) {
	if !ho.hooked(x) {
		return doc, nil
	}
	phase := hook.Response
	if x.streams() {
		phase = hook.Event
	}
	from, to := resultSpan(x.upstream.Binding, doc)
	if from == to {
		return doc, nil
	}
	changed := doc
	_, err := ho.runHooks(x, ho.callout(x, phase, x.upstream.Side, doc[from:to:to]), func(result []byte) error {
		changed = splice(doc, from, to, result)
		before, err := ho.judge(x.upstream, doc) // lists have lost tasks since they were judged first
		if err != nil {
			return err
		}
		after, err := ho.judge(x.upstream, changed)
		if err == nil && !sameShown(before, after) {
			err = errors.New("it changed which tasks an answer shows")
		}
		return err
	})
	return changed, err
}

// sameShown reports whether two answers show the same tasks, which have been found to
// be the caller's.
func sameShown(a, b wire.Answer) bool {
	return a.Kind == b.Kind && !isError(b) && a.ContextID == b.ContextID && slices.EqualFunc(a.Tasks, b.Tasks, func(a, b wire.TaskRef) bool {
		return a.ID == b.ID && a.ContextID == b.ContextID
	})
}
