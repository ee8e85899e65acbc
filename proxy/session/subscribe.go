package session

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// snapshot is what a task was when a subscription to it began.
type snapshot struct {
	doc    []byte // in the agent's words, as an event of its stream would have it
	status []byte // in the agent's words
	at     time.Time
}

// subscribe gives a 1.0 caller what SubscribeToTask promises (A2A 1.0 §3.1.6) in
// front of an agent whose resubscribe does not: the task as it is comes first,
// and a task that has ended is refused. The two are asked for at the same time,
// so that nothing can happen in between that neither shows; what both show is
// left out of the stream.
//
// A task that waits for authorization, and that the gateway can answer, is held back and answered
// instead of being streamed.
func (se *Sessions) subscribe(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	out, stop := se.openBeside(ctx, x)
	defer stop()
	l, doc, seen, err := se.AskAboutTask(ctx, x, intake.Question(intake.GetTask, x.Call.TaskID, nil))
	switch {
	case err != nil:
	case taskstate.Terminal(seen.State):
		err = wire.Errorf(wire.Unsupported, "the task has ended; get it instead")
	}
	if err != nil {
		stop()
	}
	s := se.AwaitOpening(ctx, x, out, stop, seen.State)
	if s.Resp != nil {
		defer x.Up.LetGo(s.Resp)
	}
	switch {
	case err != nil:
		return err
	case s.Err != nil:
		return s.Err
	case !streams(s.Resp, x.Upstream):
		empty, err := se.refusedStream(ctx, x, s.Resp)
		if err != nil || empty == nil {
			return err
		}
		s.Resp = empty
	}
	late.Stop()
	from := newSnapshot(l, doc)
	x.Leads = true
	if from.doc, err = se.GovernAnswer(x, seen, from.doc); err != nil {
		return err
	}
	x.Leads = false
	if from.doc, err = se.RestoreIDs(x, &seen, from.doc); err != nil {
		return err
	}
	d, err := se.ReadDemand(x, seen, doc)
	if err != nil {
		return err
	}
	if d != nil {
		if from.doc, err = se.EnrichDemand(x, from.doc); err != nil {
			return err
		}
		if se.MayAnswerTask(ctx, x, d, notifications.StreamMessage) {
			return holdDemand(x, d, func(emit exchange.Telling) error { return x.Retell(from.doc, emit) })
		}
	}
	return se.relay(x, s.Resp, from)
}

// openBeside subscribes to the call's task in a goroutine of its own, until stop is called.
func (se *Sessions) openBeside(ctx context.Context, x *exchange.Exchange) (_ <-chan forward.Opening, stop context.CancelFunc) {
	ctx, stop = context.WithCancel(ctx)
	out := make(chan forward.Opening, 1)
	go func() {
		var o forward.Opening
		defer func() { out <- o }()
		defer se.Contain(x, &o.Err)
		o.Resp, o.Err = se.SendCall(ctx, x)
	}()
	return out, stop
}

// newSnapshot makes an event of the answer to a get. JSON-RPC has the same
// envelope for both; the ProtoJSON of 0.3 puts events into a wrapper.
func newSnapshot(l *exchange.UpstreamCall, doc []byte) *snapshot {
	s := &snapshot{doc: doc}
	task := doc
	if l.Binding == wire.JSONRPC {
		task = inner(l, doc)
	} else {
		s.doc = append(append([]byte(`{"task":`), doc...), '}')
	}
	s.status, s.at = ownership.StatusOf(task)
	return s
}

// shows reports whether the snapshot had what an event brings: the same status,
// or one that is no newer. Artifacts have no time; what of them came between the
// two questions comes twice, and never not at all.
//
// A status that is as old as the snapshot or older was in it. Without timestamps two statuses are
// compared as JSON.
func (s *snapshot) shows(l *exchange.UpstreamCall, doc []byte) bool {
	if s == nil {
		return false
	}
	status, at := ownership.StatusOf(inner(l, doc))
	if status == nil {
		return false
	}
	if at.IsZero() || s.at.IsZero() {
		return alike(status, s.status)
	}
	return !at.After(s.at)
}

// alike reports whether two values say the same, in whatever order.
func alike(a, b []byte) bool {
	plain := func(v []byte) []byte {
		c := jsontext.Value(bytes.Clone(v))
		_ = c.Canonicalize() // both have been read before
		return c
	}
	return bytes.Equal(a, b) || bytes.Equal(plain(a), plain(b))
}

// refusedStream gives the caller what the agent has answered in the place of a stream, or
// where that is an error that says that there is none of the task, returns an empty one.
//
// It returns nil, nil where the caller has been answered.
func (se *Sessions) refusedStream(ctx context.Context, x *exchange.Exchange, resp *http.Response) (*http.Response, error) {
	body := buffers.New()
	defer x.GiveBack(body)
	a, err := se.Receive(x, x.Upstream, resp, body)
	if err != nil {
		return nil, err
	}
	if empty := x.WithoutStream(resp, a); empty != nil {
		_ = resp.Body.Close() // it has been read
		return empty, nil
	}
	return nil, se.RelayReceived(ctx, x, resp, a)
}

// inner takes the task or update out of an event of the agent's.
func inner(l *exchange.UpstreamCall, doc []byte) []byte {
	var event struct {
		Result jsontext.Value `json:"result"`
		Task   jsontext.Value `json:"task"`
		Update jsontext.Value `json:"statusUpdate"`
	}
	doc = jsonscan.Mend(doc)
	if json.Unmarshal(doc, &event) != nil {
		return doc
	}
	switch {
	case l.Binding == wire.JSONRPC:
		return event.Result
	case event.Task != nil:
		return event.Task
	case event.Update != nil:
		return event.Update
	}
	return doc
}

// snapshotOf is what a client is shown in the first event of a stream.
func snapshotOf(l *exchange.UpstreamCall, lead []stream.Entry) *snapshot {
	s := new(snapshot)
	for _, e := range lead {
		s.status, s.at = ownership.StatusOf(inner(l, e.Data))
	}
	return s
}
