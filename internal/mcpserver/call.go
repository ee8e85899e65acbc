//go:build !minimal

package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/internal/mcpserver/toolname"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// How often a task of an agent that does not stream is asked for: first soon, then less and less.
const (
	firstLook = 300 * time.Millisecond
	lastLook  = 5 * time.Second
)

// maxRounds is how often one call asks its user for what an agent wants to know.
const maxRounds = 10

// toolCall is a call of a tool that is on its way.
type toolCall struct {
	*visit
	req   *mcp.CallToolRequest
	agent string
	skill string // "" for the tools about tasks
	told  int    // progress notifications
}

// call answers tools/call. What an agent or the gateway says against the call is the tool's result, so
// that the model behind the host can do better; errors of MCP are for what no model can mend.
func call(ctx context.Context, v *visit, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(v.ctx, cancel)() // the call ends with its client, as A2A's do
	c := &toolCall{visit: v, req: req}
	if name := req.Params.Name; name == getTask || name == cancelTask {
		return c.aboutTask(ctx, name)
	}
	var ok bool
	if c.agent, c.skill, ok = find(v.Proxy, req.Params.Name); !ok {
		return nil, c.unknown()
	}
	var a arguments
	if err := readArguments(req.Params.Arguments, &a); err != nil {
		return failed(err.Error()), nil
	}
	m, err := a.message(v.session.context(c.agent))
	if err != nil {
		return failed(err.Error()), nil
	}
	if req.Params.RequestState != "" {
		if m, err = c.answered(); err != nil || m == nil {
			return c.refused(err)
		}
	}
	return c.converse(ctx, m)
}

// find is the agent and the skill that a name is for. Whether they are the caller's to call is not
// asked here.
func find(p *proxy.Proxy, name string) (agent, skill string, ok bool) {
	if agent, skill, ok = toolname.Parse(name); ok || !toolname.Digested(name) {
		return agent, skill, ok
	}
	for _, a := range p.Agents {
		v := a.Look()
		if v == nil || !toolname.MayBe(name, a.ID) {
			continue
		}
		if i := slices.IndexFunc(v.Skills, func(s string) bool { return toolname.Of(a.ID, s) == name }); i >= 0 {
			return a.ID, v.Skills[i], true
		}
	}
	return "", "", false
}

// unknown is the error for a name of no tool, and of one that the caller may not know of.
func (c *toolCall) unknown() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", c.req.Params.Name)}
}

// refused is the answer to a call that came to nothing.
func (c *toolCall) refused(err error) (*mcp.CallToolResult, error) {
	var f *fault
	if errors.As(err, &f) && f.reason() == wire.UnknownAgent.Reason && c.skill != "" {
		return nil, c.unknown()
	}
	return failed(err.Error()), nil
}

// failed is a result that says what was wrong.
func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// converse sends a message, and what the user answers to the agent's questions, where the host can ask
// its user.
func (c *toolCall) converse(ctx context.Context, m *message) (*mcp.CallToolResult, error) {
	for range maxRounds {
		o := &outcome{agent: c.agent, most: int(c.Proxy.Server.Limits.Answer)}
		err := c.send(ctx, m, o)
		c.session.remember(c.agent, o.contextID)
		if err != nil && !o.known() {
			return c.refused(err)
		}
		if o.state != taskInputRequired || !c.asks() {
			return o.result(err), nil
		}
		if c.req.ProtocolVersion() >= sessionless {
			return c.ask(o)
		}
		reply, err := c.elicit(ctx, o)
		if err != nil || reply == "" {
			return o.result(nil), nil // how to go on stands there
		}
		m = reply.to(o.taskID, o.contextID)
	}
	return failed("the agent has asked for input more often than one call answers; call the tool again with the taskId"), nil
}

// send sends one message and waits for what becomes of it, for server.mcp.wait. Its error is for o
// where there is a task.
func (c *toolCall) send(ctx context.Context, m *message, o *outcome) error {
	wait := c.Config.Wait.Std()
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errWait)
	defer cancel()
	params := map[string]any{"message": m}
	method := wire.SendStreamingMessage
	if !cardOf(c.Proxy, c.Principal, c.agent).Capabilities.Streaming {
		method = wire.SendMessage
		params["configuration"] = map[string]any{"returnImmediately": true}
	}
	err := c.exchange(ctx, c.agent, c.skill, method, params, func(result jsontext.Value) (bool, error) {
		if err := o.apply(result); err != nil {
			return false, err
		}
		c.progress(ctx, o)
		return !o.settled(), nil
	})
	if err == nil && method == wire.SendMessage {
		err = c.follow(ctx, o)
	}
	if context.Cause(ctx) != errWait { //nolint:errorlint // it is this one
		return err
	}
	if o.known() {
		return nil // the result says that the task goes on
	}
	return fmt.Errorf("the agent has shown no task within %s (server.mcp.wait): what became of the call is not known", c.Config.Wait)
}

