package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	a2a10 "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2asrv10 "github.com/a2aproject/a2a-go/v2/a2asrv"
)

// handler03 lets the 1.0 SDK's handler for 0.3 HTTP+JSON drive a request
// handler of the 0.3 SDK. Every method converts, calls and converts back.
type handler03 struct{ old a2asrv.RequestHandler }

// context03 carries the request's headers over to the 0.3 SDK's call context.
func context03(ctx context.Context) context.Context {
	params := a2aclient.ServiceParams{}
	if call, ok := a2asrv10.CallContextFrom(ctx); ok {
		maps.Insert(params, call.ServiceParams().List())
	}
	// The conversion also gives the extensions header its 0.3 name.
	out, _ := a2asrv.WithCallContext(ctx, a2asrv.NewRequestMeta(a2av0.FromServiceParams(params)))
	return out
}

// errors10 pairs the errors of the two SDKs, which are distinct values.
func errors10() map[error]error {
	return map[error]error{
		a2a.ErrParseError:                             a2a10.ErrParseError,
		a2a.ErrInvalidRequest:                         a2a10.ErrInvalidRequest,
		a2a.ErrMethodNotFound:                         a2a10.ErrMethodNotFound,
		a2a.ErrInvalidParams:                          a2a10.ErrInvalidParams,
		a2a.ErrTaskNotFound:                           a2a10.ErrTaskNotFound,
		a2a.ErrTaskNotCancelable:                      a2a10.ErrTaskNotCancelable,
		a2a.ErrPushNotificationNotSupported:           a2a10.ErrPushNotificationNotSupported,
		a2a.ErrUnsupportedOperation:                   a2a10.ErrUnsupportedOperation,
		a2a.ErrUnsupportedContentType:                 a2a10.ErrUnsupportedContentType,
		a2a.ErrInvalidAgentResponse:                   a2a10.ErrInvalidAgentResponse,
		a2a.ErrAuthenticatedExtendedCardNotConfigured: a2a10.ErrExtendedCardNotConfigured,
		a2a.ErrUnauthenticated:                        a2a10.ErrUnauthenticated,
		a2a.ErrUnauthorized:                           a2a10.ErrUnauthorized,
	}
}

// error10 has the 1.0 SDK answer with the status of the error that the 0.3 SDK means; unknown ones
// would be 500.
func error10(err error) error {
	// errors.Is, as the SDK wraps what it returns.
	for old, now := range errors10() {
		if errors.Is(err, old) {
			return fmt.Errorf("%w: %w", now, err)
		}
	}
	return err
}

// GetTask implements a2asrv.RequestHandler of the 1.0 SDK, as do the others.
func (h handler03) GetTask(ctx context.Context, req *a2a10.GetTaskRequest) (*a2a10.Task, error) {
	task, err := h.old.OnGetTask(context03(ctx), a2av0.FromV1GetTaskRequest(req))
	if err != nil {
		return nil, error10(err)
	}
	return a2av0.ToV1Task(task)
}

// ListTasks answers as 0.3 does: it has no such operation.
func (h handler03) ListTasks(context.Context, *a2a10.ListTasksRequest) (*a2a10.ListTasksResponse, error) {
	return nil, a2a10.ErrUnsupportedOperation
}

// CancelTask cancels a task.
func (h handler03) CancelTask(ctx context.Context, req *a2a10.CancelTaskRequest) (*a2a10.Task, error) {
	task, err := h.old.OnCancelTask(context03(ctx), a2av0.FromV1CancelTaskRequest(req))
	if err != nil {
		return nil, error10(err)
	}
	return a2av0.ToV1Task(task)
}

// SendMessage gives the task or message that answers.
func (h handler03) SendMessage(
	ctx context.Context, req *a2a10.SendMessageRequest,
) (a2a10.SendMessageResult, error) {
	// The answer is a task or a message; the 0.3 SDK has one interface for both.
	result, err := h.old.OnSendMessage(context03(ctx), a2av0.FromV1SendMessageRequest(req))
	if err != nil {
		return nil, error10(err)
	}
	switch v := result.(type) {
	case *a2a.Task:
		return a2av0.ToV1Task(v)
	case *a2a.Message:
		return a2av0.ToV1Message(v)
	}
	return nil, fmt.Errorf("send message: unexpected result %T", result)
}

