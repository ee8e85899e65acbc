package gatewaytest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"time"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
)

// session is one client's run of the operations.
type session struct {
	ctx    context.Context
	client Client
	tape   *tape
	names  names
	lines  []string
}

// perform runs one operation and gives what happened, comparable between runs:
// results first, then the wire.
func (s *session) perform(op Operation) []string {
	results, wire := s.do(op)
	return op.comparable(append(results, wire...), s.names)
}

// do runs one operation and gives what happened, with the ids it happened under.
func (s *session) do(op Operation) (results, wire []string) {
	s.lines = nil
	s.tape.take()
	whole := s.ctx
	ctx, cancel := context.WithTimeout(whole, 20*time.Second)
	defer cancel()
	s.ctx = ctx
	op.run(s)
	s.ctx = whole
	return s.lines, s.tape.take()
}

// comparable names ids and times, and keeps what is new where a task says the
// same thing until it is cancelled.
func (op Operation) comparable(lines []string, n names) []string {
	var out []string
	for _, line := range lines {
		line = n.rewrite(line)
		if !op.ticks || !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

func (s *session) note(what string, v any, err error) {
	if err != nil {
		s.lines = append(s.lines, what+": "+reason(err))
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		s.lines = append(s.lines, what+": not JSON: "+err.Error())
		return
	}
	s.lines = append(s.lines, what+": "+string(text))
}

// known are the protocol's errors in both SDKs.
var known = []struct{ now, old error }{
	{a2a.ErrParseError, a2a03.ErrParseError},
	{a2a.ErrInvalidRequest, a2a03.ErrInvalidRequest},
	{a2a.ErrMethodNotFound, a2a03.ErrMethodNotFound},
	{a2a.ErrInvalidParams, a2a03.ErrInvalidParams},
	{a2a.ErrTaskNotFound, a2a03.ErrTaskNotFound},
	{a2a.ErrTaskNotCancelable, a2a03.ErrTaskNotCancelable},
	{a2a.ErrPushNotificationNotSupported, a2a03.ErrPushNotificationNotSupported},
	{a2a.ErrUnsupportedOperation, a2a03.ErrUnsupportedOperation},
	{a2a.ErrUnauthenticated, a2a03.ErrUnauthenticated},
	{a2a.ErrUnauthorized, a2a03.ErrUnauthorized},
	{a2a.ErrExtensionSupportRequired, nil},
	{a2a.ErrVersionNotSupported, nil},
	{context.DeadlineExceeded, nil},
}

// reason names an error by the protocol's error it is, if the SDK can tell.
func reason(err error) string {
	for _, k := range known {
		if errors.Is(err, k.now) || k.old != nil && errors.Is(err, k.old) {
			return "error " + k.now.Error()
		}
	}
	return "error"
}

func request(text string, parts ...*a2a.Part) *a2a.SendMessageRequest {
	parts = append([]*a2a.Part{a2a.NewTextPart(text)}, parts...)
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
}

// task gives the id of the task that answered; "" for a message.
func task(e a2a.Event) a2a.TaskID {
	if e == nil {
		return ""
	}
	return e.TaskInfo().TaskID
}

func (s *session) send(text string, parts ...*a2a.Part) a2a.TaskID {
	return s.sendRequest(request(text, parts...))
}

func (s *session) sendRequest(r *a2a.SendMessageRequest) a2a.TaskID {
	// The Go SDKs answer before they have put an execution away, and refuse to
	// continue the task until they have.
	for {
		result, err := s.client.SendMessage(s.ctx, r)
		if err != nil && inProgress(err, s.tape) {
			runtime.Gosched()
			continue
		}
		if err != nil {
			s.note("send", nil, err)
			return ""
		}
		s.note("send", a2a.StreamResponse{Event: result}, nil)
		return task(result)
	}
}

// inProgress recognizes the SDK's refusal, also where the client has lost its
// words, and forgets the answer that carried it.
func inProgress(err error, t *tape) bool {
	t.mu.Lock()
	seen := strings.Contains(err.Error(), "already in progress")
	if n := len(t.answers); n > 0 {
		seen = seen || strings.Contains(t.answers[n-1].body.String(), "already in progress")
	}
	t.mu.Unlock()
	if seen {
		t.drop(1)
	}
	return seen
}

func (s *session) resume(id a2a.TaskID, text string) {
	r := request(text)
	r.Message.TaskID = id
	s.sendRequest(r)
}

func (s *session) stream(text string) a2a.TaskID {
	return s.events("stream", s.client.SendStreamingMessage(s.ctx, request(text)), nil)
}

// events notes every event; each may react.
func (s *session) events(
	what string, events iter.Seq2[a2a.Event, error], each func(a2a.Event),
) (id a2a.TaskID) {
	for event, err := range events {
		if err != nil {
			s.note(what, nil, err)
			return id
		}
		id = task(event)
		s.note(what, a2a.StreamResponse{Event: event}, nil)
		if each != nil {
			each(event)
		}
	}
	s.lines = append(s.lines, what+": end")
	return id
}

func (s *session) cancel(id a2a.TaskID) {
	result, err := s.client.CancelTask(s.ctx, &a2a.CancelTaskRequest{ID: id})
	s.note("cancel", result, err)
}

func (s *session) subscribeTo(id a2a.TaskID, each func(a2a.Event)) {
	s.events("subscribe", s.client.SubscribeToTask(s.ctx, &a2a.SubscribeToTaskRequest{ID: id}), each)
}

// subscribeEnded subscribes to a task that has ended. For a moment after the end
// the SDK's servers still let subscribers in, until they have tidied up: whether
// a client gets there first is chance, so such an answer is forgotten and the
// question put again.
func (s *session) subscribeEnded() {
	id := s.send("task")
	for s.ctx.Err() == nil {
		before := len(s.lines)
		s.subscribeTo(id, nil)
		if last := s.lines[len(s.lines)-1]; strings.HasPrefix(last, "subscribe: error") {
			return
		}
		s.lines = s.lines[:before]
		s.tape.drop(1)
		select {
		case <-time.After(10 * time.Millisecond):
		case <-s.ctx.Done():
		}
	}
	s.note("subscribe", nil, s.ctx.Err())
}

func (s *session) get(id a2a.TaskID, length *int) {
	result, err := s.client.GetTask(s.ctx, &a2a.GetTaskRequest{ID: id, HistoryLength: length})
	s.note("get", result, err)
}
