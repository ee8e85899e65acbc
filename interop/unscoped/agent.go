package main

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// newHandler is the SDK's request handler on its own store in memory. Everybody is one
// user to it, as to any agent that takes the gateway's word for callers: the SDK
// lists tasks for named users only.
func newHandler(log *slog.Logger) a2asrv.RequestHandler {
	sender := push.NewHTTPPushSender(&push.HTTPSenderConfig{Timeout: time.Second})
	return a2asrv.NewHandler(agent{},
		a2asrv.WithLogger(log),
		a2asrv.WithCallInterceptors(everyone{}),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), sender))
}

// everyone names all callers alike.
type everyone struct {
	a2asrv.PassthroughCallInterceptor
}

// Before implements a2asrv.CallInterceptor.
func (everyone) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	call.User = a2asrv.NewAuthenticatedUser("everyone", nil)
	return ctx, nil, nil
}

// agent does what the first word of a message says:
//
//	task    completes a task
//	input   asks, and completes the task with any answer
//	auth    waits for a credential, until the task is cancelled
type agent struct{}

// Execute implements a2asrv.AgentExecutor.
func (agent) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		state := a2a.TaskStateCompleted
		if ec.StoredTask == nil {
			word, _, _ := strings.Cut(ec.Message.Parts[0].Text(), " ")
			switch word {
			case "input":
				state = a2a.TaskStateInputRequired
			case "auth":
				state = a2a.TaskStateAuthRequired
			}
			if !yield(a2a.NewSubmittedTask(ec, ec.Message), nil) {
				return
			}
		}
		if yield(a2a.NewStatusUpdateEvent(ec, state, nil), nil) && state == a2a.TaskStateAuthRequired {
			<-ctx.Done()
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (agent) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}
