package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// conversation is one operation of the Go client.
type conversation struct {
	ctx   context.Context //nolint:containedctx // as long as the operation
	sdk   gatewaytest.Client
	lines []string
}

// goOperations are the conversations of every client of the matrix, in the words
// of the Go SDK; the comments are those of js/operations.mjs.
var goOperations = []struct {
	name  string
	ticks bool
	do    func(*conversation)
}{
	{"message reply", false, func(c *conversation) { c.send("message", "") }},
	{"task reply", false, func(c *conversation) { c.send("task", "") }},
	{"failed task", false, func(c *conversation) { c.send("fail", "") }},
	{"rejected task", false, func(c *conversation) { c.send("reject", "") }},
	{"stream to completion", false, func(c *conversation) { c.stream("stream", nil) }},
	{"stream of one message", false, func(c *conversation) { c.stream("message", nil) }},
	{"input required and continue", false, func(c *conversation) { c.answered() }},
	{"cancel a stream", true, func(c *conversation) { c.stream("tick", once(c.cancel)) }},
	{"subscribe to a running task", true, func(c *conversation) { c.stream("tick", once(c.attach)) }},
	{"subscribe to an ended task", false, func(c *conversation) { c.subscribe(c.send("task", ""), nil) }},
	{"cancel an ended task", false, func(c *conversation) { c.cancel(c.send("task", "")) }},
	{"message to an ended task", false, func(c *conversation) { c.send("more", c.send("task", "")) }},
	{"get with history lengths", false, (*conversation).histories},
	{"push configurations", false, (*conversation).push},
	{"extended card", false, (*conversation).card},
	{"unknown task", false, (*conversation).unknown},
	{"data and file parts", false, func(c *conversation) { c.send("message", "", parts()...) }},
	{"one megabyte", false, func(c *conversation) { c.send("message", "", a2a.NewTextPart(megabyte)) }},
}

var megabyte = strings.Repeat("zyxw vuts rqpo nm", 1<<16)

// converse does all operations that the version has.
func converse(t *testing.T, sdk gatewaytest.Client, s side) []outcome {
	t.Helper()
	var outcomes []outcome
	for _, op := range goOperations {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := &conversation{ctx: ctx, sdk: sdk}
		op.do(c)
		cancel()
		outcomes = append(outcomes, outcome{op.name, op.ticks, c.lines})
	}
	return outcomes
}

// known are the errors that the client can tell apart.
var known = []error{
	a2a.ErrParseError, a2a.ErrInvalidRequest, a2a.ErrMethodNotFound, a2a.ErrInvalidParams, a2a.ErrTaskNotFound,
	a2a.ErrTaskNotCancelable, a2a.ErrPushNotificationNotSupported, a2a.ErrUnsupportedOperation,
	a2a.ErrUnauthenticated, a2a.ErrUnauthorized, a2a.ErrVersionNotSupported, context.DeadlineExceeded,
}

func (c *conversation) note(what string, value any, err error) {
	if err != nil {
		text := "error"
		for _, k := range known {
			if errors.Is(err, k) {
				text += " " + k.Error()
			}
		}
		c.lines = append(c.lines, what+": "+text)
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte(err.Error())
	}
	c.lines = append(c.lines, what+": "+strings.ReplaceAll(string(text), megabyte, "<megabyte>"))
}

func (c *conversation) send(text string, id a2a.TaskID, parts ...*a2a.Part) a2a.TaskID {
	r := request(text, parts...)
	r.Message.TaskID = id
	result, err := c.sdk.SendMessage(c.ctx, r)
	if err != nil {
		c.note("send", nil, err)
		return ""
	}
	c.note("send", a2a.StreamResponse{Event: result}, nil)
	return result.TaskInfo().TaskID
}

func request(text string, parts ...*a2a.Part) *a2a.SendMessageRequest {
	parts = append([]*a2a.Part{a2a.NewTextPart(text)}, parts...)
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
}

