package forward

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
)

// errorWait is how long the body of an answer that is an error by its status is waited for
// behind its head. Errors of the bindings are small, and come with the head; where one does
// not, the caller is better served by the status now than by whatever may come later.
const errorWait = time.Second

// Receive reads a unary answer. body holds it for as long as it is used. What an agent
// says by its HTTP status alone, whatever the body, is an error here.
//
// The error is a *wire.Error for the caller. Received has the document, what was seen in it, and
// the form that it came in where that was not the usual one. A status from 300 on is given one
// second for its body, since proxies send error pages of any length.
func (fw *Forwarder) Receive(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, body *buffers.Buffer) (exchange.Received, error) {
	if resp.StatusCode >= http.StatusMultipleChoices {
		if !mayBeError(l, resp) {
			return exchange.Received{}, fw.statusError(x, l, resp, false)
		}
		late := time.AfterFunc(errorWait, func() { _ = resp.Body.Close() }) // which ends a Read
		defer late.Stop()
	}
	limit := int64(fw.Server.Limits.Answer)
	err := body.Fill(resp.Body, resp.ContentLength, limit)
	switch {
	case err == nil:
	case resp.StatusCode >= http.StatusMultipleChoices:
		return exchange.Received{}, fw.statusError(x, l, resp, false) // of an error page some will do
	case errors.Is(err, buffers.ErrTooLong):
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse,
			"the answer exceeds server.limits.answer (%d bytes)", limit)
	default:
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "the agent's answer broke off").Because(err)
	}
	if l.Binding == wire.GRPC {
		return fw.receiveRPC(x, l, resp, body.Bytes())
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fw.receiveError(x, l, resp, body.Bytes())
	}
	return fw.receiveDocument(x.Agent, l, resp, body.Bytes())
}

// mayBeError reports whether the body of an answer that is none by its status may be an error
// of the binding. In JSON it may, whatever it is labelled as.
func mayBeError(l *exchange.UpstreamCall, resp *http.Response) bool {
	if l.Binding == wire.GRPC {
		return intake.IsGRPC(intake.MediaType(resp.Header))
	}
	return resp.StatusCode >= http.StatusBadRequest && isFinal(resp.StatusCode)
}

// receiveDocument reads an answer that is a success by its status.
//
// An event stream of exactly one event is accepted as one answer, as some agents stream whatever
// is asked.
func (fw *Forwarder) receiveDocument(from *agents.Agent, l *exchange.UpstreamCall, resp *http.Response, body []byte) (a exchange.Received, err error) {
	label := mediatype.ReadLabel(resp.Header["Content-Type"])
	a.Relabel = label.Corrected()
	switch {
	case label.Media != mediatype.Events:
	case jsonscan.IsObject(body): // and no line of it is a field of an event
		label = mediatype.Label{Form: "Content-Type text/event-stream", JSON: true}
	default:
		if body, err = fw.onlyEvent(l, body); err != nil {
			return a, err
		}
		label = mediatype.Label{Form: "event stream", JSON: true}
	}
	if a.Doc, a.Form, err = label.Document(body); err != nil {
		return a, wire.Errorf(wire.BadAgentResponse, "%s", err).Because(heardStatus(resp))
	}
	if from.Zones(l.Side) {
		a.Doc, a.Zoned = notifications.Zoned(a.Doc)
	}
	a.Bytes = a.Doc
	if a.Seen, err = fw.Judge(l, a.Doc); err != nil && len(bytes.TrimSpace(a.Doc)) == 0 {
		return a, wire.Errorf(wire.BadAgentResponse, "the agent answered %d without a body", resp.StatusCode).Because(err)
	}
	return a, err
}

// receiveError reads an answer that is none by its status. Where its body is an error
// of the binding, whatever it is labelled as, it says so in its own words.
func (fw *Forwarder) receiveError(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, body []byte) (exchange.Received, error) {
	label := mediatype.ReadLabel(resp.Header["Content-Type"])
	a := exchange.Received{Relabel: label.Corrected()}
	label.Other = false // a JSON object is no page, whatever it was sent as
	var unread error
	if a.Doc, a.Form, unread = label.Document(body); unread != nil {
		return exchange.Received{}, fw.statusError(x, l, resp, false)
	}
	var err error
	a.Bytes = a.Doc
	a.Seen, err = fw.Judge(l, a.Doc)
	object := bytes.HasPrefix(bytes.TrimLeft(a.Doc, " \t\r\n"), []byte("{"))
	switch {
	case err != nil, !object, l.Binding == wire.JSONRPC && (!exchange.IsError(a.Seen) || !Answers(a.Seen, l.Call.ID)):
		return exchange.Received{}, fw.statusError(x, l, resp, false)
	case l.Binding == wire.JSONRPC:
		return a, nil
	}
	return a, fw.byStatus(x, l, resp, &a)
}

// Answers reports whether an answer has the id of the call, or as an error none.
func Answers(seen wire.Answer, id []byte) bool {
	if seen.Error != 0 && (len(seen.ID) == 0 || string(seen.ID) == "null") {
		return true
	}
	return seen.Answers(id)
}