// errWait ends the wait for a task.
var errWait = errors.New("server.mcp.wait is over")

// follow looks at a task until it settles.
func (c *toolCall) follow(ctx context.Context, o *outcome) error {
	for pause := firstLook; o.taskID != "" && !o.settled(); pause = min(pause*3/2, lastLook) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		if err := c.look(ctx, wire.GetTask, o); err != nil {
			return err
		}
		c.progress(ctx, o)
	}
	return nil
}

// look asks for a task, or has it canceled.
func (c *toolCall) look(ctx context.Context, method string, o *outcome) error {
	return c.exchange(ctx, c.agent, "", method, map[string]any{"id": o.taskID}, func(result jsontext.Value) (bool, error) {
		return false, o.apply(jsontext.Value(`{"task":` + string(result) + `}`))
	})
}

// aboutTask carries out the tools about tasks.
func (c *toolCall) aboutTask(ctx context.Context, name string) (*mcp.CallToolResult, error) {
	var a taskArguments
	err := readArguments(c.req.Params.Arguments, &a)
	switch {
	case err != nil:
		return failed(err.Error()), nil
	case a.Agent == "" || a.TaskID == "":
		return failed("arguments: want agent and taskId"), nil
	}
	method := wire.GetTask
	if name == cancelTask {
		method = wire.CancelTask
	}
	c.agent = a.Agent
	o := &outcome{agent: a.Agent, taskID: a.TaskID, most: int(c.Proxy.Server.Limits.Answer)}
	if err := c.look(ctx, method, o); err != nil {
		return c.refused(err)
	}
	return o.result(nil), nil
}

// progress tells a host that has asked for it what is new.
func (c *toolCall) progress(ctx context.Context, o *outcome) {
	token := c.req.Params.GetProgressToken()
	if token == nil || o.news == "" {
		return
	}
	c.told++
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // it is for who listens
		ProgressToken: token, Progress: float64(c.told), Message: o.news,
	})
	o.news = ""
}

// taskInputRequired is a state of A2A 1.0.
const taskInputRequired = "TASK_STATE_INPUT_REQUIRED"

// settled reports whether nothing more is to be waited for.
func (o *outcome) settled() bool {
	return o.said != nil || taskstate.Settled(o.state) || taskstate.Terminal(o.state)
}

// asks reports whether the host can ask its user with a form.
func (c *toolCall) asks() bool {
	can := c.req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// reply is what a user has answered.
type reply string

const replyName = "reply"

// to is a message that answers a task.
func (r reply) to(task, conversation string) *message {
	a := arguments{Text: string(r), TaskID: task, ContextID: &conversation}
	m, _ := a.message("") // there is a text
	return m
}

// replyOf is what stands in a form; "" where the user has not answered.
func replyOf(res *mcp.ElicitResult) reply {
	if res == nil || res.Action != "accept" {
		return ""
	}
	text, _ := res.Content[replyName].(string)
	return reply(text)
}

// form is the question that a task waits with.
func form(o *outcome) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode: "form", Message: cmp.Or(o.asked, "The agent asks for input."),
		RequestedSchema: map[string]any{
			"type": "object", "required": []string{replyName},
			"properties": map[string]any{replyName: map[string]any{"type": "string", "title": "Reply"}},
		},
	}
}

// elicit asks the user of a host with a session, while the call waits.
func (c *toolCall) elicit(ctx context.Context, o *outcome) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Config.Wait.Std())
	defer cancel()
	res, err := c.req.Session.Elicit(ctx, form(o))
	return replyOf(res), err
}

// waiting is what a host without a session carries from the question to the answer. It names what
// anybody may name: the gateway asks again who owns the task.
type waiting struct {
	TaskID    string `json:"taskId"`
	ContextID string `json:"contextId"`
}

// ask has the host ask its user and call again.
func (c *toolCall) ask(o *outcome) (*mcp.CallToolResult, error) {
	state, err := json.Marshal(waiting{o.taskID, o.contextID})
	if err != nil {
		return nil, fmt.Errorf("write the request state: %w", err)
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{replyName: form(o)}, RequestState: string(state)}, nil
}

// answered is the message with the user's answer, which the host has called again with.
func (c *toolCall) answered() (*message, error) {
	var at waiting
	if json.Unmarshal([]byte(c.req.Params.RequestState), &at) != nil || at.TaskID == "" {
		return nil, errors.New("requestState: not one that this server has given")
	}
	res, _ := c.req.Params.InputResponses[replyName].(*mcp.ElicitResult)
	r := replyOf(res)
	if r == "" {
		return nil, fmt.Errorf("the task waits for input, and its question was not answered: call the tool again with text and taskId %q to answer it", at.TaskID)
	}
	return r.to(at.TaskID, at.ContextID), nil
}