func parts() []*a2a.Part {
	raw := a2a.NewRawPart([]byte{0xff, 0xfe, 0, 1, 2})
	raw.Filename, raw.MediaType = "a.bin", "application/octet-stream"
	link := a2a.NewFileURLPart("https://files.example/b.pdf?x=1&y=2", "application/pdf")
	link.Filename = "b.pdf"
	return []*a2a.Part{
		a2a.NewDataPart(map[string]any{"n": 1.25, "deep": map[string]any{"a": []any{true, "ü"}}}), raw, link,
	}
}

func (c *conversation) each(what string, events iter.Seq2[a2a.Event, error], react func(a2a.Event)) {
	for event, err := range events {
		if err != nil {
			c.note(what, nil, err)
			return
		}
		c.note(what, a2a.StreamResponse{Event: event}, nil)
		if react != nil {
			react(event)
		}
	}
	c.lines = append(c.lines, what+": end")
}

func (c *conversation) stream(text string, react func(a2a.Event)) {
	c.each("stream", c.sdk.SendStreamingMessage(c.ctx, request(text)), react)
}

func (c *conversation) subscribe(id a2a.TaskID, react func(a2a.Event)) {
	c.each("subscribe", c.sdk.SubscribeToTask(c.ctx, &a2a.SubscribeToTaskRequest{ID: id}), react)
}

// once reacts to the first working event only.
func once(react func(a2a.TaskID)) func(a2a.Event) {
	done := false
	return func(e a2a.Event) {
		update, ok := e.(*a2a.TaskStatusUpdateEvent)
		if ok && !done && update.Status.State == a2a.TaskStateWorking {
			done = true
			react(update.TaskID)
		}
	}
}

func (c *conversation) attach(id a2a.TaskID) {
	seen := false
	c.subscribe(id, once(func(id a2a.TaskID) {
		seen = true
		c.cancel(id)
	}))
	if !seen {
		c.cancel(id)
	}
}

func (c *conversation) cancel(id a2a.TaskID) {
	result, err := c.sdk.CancelTask(c.ctx, &a2a.CancelTaskRequest{ID: id})
	c.note("cancel", result, err)
}

func (c *conversation) answered() a2a.TaskID {
	id := c.send("input", "")
	c.send("this", id)
	return id
}

func (c *conversation) get(what string, id a2a.TaskID, length *int) {
	result, err := c.sdk.GetTask(c.ctx, &a2a.GetTaskRequest{ID: id, HistoryLength: length})
	c.note(what, result, err)
}

func (c *conversation) histories() {
	id := c.answered()
	for _, n := range []int{0, 1} {
		c.get(fmt.Sprintf("get %d", n), id, &n)
	}
	c.get("get all", id, nil)
}

func (c *conversation) push() {
	id := c.send("task", "")
	for _, name := range []string{"c1", "c2"} {
		config, err := c.sdk.CreateTaskPushConfig(c.ctx, &a2a.PushConfig{
			TaskID: id, ID: name, URL: "https://hooks.example/a2a", Token: "token-" + name,
		})
		c.note("create", config, err)
	}
	config, err := c.sdk.GetTaskPushConfig(c.ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: "c1"})
	c.note("get", config, err)
	err = c.sdk.DeleteTaskPushConfig(c.ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: id, ID: "c1"})
	c.note("delete", nil, err)
	configs, err := c.sdk.ListTaskPushConfigs(c.ctx, &a2a.ListTaskPushConfigRequest{TaskID: id})
	c.note("list", configs, err)
	_, err = c.sdk.GetTaskPushConfig(c.ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: "c1"})
	c.note("get deleted", nil, err)
}

func (c *conversation) card() {
	card, err := c.sdk.GetExtendedAgentCard(c.ctx, &a2a.GetExtendedAgentCardRequest{})
	if err != nil {
		c.note("card", nil, err)
		return
	}
	var skills []string
	for _, s := range card.Skills {
		skills = append(skills, s.ID)
	}
	c.note("card", []any{card.Name, card.Description, card.Version, skills}, nil)
}

func (c *conversation) unknown() {
	id := a2a.NewTaskID()
	c.get("get", id, nil)
	c.cancel(id)
	c.subscribe(id, nil)
	c.send("hello?", id)
}
