package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

const second = time.Second

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
				if !strings.EqualFold(scheme, bearer) {
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

// timely holds the time that an agent names, if it names one, to push.age. Standard
// Webhooks has a header for it, of seconds since 1970.
func (wh *webhooks) timely(h http.Header) bool {
	named := h.Get("Webhook-Timestamp")
	if named == "" {
		return true
	}
	at, err := strconv.ParseInt(named, 10, 64)
	if err != nil {
		return false
	}
	return time.Since(time.Unix(at, 0)).Abs() <= wh.relay.Hooks.Config().Age.Std()
}

// readNotification takes the body in, and looks which task it is about.
func (no *notifications) readNotification(x *exchange.Exchange, n *notification) error {
	if !wire.MediaType(x.Request.Header.Get("Content-Type")) {
		return &declined{status: http.StatusUnsupportedMediaType, reason: wire.ContentType.Reason}
	}
	body := buffers.New()
	x.Body = body
	limit := int64(no.Relay.Hooks.Config().Body)
	err := body.Fill(x.Request.Body, x.Request.ContentLength, limit)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, buffers.ErrTooLong), errors.As(err, &tooLarge):
		x.Writer.Header().Set("Connection", "close") // the rest of the body is not worth reading
		return &declined{
			status: http.StatusRequestEntityTooLarge, reason: wire.TooLarge.Reason,
			cause: fmt.Errorf("the body exceeds push.body (%d bytes)", limit),
		}
	case err != nil:
		return &declined{status: http.StatusBadRequest, reason: wire.Malformed.Reason, cause: err}
	}
	n.body = body.Bytes()
	x.Rec.RequestBytes, x.Rec.Digest = int64(len(n.body)), buffers.Digest(n.body)
	jsonscan.MendHere(n.body) // it is posted as the gateway's own
	if n.hook.Speaks == wire.V10 && x.Agent.Tolerates(agents.ZonelessTimes) {
		var changed bool
		if n.body, changed = zoned(n.body); changed {
			x.UsesQuirk(agents.ZonelessTimes)
		}
	}
	limits := no.answerLimits()
	n.speak = n.hook.Speaks
	n.seen, err = wire.ReadAnswer(wire.HTTPJSON, n.speak, streamMessage, n.body, limits)
	if err == nil && n.seen.Kind != "" {
		if spoken := writtenIn(n.body, n.speak); spoken != n.speak {
			n.speak = spoken
			n.seen, err = wire.ReadAnswer(wire.HTTPJSON, n.speak, streamMessage, n.body, limits)
		}
	}
	what := len(n.seen.Tasks) == 1 && n.seen.Tasks[0].ID != "" || n.seen.Kind == "message" && len(n.seen.Tasks) == 0
	if err != nil || exchange.IsError(n.seen) || n.seen.Kind == "" || n.seen.Kind == "list" || !what {
		return &declined{status: http.StatusBadRequest, reason: wire.BadAgentResponse.Reason, cause: err}
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
func (fw *forwarder) retellNotification(x *exchange.Exchange, n *notification) ([]byte, error) {
	h := n.hook
	if h.Foreign.Agent != "" {
		x.Contexts = append(x.Contexts, newForeign(h.Foreign.Agent, h.Foreign.Caller))
	}
	if err := fw.nameContexts(x, &n.seen); err != nil {
		return nil, err
	}
	doc, err := fw.screenAnswer(x, wire.Side{Version: n.speak, Binding: wire.HTTPJSON}, streamMessage, n.seen, n.body)
	if err != nil {
		return nil, err
	}
	if n.speak == h.Version && h.Renamed.Caller == "" && h.Session.Caller == "" {
		return append([]byte(nil), x.RestoreContext(doc)...), nil
	}
	from := n.speak
	if fw.wantsTask(n) {
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

// wantsTask reports whether a receiver is to have the whole task in the place of an
// update: clients of before 1.0 were told that notifications are tasks.
func (wh *webhooks) wantsTask(n *notification) bool {
	update := n.seen.Kind == "statusUpdate" || n.seen.Kind == "artifactUpdate"
	return update && n.hook.Version != wire.V10 && wh.relay.Hooks.Config().Tasks()
}

// askLimit is how long an agent that waits for its delivery to be taken is asked.
const askLimit = 10 * time.Second

// wholeTask asks the agent for the task, in its owner's behalf, and returns it as a 1.0
// notification. The owner's credentials are not at hand: an agent that wants them says no.
func (fw *forwarder) wholeTask(x *exchange.Exchange, n *notification) ([]byte, error) {
	ctx, cancel := context.WithTimeout(x.Ctx, askLimit)
	defer cancel()
	before, request := x.Call, x.Request
	defer func() { x.Call, x.Request = before, request }()
	x.Call = wire.Call{Binding: wire.HTTPJSON, Version: n.speak, Method: getTask, TaskID: n.hook.Task}
	x.Request = request.Clone(x.Ctx)
	x.Request.Header = http.Header{} // what the agent sent is not for the agent
	x.Named = true                   // whichever tenant the interface has
	if err := x.Connect(); err != nil {
		return nil, err
	}
	l, doc, seen, err := fw.ask(ctx, x, question(getTask, n.hook.Task, nil))
	if err == nil {
		doc, err = fw.screenAnswer(x, l.Side, l.Call.Method, seen, doc)
	}
	if err == nil {
		err = fw.nameContexts(x, &seen)
	}
	if err != nil {
		return nil, err
	}
	if doc, err = l.Retell.Answer(nil, doc); err != nil {
		return nil, exchange.Retelling(err)
	}
	return append(append([]byte(`{"task":`), doc...), '}'), nil
}
