package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	a2asrv03 "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Executor is the one behaviour behind every flavour. The first word of the
// message text chooses:
//
//	message   a message that repeats the parts after the first
//	task      a task that completes with one artifact
//	stream    working, an artifact in three chunks, completed
//	input     input-required; any answer completes the task
//	auth      auth-required; goes on until cancelled
//	tick      working, again every 2 ms and without a message, until cancelled
//	break     working, and the connection of whoever streams it breaks; then until
//	          cancelled
//	slow      working, and after four seconds completed
//	fail      a task that fails
//	reject    a task that is rejected
//
// What has an id of the official TCK's is answered as that asks. Everything but ids and
// times is the same in every run.
type Executor struct {
	quit    chan struct{}
	stopped sync.Once
	calls   atomic.Int64
	arrived atomic.Int64

	declared []a2a.AgentExtension // in its card
	act      Act                  // in the place of the words
	front    func(http.Handler) http.Handler
}

func newExecutor() *Executor { return &Executor{quit: make(chan struct{})} }

// Calls tells how many messages reached the agent. It is what shows that a
// refused call was refused before the agent.
func (e *Executor) Calls() int64 { return e.calls.Load() }

// behind puts what stands in front of the agent before its handler.
func (e *Executor) behind(handler http.Handler) http.Handler {
	if e.front != nil {
		handler = e.front(handler)
	}
	return e.count(handler)
}

func (e *Executor) stop() { e.stopped.Do(func() { close(e.quit) }) }

var errStopped = errors.New("agent stopped")

// Execute implements a2asrv.AgentExecutor.
func (e *Executor) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	e.calls.Add(1)
	if e.act != nil {
		return sequence(e.act(ec, requested(ec)))
	}
	return func(yield func(a2a.Event, error) bool) {
		s := &script{ExecutorContext: ec, ctx: ctx, quit: e.quit, yield: yield}
		s.run()
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (e *Executor) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}

// script is one execution.
type script struct {
	*a2asrv.ExecutorContext
	ctx   context.Context
	quit  <-chan struct{}
	yield func(a2a.Event, error) bool
	done  bool  // no more events are wanted
	err   error // to be yielded last
}

func (s *script) run() {
	if s.StoredTask != nil {
		s.status(a2a.TaskStateCompleted, "thank you")
		return
	}
	word := asked(s.Message)
	if word == "message" {
		s.message()
		return
	}
	s.send(a2a.NewSubmittedTask(s, s.Message))
	switch word {
	case "stream":
		s.stream()
	case "input":
		s.status(a2a.TaskStateInputRequired, "what?")
	case "auth":
		s.status(a2a.TaskStateAuthRequired, "who?")
		s.wait(time.Hour)
	case "tick":
		for s.send(a2a.NewStatusUpdateEvent(s, a2a.TaskStateWorking, nil)) && s.wait(2*time.Millisecond) {
		}
	case "break":
		s.status(a2a.TaskStateWorking, severHere)
		s.wait(time.Hour)
	case "slow":
		if s.status(a2a.TaskStateWorking, "working") && s.wait(4*time.Second) {
			s.status(a2a.TaskStateCompleted, "completed")
		}
	case "fail":
		s.status(a2a.TaskStateFailed, "failed")
	case "reject":
		s.status(a2a.TaskStateRejected, "rejected")
	default:
		s.send(s.artifact(a2a.NewTextPart("result")))
		s.status(a2a.TaskStateCompleted, "completed")
	}
}

// asked is the word of a message. Those of the official TCK do not choose by words, but
// by their ids; others of it complete a task.
func asked(m *a2a.Message) string {
	for prefix, word := range map[string]string{
		"tck-input-required":          "input",
		"tck-message-response":        "message",
		"tck-reject-task":             "reject",
		"tck-stream":                  "stream",
		"test-resubscribe-message-id": "slow",
	} {
		if strings.HasPrefix(m.ID, prefix) {
			return word
		}
	}
	word, _, _ := strings.Cut(m.Parts[0].Text(), " ")
	return word
}