// byStatus has an object of HTTP+JSON be the error that its status is, where it says no
// better. A result is shown to nobody then: nothing of it has been looked at.
//
// 401 and 403 always mean what they say, whatever object stands in the body.
func (fw *Forwarder) byStatus(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, a *exchange.Received) error {
	seen := &a.Seen
	switch {
	case seen.Reason != "":
		return nil
	case seen.Error == 0:
		e := fw.statusError(x, l, resp, true)
		if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden || mayBeResult(l, seen) {
			return e
		}
		a.Bare, seen.Error, seen.Reason = e, resp.StatusCode, e.Reason
	case seen.Error == wire.Internal.Code:
		seen.Error = resp.StatusCode
	}
	return nil
}

// mayBeResult reports whether an object of HTTP+JSON that is no error may be what the method
// returns. Cards and push notification configs may be any object.
func mayBeResult(l *exchange.UpstreamCall, seen *wire.Answer) bool {
	return seen.Kind != "" || seen.State != "" || seen.ContextID != "" || len(seen.Tasks) > 0 ||
		l.Call.Method.Push || l.Call.Method.Name == wire.GetExtendedAgentCard
}

// isFinal reports whether there is such a status (RFC 9110 §15). It is between the
// gateway and the agent when there is not.
func isFinal(status int) bool { return 200 <= status && status < 600 }

// statusError is the error of an answer whose status is all there is to read. object is for a
// JSON object of HTTP+JSON.
//
// Passes and Asks tell whose credential was refused: the caller's own, which the caller can mend,
// or one of the gateway's, which is the operator's affair and a 502 to the caller.
func (fw *Forwarder) statusError(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, object bool) *wire.Error {
	status := resp.StatusCode
	e := failure.Plain{
		Status: status, Type: resp.Header.Get("Content-Type"), Object: object, Task: l.Call.TaskID != "",
	}.Error()
	up := x.Agent.Upstream
	switch {
	case status == http.StatusUnauthorized && up.Passes("Authorization"): // it judged the caller's own credential
		e.Kind, e.Message = wire.Unauthenticated, ""
		if challenge := resp.Header["Www-Authenticate"]; len(challenge) > 0 {
			e.Header = http.Header{"Www-Authenticate": challenge}
		}
	case status == http.StatusForbidden && up.Asks(): // it knows who is calling
		e.Kind, e.Message = wire.Denied, "permission denied by the agent"
	}
	if failure.RetryAs(e, resp.Header); status == http.StatusServiceUnavailable && e.Header == nil {
		e.Header = exchange.RetryLater("5", "").Header
	}
	if isFinal(status) && status >= http.StatusMultipleChoices {
		e.Kind = exchange.Said(e.Kind)
	}
	fw.tellRedirect(x, l, resp)
	return e.Because(heardStatus(resp))
}

// tellRedirect tells the operator, once of each endpoint, that an agent is somewhere else
// than its card says. Every call fails until somebody mends it.
func (fw *Forwarder) tellRedirect(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response) {
	to := redirectTo(resp)
	if to == "" {
		return
	}
	if _, told := fw.redirects.LoadOrStore(l.Address, true); !told {
		fw.Telemetry.Log.Warn("agent answers with a redirect, and redirects are not followed: name the URL that answers in its card or in agents[].endpoints",
			"agent", x.Agent.ID, "endpoint", l.Address, "status", resp.StatusCode, "location", to)
	}
}

// heardStatus is for the log and the record what an agent answered: where a redirect
// leads is shown without what may be secret in it.
func heardStatus(resp *http.Response) error {
	err := fmt.Errorf("%w HTTP %d with media type %q", exchange.ErrAgentSaid, resp.StatusCode, intake.MediaType(resp.Header))
	if to := redirectTo(resp); to != "" {
		return fmt.Errorf("%w, a redirect to %s", err, to)
	}
	return err
}

// redirectTo is where a redirect leads, without what may be secret in it; "" for none.
func redirectTo(resp *http.Response) string {
	location := resp.Header.Get("Location")
	if location == "" || resp.StatusCode < 300 || resp.StatusCode > 399 {
		return ""
	}
	u, err := url.Parse(location)
	if err != nil {
		return "an unreadable address"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// onlyEvent is the data of the one event of a stream that answers a call for one
// answer. A stream of more cannot be one. What counts as an event is as in other streams.
func (fw *Forwarder) onlyEvent(l *exchange.UpstreamCall, body []byte) ([]byte, error) {
	events := agentevents.SSE(bytes.NewReader(body), int(fw.Server.Limits.Answer))
	var data []byte
	for n := 0; ; {
		event, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) && n == 1:
			return data, nil
		case errors.Is(err, io.EOF):
			return nil, wire.Errorf(wire.BadAgentResponse, "the agent streamed %d events where one answer was due", n)
		case err != nil:
			return nil, wire.Errorf(wire.BadAgentResponse, "the agent's stream broke off").Because(err)
		case !event.HasData || fw.isNone(l, event):
			continue
		}
		n++
		data = bytes.Clone(event.Data)
	}
}

// isNone reports whether an event is none of A2A's.
func (fw *Forwarder) isNone(l *exchange.UpstreamCall, event agentevents.Event) bool {
	switch UtteranceOf(l.Binding, event) {
	case NoEvent:
		return true
	case MaybeEvent:
		seen, err := fw.Judge(l, event.Data)
		return err != nil || ShowsNothing(l.Call.Method, seen)
	}
	return false
}
