package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// proven reports whether an agent shows what it was given: the token, under one of the
// names that SDKs have for its header, or the credentials, or both, and nothing else in
// the place of either. What an SDK sends of the two differs.
func proven(h http.Header, of *push.Webhook) bool {
	right := false
	for name, want := range map[string]string{
		"X-A2a-Notification-Token": of.Shown.Reveal(),
		"A2a-Notification-Token":   of.Shown.Reveal(),
		"Authorization":            of.Authorizing.Reveal(),
	} {
		for _, value := range h[name] {
			if name == "Authorization" {
				scheme, rest, _ := strings.Cut(value, " ")
				if !strings.EqualFold(scheme, webhooks.Bearer) {
					return false
				}
				value = strings.TrimLeft(rest, " ")
			}
			if !secret.New(value).Equal(secret.New(want)) {
				return false
			}
			right = true
		}
	}
	return right
}

// readNotification takes the body in, and looks which task it is about.
func (no *notifications) readNotification(x *exchange.Exchange, n *webhooks.Notification) error {
	if !wire.MediaType(x.Request.Header.Get("Content-Type")) {
		return &webhooks.Declined{Status: http.StatusUnsupportedMediaType, Reason: wire.ContentType.Reason}
	}
	body := buffers.New()
	x.Body = body
	limit := int64(no.Relay.Hooks.Config().Body)
	err := body.Fill(x.Request.Body, x.Request.ContentLength, limit)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, buffers.ErrTooLong), errors.As(err, &tooLarge):
		x.Writer.Header().Set("Connection", "close") // the rest of the body is not worth reading
		return &webhooks.Declined{
			Status: http.StatusRequestEntityTooLarge, Reason: wire.TooLarge.Reason,
			Cause: fmt.Errorf("the body exceeds push.body (%d bytes)", limit),
		}
	case err != nil:
		return &webhooks.Declined{Status: http.StatusBadRequest, Reason: wire.Malformed.Reason, Cause: err}
	}
	n.Body = body.Bytes()
	x.Rec.RequestBytes, x.Rec.Digest = int64(len(n.Body)), buffers.Digest(n.Body)
	jsonscan.MendHere(n.Body) // it is posted as the gateway's own
	if n.Hook.Speaks == wire.V10 && x.Agent.Tolerates(agents.ZonelessTimes) {
		var changed bool
		if n.Body, changed = zoned(n.Body); changed {
			x.UsesQuirk(agents.ZonelessTimes)
		}
	}
	limits := no.AnswerLimits()
	n.Speak = n.Hook.Speaks
	n.Seen, err = wire.ReadAnswer(wire.HTTPJSON, n.Speak, streamMessage, n.Body, limits)
	if err == nil && n.Seen.Kind != "" {
		if spoken := writtenIn(n.Body, n.Speak); spoken != n.Speak {
			n.Speak = spoken
			n.Seen, err = wire.ReadAnswer(wire.HTTPJSON, n.Speak, streamMessage, n.Body, limits)
		}
	}
	what := len(n.Seen.Tasks) == 1 && n.Seen.Tasks[0].ID != "" || n.Seen.Kind == "message" && len(n.Seen.Tasks) == 0
	if err != nil || exchange.IsError(n.Seen) || n.Seen.Kind == "" || n.Seen.Kind == "list" || !what {
		return &webhooks.Declined{Status: http.StatusBadRequest, Reason: wire.BadAgentResponse.Reason, Cause: err}
	}
	return nil
}

// writtenIn is the version that a notification is in. Agents of several versions have
// one sender for all of them.
func writtenIn(doc []byte, speaks wire.Version) wire.Version {
	if from, to := exchange.MemberSpan(doc, "kind"); from < to {
		return wire.V03
	}
	for _, name := range []string{"task", "message", "statusUpdate", "artifactUpdate"} {
		if from, to := exchange.MemberSpan(doc, name); from < to {
			return wire.V10
		}
	}
	return speaks
}

// retellNotification is the notification as its receiver is to have it. Where both sides
// speak alike it is what the agent wrote, but for ids that go by other names.
func (fw *forwarder) retellNotification(x *exchange.Exchange, n *webhooks.Notification) ([]byte, error) {
	h := n.Hook
	if h.Foreign.Agent != "" {
		x.Contexts = append(x.Contexts, ownership.NewForeign(h.Foreign.Agent, h.Foreign.Caller))
	}
	if err := fw.NameContexts(x, &n.Seen); err != nil {
		return nil, err
	}
	doc, err := fw.ScreenAnswer(x, wire.Side{Version: n.Speak, Binding: wire.HTTPJSON}, streamMessage, n.Seen, n.Body)
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
func (fw *forwarder) wholeTask(x *exchange.Exchange, n *webhooks.Notification) ([]byte, error) {
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
	l, doc, seen, err := fw.ask(ctx, x, intake.Question(intake.GetTask, n.Hook.Task, nil))
	if err == nil {
		doc, err = fw.ScreenAnswer(x, l.Side, l.Call.Method, seen, doc)
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
