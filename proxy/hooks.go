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
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
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
func (er *extensionRules) hooked(x *exchange.Exchange) bool {
	for _, uri := range x.Terms.Send {
		if len(er.book.Hooks(uri)) > 0 {
			return true
		}
	}
	for _, uri := range x.Terms.Provided {
		if len(er.book.Hooks(uri)) > 0 {
			return true
		}
	}
	return false
}

// callout describes the call to a hook.
func (ho *hooks) callout(x *exchange.Exchange, phase hook.Phase, s wire.Side, doc []byte) hook.Callout {
	return hook.Callout{
		Phase: phase, Agent: x.Agent.ID, Method: x.Call.Method.Name,
		Version: string(s.Version), Binding: s.Binding.String(), Skill: x.Skill,
		Principal: x.Principal.Subject, Tenant: x.Principal.Tenant, RequestID: x.Rec.RequestID,
		TaskID: cmp.Or(x.Call.TaskID, x.Rec.TaskID), Document: doc,
	}
}

// runHooks gives a document to every hook of the call's extensions, one after the
// other, each what the one before has made of it. check says what is wrong with that.
func (er *extensionRules) runHooks(x *exchange.Exchange, c hook.Callout, check func(doc []byte) error) ([]byte, error) {
	for _, uri := range slices.Concat(x.Terms.Send, x.Terms.Provided) {
		for _, h := range er.book.Hooks(uri) {
			if !h.Handles(c.Phase) {
				continue
			}
			c.Extension = uri
			c.Failed = func(error) { noteHook(x, uri, "the hook gave no usable answer, and was passed over", false) }
			out, err := h.Call(x.Ctx, c)
			var denied *hook.Denied
			switch {
			case errors.As(err, &denied):
				return nil, hookDenied(x, uri, denied, c.Phase != hook.Request)
			case err != nil:
				noteHook(x, uri, "the hook gave no usable answer", true)
				return nil, exchange.RetryLater("5", "an extension of this call cannot be served at the moment").
					Because(errors.Join(errHook, err))
			}
			if !exchange.Same(out, c.Document) {
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
func noteHook(x *exchange.Exchange, uri, what string, enforced bool) {
	x.Note(&content.Violation{Extension: uri, Fault: content.Hooked, Text: what, Enforced: enforced})
}

// hide makes another error of a *wire.Error: it is of what a hook wrote, and not for
// the caller.
func hide(err error) error { return errors.New(err.Error()) }

// hookDenied refuses a call that a hook said no to, and an answer likewise: it is
// withheld.
func hookDenied(x *exchange.Exchange, uri string, d *hook.Denied, answer bool) error {
	noteHook(x, uri, "a hook said no", true)
	kind, text := wire.Denied, cmp.Or(d.Message, "an extension does not allow this call")
	if answer {
		kind, text = wire.BadAgentResponse, cmp.Or(d.Message, "an extension does not allow this answer")
	}
	e := wire.Errorf(kind, "%s", text)
	if x.Shown.Has(uri) {
		e.Meta = map[string]string{"extension": uri}
	}
	return e.Because(d)
}

// askHooks is the request phase.
func (ho *hooks) askHooks(x *exchange.Exchange) error {
	if !ho.hooked(x) {
		return nil
	}
	doc := x.Call.Params
	if doc == nil {
		doc = []byte("{}")
	}
	body := x.Call.Body
	_, err := ho.runHooks(x, ho.callout(x, hook.Request, x.Side(), doc), func(params []byte) (err error) {
		if body, err = x.WithParams(params); err != nil {
			return err
		}
		before, err := ho.reread(x, x.Call.Body)
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

// sameBusiness reports whether two calls are about the same things: what decided
// whose they are and whether they are allowed is not for a hook to change.
func sameBusiness(a, b *wire.Call) bool {
	return a.Method == b.Method && a.TaskID == b.TaskID && a.ContextID == b.ContextID && a.Tenant == b.Tenant &&
		a.ConfigID == b.ConfigID && a.Skill == b.Skill && a.HasPushConfig == b.HasPushConfig &&
		a.PageToken == b.PageToken && slices.Equal(a.ReferenceTaskIDs, b.ReferenceTaskIDs)
}

// tellHooks is the response phase, or that of one event.
func (ho *hooks) tellHooks(x *exchange.Exchange, doc []byte) ([]byte, error) {
	if !ho.hooked(x) {
		return doc, nil
	}
	phase := hook.Response
	if x.Streams() {
		phase = hook.Event
	}
	from, to := resultSpan(x.Upstream.Binding, doc)
	if from == to {
		return doc, nil
	}
	changed := doc
	_, err := ho.runHooks(x, ho.callout(x, phase, x.Upstream.Side, doc[from:to:to]), func(result []byte) error {
		changed = exchange.Splice(doc, from, to, result)
		before, err := ho.judge(x.Upstream, doc) // lists have lost tasks since they were judged first
		if err != nil {
			return err
		}
		after, err := ho.judge(x.Upstream, changed)
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
	return a.Kind == b.Kind && !exchange.IsError(b) && a.ContextID == b.ContextID && slices.EqualFunc(a.Tasks, b.Tasks, func(a, b wire.TaskRef) bool {
		return a.ID == b.ID && a.ContextID == b.ContextID
	})
}