// SubscribeToTask attaches to a running task.
func (h handler03) SubscribeToTask(
	ctx context.Context, req *a2a10.SubscribeToTaskRequest,
) iter.Seq2[a2a10.Event, error] {
	return events10(h.old.OnResubscribeToTask(context03(ctx), a2av0.FromV1SubscribeToTaskRequest(req)))
}

// SendStreamingMessage streams what happens.
func (h handler03) SendStreamingMessage(
	ctx context.Context, req *a2a10.SendMessageRequest,
) iter.Seq2[a2a10.Event, error] {
	return events10(h.old.OnSendMessageStream(context03(ctx), a2av0.FromV1SendMessageRequest(req)))
}

// events10 converts a stream event by event. An error ends it, as the SDKs expect.
func events10(events iter.Seq2[a2a.Event, error]) iter.Seq2[a2a10.Event, error] {
	return func(yield func(a2a10.Event, error) bool) {
		for old, err := range events {
			if err != nil {
				yield(nil, error10(err))
				return
			}
			event, err := a2av0.ToV1Event(old)
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// GetTaskPushConfig reads one webhook registration.
func (h handler03) GetTaskPushConfig(
	ctx context.Context, req *a2a10.GetTaskPushConfigRequest,
) (*a2a10.PushConfig, error) {
	config, err := h.old.OnGetTaskPushConfig(context03(ctx), a2av0.FromV1GetTaskPushConfigRequest(req))
	if err != nil {
		return nil, error10(err)
	}
	return a2av0.ToV1PushConfig(config), nil
}

// ListTaskPushConfigs lists the webhook registrations of a task.
func (h handler03) ListTaskPushConfigs(
	ctx context.Context, req *a2a10.ListTaskPushConfigRequest,
) (*a2a10.ListTaskPushConfigResponse, error) {
	old, err := h.old.OnListTaskPushConfig(context03(ctx), a2av0.FromV1ListTaskPushConfigRequest(req))
	if err != nil {
		return nil, error10(err)
	}
	configs, err := a2av0.ToV1PushConfigs(old)
	if err != nil {
		return nil, fmt.Errorf("convert push configs: %w", err)
	}
	return &a2a10.ListTaskPushConfigResponse{Configs: configs}, nil
}

// CreateTaskPushConfig registers a webhook.
func (h handler03) CreateTaskPushConfig(
	ctx context.Context, req *a2a10.PushConfig,
) (*a2a10.PushConfig, error) {
	config, err := h.old.OnSetTaskPushConfig(context03(ctx), a2av0.FromV1PushConfig(req))
	if err != nil {
		return nil, error10(err)
	}
	return a2av0.ToV1PushConfig(config), nil
}

// DeleteTaskPushConfig removes a webhook registration.
func (h handler03) DeleteTaskPushConfig(ctx context.Context, req *a2a10.DeleteTaskPushConfigRequest) error {
	return error10(h.old.OnDeleteTaskPushConfig(context03(ctx), a2av0.FromV1DeleteTaskPushConfigRequest(req)))
}

// GetExtendedAgentCard gives the card for authenticated callers.
func (h handler03) GetExtendedAgentCard(
	ctx context.Context, _ *a2a10.GetExtendedAgentCardRequest,
) (*a2a10.AgentCard, error) {
	card, err := h.old.OnGetExtendedAgentCard(context03(ctx))
	if err != nil {
		return nil, error10(err)
	}
	converted := a2av0.ToV1AgentCard(card)
	// The SDK's conversion leaves the skills behind.
	converted.Skills = make([]a2a10.AgentSkill, len(card.Skills))
	for i, s := range card.Skills {
		converted.Skills[i] = a2a10.AgentSkill{
			ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples,
		}
	}
	return converted, nil
}
