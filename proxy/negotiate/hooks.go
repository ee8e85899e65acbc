package negotiate

import (
	"cmp"
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

var errHook = errors.New("hook")

// Hooked reports whether any extension of the call has a hook.
func (er *ExtensionRules) Hooked(x *exchange.Exchange) bool {
	for _, uri := range x.Terms.Send {
		if len(er.Book.Hooks(uri)) > 0 {
			return true
		}
	}
	for _, uri := range x.Terms.Provided {
		if len(er.Book.Hooks(uri)) > 0 {
			return true
		}
	}
	return false
}

// RunHooks gives a document to every hook of the call's extensions, one after the
// other, each what the one before has made of it. check says what is wrong with that.
//
// The error is 403 where a hook said no to a request and INVALID_AGENT_RESPONSE where it said no to
// an answer, 503 where a hook that must answer does not, and INTERNAL_ERROR where it changed what
// it may not. No text of the hook's reaches the caller but the message of a refusal.
func (er *ExtensionRules) RunHooks(x *exchange.Exchange, c hook.Callout, check func(doc []byte) error) ([]byte, error) {
	for _, uri := range slices.Concat(x.Terms.Send, x.Terms.Provided) {
		for _, h := range er.Book.Hooks(uri) {
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
