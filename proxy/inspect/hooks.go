package inspect

import (
	"cmp"
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
)

// Hooks asks the services that take part in calls (extensions[].hooks), and answers calls that the
// gateway serves in an agent's place.
type Hooks struct {
	*negotiate.ExtensionRules
	*intake.Decoder
	*wellknown.CardViews

	Providers map[string]ext.Provider
	Server    *server.Config
}

// callout describes the call to a hook.
func (ho *Hooks) callout(x *exchange.Exchange, phase hook.Phase, s wire.Side, doc []byte) hook.Callout {
	return hook.Callout{
		Phase: phase, Agent: x.Agent.ID, Method: x.Call.Method.Name,
		Version: string(s.Version), Binding: s.Binding.String(), Skill: x.Skill,
		Principal: x.Principal.Subject, Tenant: x.Principal.Tenant, RequestID: x.Rec.RequestID,
		TaskID: cmp.Or(x.Call.TaskID, x.Rec.TaskID), Document: doc,
	}
}

// askHooks is the request phase.
//
// A hook is sent the params and may send other params back. What decided about the call is
// compared afterwards: a hook that changes the task, the context or the skill has broken its
// contract, and the call fails with INTERNAL_ERROR rather than go where the rules have not looked.
func (ho *Hooks) askHooks(x *exchange.Exchange) error {
	if !ho.Hooked(x) {
		return nil
	}
	doc := x.Call.Params
	if doc == nil {
		doc = []byte("{}")
	}
	body := x.Call.Body
	_, err := ho.RunHooks(x, ho.callout(x, hook.Request, x.Side(), doc), func(params []byte) (err error) {
		if body, err = x.WithParams(params); err != nil {
			return err
		}
		before, err := ho.RereadBody(x, x.Call.Body)
		if err != nil {
			return err
		}
		after, err := ho.RereadBody(x, body)
		if err == nil && !sameBusiness(before, after) {
			err = errors.New("it changed what the call is about")
		}
		return err
	})
	if err != nil {
		return err
	}
	return ho.ReplaceBody(x, body)
}

// sameBusiness reports whether two calls are about the same things: what decided
// whose they are and whether they are allowed is not for a hook to change.
func sameBusiness(a, b *wire.Call) bool {
	return a.Method == b.Method && a.TaskID == b.TaskID && a.ContextID == b.ContextID && a.Tenant == b.Tenant &&
		a.ConfigID == b.ConfigID && a.Skill == b.Skill && a.HasPushConfig == b.HasPushConfig &&
		a.PageToken == b.PageToken && slices.Equal(a.ReferenceTaskIDs, b.ReferenceTaskIDs)
}

// tellHooks is the response phase, or that of one event.
//
// It is given the result without JSON-RPC's envelope, and its answer is put back into the
// envelope. An error has no result, and is not shown to hooks.
func (ho *Hooks) tellHooks(x *exchange.Exchange, doc []byte) ([]byte, error) {
	if !ho.Hooked(x) {
		return doc, nil
	}
	phase := hook.Response
	if x.Streams() {
		phase = hook.Event
	}
	from, to := ownership.ResultSpan(x.Upstream.Binding, doc)
	if from == to {
		return doc, nil
	}
	changed := doc
	_, err := ho.RunHooks(x, ho.callout(x, phase, x.Upstream.Side, doc[from:to:to]), func(result []byte) error {
		changed = jsonscan.Replaced(doc, from, to, result)
		before, err := ho.Judge(x.Upstream, doc) // lists have lost tasks since they were judged first
		if err != nil {
			return err
		}
		after, err := ho.Judge(x.Upstream, changed)
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
