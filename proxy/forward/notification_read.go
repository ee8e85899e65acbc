package forward

import (
	"context"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// retellNotification is the notification as its receiver is to have it. Where both sides
// speak alike it is what the agent wrote, but for ids that go by other names.
//
// The result is a copy in any case where it goes on as it came, since the body's buffer is
// another call's after this one.
func (fw *Forwarder) retellNotification(x *exchange.Exchange, n *webhooks.Notification) ([]byte, error) {
	h := n.Hook
	if h.Foreign.Agent != "" {
		x.Contexts = append(x.Contexts, ownership.NewForeign(h.Foreign.Agent, h.Foreign.Caller))
	}
	if err := fw.NameContexts(x, &n.Seen); err != nil {
		return nil, err
	}
	side := wire.Side{Version: n.Speak, Binding: wire.HTTPJSON}
	doc, err := fw.ScreenAnswer(x, side, notifications.StreamMessage, n.Seen, n.Body)
	if err == nil {
		doc, err = fw.GuardNotification(x, side, notifications.StreamMessage, doc)
	}
	if err != nil {
		return nil, err
	}
	if n.Speak == h.Version && h.Renamed.Caller == "" && h.Session.Caller == "" {
		return append([]byte(nil), x.RestoreContext(doc)...), nil
	}
	from := n.Speak
	if fw.WantsTask(n) {
		if task, err := fw.wholeTask(x, n); err == nil {
			doc, from = task, wire.V10
		} else { // the update alone is better than nothing
			x.Rec.Cause = err.Error()
		}
	}
	r := translate.Retelling{
		From: wire.Side{Version: from, Binding: wire.HTTPJSON},
		Call: &wire.Call{Version: h.Version, Binding: wire.JSONRPC, TaskID: h.Task, ContextID: h.Context},
		Task: named(h.Renamed, h.Task), Context: named(h.Session, h.Context),
	}
	return r.Notification(nil, x.RestoreContext(doc))
}

// named is an alias whose agent's side has become known.
func named(a push.Alias, agents string) translate.Alias {
	if a.Caller != "" && a.Agent == "" {
		a.Agent = agents
	}
	return translate.Alias(a)
}

// askLimit is how long an agent that waits for its delivery to be taken is asked.
const askLimit = 10 * time.Second

// wholeTask asks the agent for the task, in its owner's behalf, and returns it as a 1.0
// notification. The owner's credentials are not at hand: an agent that wants them says no.
//
// The exchange's call and request are replaced for the time of asking, because the functions that
// send a call read them from there, and nothing of the agent's own request may reach the agent as
// if the owner had sent it.
func (fw *Forwarder) wholeTask(x *exchange.Exchange, n *webhooks.Notification) ([]byte, error) {
	ctx, cancel := context.WithTimeout(x.Ctx, askLimit)
	defer cancel()
	before, request := x.Call, x.Request
	defer func() { x.Call, x.Request = before, request }()
	x.Call = wire.Call{Binding: wire.HTTPJSON, Version: n.Speak, Method: intake.GetTask, TaskID: n.Hook.Task}
	x.Request = request.Clone(x.Ctx)
	x.Request.Header = http.Header{} // what the agent sent is not for the agent
	x.Named = true                   // whichever tenant the interface has
	if err := x.Connect(); err != nil {
		return nil, err
	}
	l, doc, seen, err := fw.AskAboutTask(ctx, x, intake.Question(intake.GetTask, n.Hook.Task, nil))
	if err == nil {
		doc, err = fw.ScreenAnswer(x, l.Side, l.Call.Method, seen, doc)
	}
	if err == nil {
		doc, err = fw.GuardNotification(x, l.Side, l.Call.Method, doc)
	}
	if err == nil {
		err = fw.NameContexts(x, &seen)
	}
	if err != nil {
		return nil, err
	}
	if doc, err = l.Retell.Answer(nil, doc); err != nil {
		return nil, exchange.Retelling(err)
	}
	return append(append([]byte(`{"task":`), doc...), '}'), nil
}
