package notifications

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// proven reports whether an agent shows what it was given: the token, under one of the
// names that SDKs have for its header, or the credentials, or both, and nothing else in
// the place of either. What an SDK sends of the two differs.
//
// Headers are compared in constant time. No header at all is not proof, and a wrong one beside a
// right one is refused: an agent that was given one secret sends that one.
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
				if !strings.EqualFold(scheme, "Bearer") {
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

// ReadNotification takes the body in, and looks which task it is about.
//
// It leaves in n the body, the version that it is written in, and what it shows. A body about
// several tasks, an error or a list is no notification.
func (no *Notifications) ReadNotification(x *exchange.Exchange, n *webhooks.Notification) error {
	if !mediatype.OfRequest(x.Request.Header.Get("Content-Type")) {
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
	x.Rec.RequestBytes, x.Rec.Digest = int64(len(n.Body)), no.Audit.Digest(n.Body)
	jsonscan.MendHere(n.Body) // it is posted as the gateway's own
	if n.Hook.Speaks == wire.V10 && x.Agent.Tolerates(agents.ZonelessTimes) {
		var changed bool
		if n.Body, changed = Zoned(n.Body); changed {
			x.UsesQuirk(agents.ZonelessTimes)
		}
	}
	limits := no.AnswerLimits()
	n.Speak = n.Hook.Speaks
	n.Seen, err = wire.ReadAnswer(wire.HTTPJSON, n.Speak, StreamMessage, n.Body, limits)
	if err == nil && n.Seen.Kind != "" {
		if spoken := writtenIn(n.Body, n.Speak); spoken != n.Speak {
			n.Speak = spoken
			n.Seen, err = wire.ReadAnswer(wire.HTTPJSON, n.Speak, StreamMessage, n.Body, limits)
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
//
// 0.2 and 0.3 say what an object is by the member kind; 1.0 wraps it in a member of that name. A
// body with neither is taken for what the agent's interface speaks.
func writtenIn(doc []byte, speaks wire.Version) wire.Version {
	if from, to := jsonscan.MemberSpan(doc, "kind"); from < to {
		return wire.V03
	}
	for _, name := range []string{"task", "message", "statusUpdate", "artifactUpdate"} {
		if from, to := jsonscan.MemberSpan(doc, name); from < to {
			return wire.V10
		}
	}
	return speaks
}
