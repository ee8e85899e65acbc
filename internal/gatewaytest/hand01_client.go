package gatewaytest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// errNo01 marks what protocol 0.1 does not have.
var errNo01 = errors.New("not an operation of 0.1")

// errNotFinal marks a stream that ended without an event that says so.
var errNotFinal = errors.New("stream ended without a final event")

// parseCard01 reads a card of 0.1, which has one interface.
func parseCard01(text []byte) (*a2a.AgentCard, error) {
	var old struct {
		Name, Description, Version, URL string
		Skills                          []a2a.AgentSkill
	}
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	return &a2a.AgentCard{
		Name: old.Name, Description: old.Description, Version: old.Version, Skills: old.Skills,
		SupportedInterfaces: []*a2a.AgentInterface{{
			URL: old.URL, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: "0.1",
		}},
	}, nil
}

// client01 is a client of 0.1, which chooses the ids of its tasks.
type client01 struct {
	http *http.Client
	url  string
}

// post sends a call; the caller closes the answer.
func (c *client01) post(ctx context.Context, method string, params params01) (*http.Response, error) {
	body, err := json.Marshal(request01{"2.0", json.RawMessage("1"), method, params})
	if err != nil {
		return nil, fmt.Errorf("write call: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("send call: %w", err)
	}
	return resp, nil
}

// call01 makes a call that has one answer.
func call01[T any](ctx context.Context, c *client01, method string, params params01) (*T, error) {
	resp, err := c.post(ctx, method, params)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer response01
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read answer %d: %w", resp.StatusCode, err)
	}
	return result01[T](&answer)
}

// errors01 are the codes that 0.1 shares with its successors.
var errors01 = map[int]error{
	-32700: a2a.ErrParseError, -32600: a2a.ErrInvalidRequest, -32601: a2a.ErrMethodNotFound,
	-32602: a2a.ErrInvalidParams, -32603: a2a.ErrInternalError, -32001: a2a.ErrTaskNotFound,
	-32002: a2a.ErrTaskNotCancelable, -32003: a2a.ErrPushNotificationNotSupported,
	-32004: a2a.ErrUnsupportedOperation,
}

func result01[T any](answer *response01) (*T, error) {
	if e := answer.Error; e != nil {
		return nil, fmt.Errorf("code %d: %w", e.Code, a2a.NewError(cmp.Or(errors01[e.Code], a2a.ErrServerError), e.Message))
	}
	if string(answer.ID) != "1" {
		return nil, fmt.Errorf("answer to call %s, want 1", answer.ID)
	}
	result := new(T)
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return result, nil
}

// events makes a call that is answered by a stream.
func (c *client01) events(ctx context.Context, method string, params params01) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		resp, err := c.post(ctx, method, params)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		for e, err := range events01(resp) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(fromEvent01(e), nil) {
				return
			}
		}
	}
}

// events01 reads events until one is final. An error may come as a plain
// document.
func events01(resp *http.Response) iter.Seq2[*event01, error] {
	return func(yield func(*event01, error) bool) {
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 16<<20)
		stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data:")
			if stream && !ok {
				continue
			}
			var answer response01
			if err := json.Unmarshal([]byte(data), &answer); err != nil {
				yield(nil, fmt.Errorf("read event: %w", err))
				return
			}
			e, err := result01[event01](&answer)
			if err == nil && (e.Status == nil) == (e.Artifact == nil) {
				err = fmt.Errorf("event is of neither kind or both: %s", data)
			}
			if !yield(e, err) || err != nil || e.Final {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("read stream: %w", err))
			return
		}
		yield(nil, errNotFinal)
	}
}

func sendParams01(r *a2a.SendMessageRequest) params01 {
	p := params01{
		ID: string(r.Message.TaskID), SessionID: r.Message.ContextID, Message: toMessage01(r.Message), Metadata: r.Metadata,
	}
	if p.ID == "" {
		p.ID = string(a2a.NewTaskID())
	}
	if r.Config != nil {
		p.HistoryLength = r.Config.HistoryLength
	}
	return p
}

func task10(t *task01, err error) (*a2a.Task, error) {
	if err != nil {
		return nil, err
	}
	return fromTask01(t), nil
}

func (c *client01) SendMessage(ctx context.Context, r *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return task10(call01[task01](ctx, c, "tasks/send", sendParams01(r)))
}

func (c *client01) SendStreamingMessage(
	ctx context.Context, r *a2a.SendMessageRequest,
) iter.Seq2[a2a.Event, error] {
	return c.events(ctx, "tasks/sendSubscribe", sendParams01(r))
}

func (c *client01) GetTask(ctx context.Context, r *a2a.GetTaskRequest) (*a2a.Task, error) {
	return task10(call01[task01](ctx, c, "tasks/get", params01{ID: string(r.ID), HistoryLength: r.HistoryLength}))
}

func (c *client01) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, errNo01
}

func (c *client01) CancelTask(ctx context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return task10(call01[task01](ctx, c, "tasks/cancel", params01{ID: string(r.ID), Metadata: r.Metadata}))
}

func (c *client01) SubscribeToTask(
	ctx context.Context, r *a2a.SubscribeToTaskRequest,
) iter.Seq2[a2a.Event, error] {
	return c.events(ctx, "tasks/resubscribe", params01{ID: string(r.ID)})
}

func config10(p *params01, err error) (*a2a.PushConfig, error) {
	if err != nil {
		return nil, err
	}
	if p.Push == nil {
		return nil, errors.New("answer without pushNotificationConfig")
	}
	return &a2a.PushConfig{TaskID: a2a.TaskID(p.ID), URL: p.Push.URL, Token: p.Push.Token}, nil
}

func (c *client01) GetTaskPushConfig(
	ctx context.Context, r *a2a.GetTaskPushConfigRequest,
) (*a2a.PushConfig, error) {
	return config10(call01[params01](ctx, c, "tasks/pushNotification/get", params01{ID: string(r.TaskID)}))
}

func (c *client01) ListTaskPushConfigs(
	context.Context, *a2a.ListTaskPushConfigRequest,
) ([]*a2a.PushConfig, error) {
	return nil, errNo01
}

func (c *client01) CreateTaskPushConfig(ctx context.Context, r *a2a.PushConfig) (*a2a.PushConfig, error) {
	return config10(call01[params01](ctx, c, "tasks/pushNotification/set",
		params01{ID: string(r.TaskID), Push: &push01{URL: r.URL, Token: r.Token}}))
}

func (c *client01) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return errNo01
}

func (c *client01) GetExtendedAgentCard(
	context.Context, *a2a.GetExtendedAgentCardRequest,
) (*a2a.AgentCard, error) {
	return nil, errNo01
}