func (s *script) send(e a2a.Event) bool {
	if !s.done {
		s.done = !s.yield(e, nil)
	}
	return !s.done
}

// wait reports false when the execution is over: cancelled, or the agent stops.
func (s *script) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
	case <-s.quit:
		s.err = errStopped
	}
	s.done = true
	return false
}

func (s *script) status(state a2a.TaskState, text string) bool {
	msg := a2a.NewMessageForTask(a2a.MessageRoleAgent, s, a2a.NewTextPart(text))
	return s.send(a2a.NewStatusUpdateEvent(s, state, msg))
}

func (s *script) message() {
	parts := slices.Clone(s.Message.Parts)
	parts[0] = a2a.NewTextPart("answer")
	msg := a2a.NewMessage(a2a.MessageRoleAgent, parts...)
	msg.ContextID = s.ContextID
	s.send(msg)
}

func (s *script) artifact(parts ...*a2a.Part) *a2a.TaskArtifactUpdateEvent {
	e := a2a.NewArtifactEvent(s, parts...)
	e.Artifact.Name = "artifact"
	e.Artifact.Metadata = map[string]any{
		"big": 9007199254740992.0, "list": []any{1.0, map[string]any{"two": nil}},
	}
	return e
}

func (s *script) stream() {
	s.status(a2a.TaskStateWorking, "working")
	first := s.artifact(a2a.NewTextPart("one"))
	s.send(first)
	for i, text := range []string{"two\nlines", "three\u2028and <html>"} {
		e := a2a.NewArtifactUpdateEvent(s, first.Artifact.ID, a2a.NewTextPart(text))
		e.LastChunk = i == 1
		s.send(e)
	}
	s.status(a2a.TaskStateCompleted, "completed")
}

// everyone is the one user the agents know; the SDK lists tasks for named
// users only.
type everyone struct {
	a2asrv.PassthroughCallInterceptor
}

// Before implements a2asrv.CallInterceptor.
func (everyone) Before(
	ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request,
) (context.Context, any, error) {
	call.User = a2asrv.NewAuthenticatedUser("everyone", nil)
	return ctx, nil, nil
}

// executor03 runs the executor under the 0.3 SDK.
type executor03 struct{ now *Executor }

// Execute implements a2asrv.AgentExecutor of the 0.3 SDK.
func (e executor03) Execute(ctx context.Context, rc *a2asrv03.RequestContext, q eventqueue.Queue) error {
	ec, err := context10(rc)
	if err != nil {
		return err
	}
	ec.ServiceParams = params10(ctx)
	return write03(ctx, q, e.now.Execute(ctx, ec))
}

// Cancel implements a2asrv.AgentExecutor of the 0.3 SDK.
func (e executor03) Cancel(ctx context.Context, rc *a2asrv03.RequestContext, q eventqueue.Queue) error {
	ec, err := context10(rc)
	if err != nil {
		return err
	}
	return write03(ctx, q, e.now.Cancel(ctx, ec))
}

func context10(rc *a2asrv03.RequestContext) (*a2asrv.ExecutorContext, error) {
	message, err := a2av0.ToV1Message(rc.Message)
	if err != nil {
		return nil, fmt.Errorf("convert message: %w", err)
	}
	task, err := a2av0.ToV1Task(rc.StoredTask)
	if err != nil {
		return nil, fmt.Errorf("convert task: %w", err)
	}
	return &a2asrv.ExecutorContext{
		Message: message, StoredTask: task,
		TaskID: a2a.TaskID(rc.TaskID), ContextID: rc.ContextID, Metadata: rc.Metadata,
	}, nil
}

func write03(ctx context.Context, q eventqueue.Queue, events iter.Seq2[a2a.Event, error]) error {
	for now, err := range events {
		if err != nil {
			return err
		}
		old, err := a2av0.FromV1Event(now)
		if err != nil {
			return fmt.Errorf("convert event: %w", err)
		}
		if err := q.Write(ctx, old); err != nil {
			return fmt.Errorf("write event: %w", err)
		}
	}
	return nil
}
