//go:build !minimal

package mcpserver

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// outcome is what has become of a call so far.
type outcome struct {
	agent string
	most  int // bytes that it may have: server.limits.answer

	taskID, contextID string
	state             string   // of the task, as A2A 1.0 has it; "" for none
	said              *message // the answer, where it is no task
	task              fold.Task
	asked             string // what the status says
	news              string // what the latest event says
}

// task is one of A2A 1.0, as far as a host hears of it.
type task struct {
	ID        string     `json:"id"`
	ContextID string     `json:"contextId"`
	Status    status     `json:"status"`
	Artifacts []artifact `json:"artifacts"`
}

type status struct {
	State   string   `json:"state"`
	Message *message `json:"message"`
}

type artifact struct {
	ArtifactID string `json:"artifactId"`
	Name       string `json:"name"`
	Parts      []part `json:"parts"`
}

// event is one of a stream, or the result of a send.
type event struct {
	Task         *task    `json:"task"`
	Message      *message `json:"message"`
	StatusUpdate *struct {
		TaskID    string `json:"taskId"`
		ContextID string `json:"contextId"`
		Status    status `json:"status"`
	} `json:"statusUpdate"`
	ArtifactUpdate *struct {
		TaskID    string   `json:"taskId"`
		ContextID string   `json:"contextId"`
		Artifact  artifact `json:"artifact"`
	} `json:"artifactUpdate"`
}

// read reads a document of A2A 1.0, in camelCase or with the names of the proto.
func read(text []byte, to any) error {
	return json.Unmarshal(text, to, json.MatchCaseInsensitiveNames(true))
}

// known reports whether there is something to tell.
func (o *outcome) known() bool { return o.said != nil || o.state != "" }

// apply adds an event.
func (o *outcome) apply(text jsontext.Value) error {
	var e event
	if err := read(text, &e); err != nil {
		return errBroken
	}
	switch {
	case e.Message != nil:
		o.said, o.contextID = e.Message, e.Message.ContextID
		return nil
	case e.Task != nil:
		o.taskID, o.contextID = e.Task.ID, e.Task.ContextID
		o.status(e.Task.Status)
	case e.StatusUpdate != nil:
		o.taskID, o.contextID = e.StatusUpdate.TaskID, e.StatusUpdate.ContextID
		o.status(e.StatusUpdate.Status)
	case e.ArtifactUpdate != nil:
		o.taskID, o.contextID = e.ArtifactUpdate.TaskID, e.ArtifactUpdate.ContextID
		o.state = cmp.Or(o.state, "TASK_STATE_WORKING")
		o.news = short(cmp.Or(words(e.ArtifactUpdate.Artifact.Parts), "artifact "+e.ArtifactUpdate.Artifact.Name))
	}
	if err := o.task.Apply(text); err != nil {
		return errBroken
	}
	if o.task.Size() > o.most {
		return fmt.Errorf("the task has become larger than %d bytes (server.limits.answer)", o.most)
	}
	return nil
}

// status takes the state of the task, and what it says.
func (o *outcome) status(s status) {
	o.state, o.asked = s.State, ""
	if s.Message != nil {
		o.asked = words(s.Message.Parts)
	}
	o.news = short(cmp.Or(o.asked, plain(s.State)))
}

// words are the texts among parts.
func words(parts []part) string {
	var all []string
	for _, p := range parts {
		if p.Text != nil && *p.Text != "" {
			all = append(all, *p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// maxNews bounds the text of a progress notification, in bytes.
const maxNews = 2 << 10

func short(text string) string {
	if len(text) <= maxNews {
		return text
	}
	return strings.ToValidUTF8(text[:maxNews], "") + "…"
}

// plain is a state in the words of older versions: input-required.
func plain(state string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-")
}

// structured is the structured content of a result.
type structured struct {
	Agent     string           `json:"agent"`
	TaskID    string           `json:"taskId,omitzero"`
	ContextID string           `json:"contextId,omitzero"`
	State     string           `json:"state,omitzero"`
	Data      []jsontext.Value `json:"data,omitzero"`
}

// result is the outcome as that of a tool; err is what has ended the wait for more, nil for nothing.
func (o *outcome) result(err error) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	s := structured{Agent: o.agent, TaskID: o.taskID, ContextID: o.contextID, State: plain(o.state)}
	if o.said != nil {
		o.add(r, &s, "message", o.said.Parts)
	} else {
		whole := o.whole()
		for _, a := range whole.Artifacts {
			o.add(r, &s, cmp.Or(a.ArtifactID, a.Name), a.Parts)
		}
		if m := whole.Status.Message; m != nil {
			o.add(r, &s, "status", m.Parts)
		}
		r.IsError = taskstate.Terminal(o.state) && o.state != "TASK_STATE_COMPLETED"
		if text := o.next(err); text != "" {
			r.Content = append(r.Content, &mcp.TextContent{Text: text})
		}
	}
	text, _ := json.Marshal(s) // its members are valid JSON
	r.StructuredContent = jsontext.Value(text)
	if r.Content == nil {
		r.Content = []mcp.Content{&mcp.TextContent{Text: string(text)}} // for hosts that read nothing else
	}
	return r
}

// whole is the task as it is now.
func (o *outcome) whole() (t task) {
	text, err := o.task.Snapshot(nil)
	if err != nil || read(text, &t) != nil {
		return task{}
	}
	return t
}

// next says how to go on with a task that is not over, or did not end well.
func (o *outcome) next(err error) string {
	again := fmt.Sprintf("{\"agent\":%q,\"taskId\":%q}", o.agent, o.taskID)
	text := ""
	switch {
	case o.state == "TASK_STATE_COMPLETED":
	case taskstate.Terminal(o.state):
		text = fmt.Sprintf("The task has ended: %s.", plain(o.state))
	case o.state == taskInputRequired:
		text = fmt.Sprintf("The task waits for input. Call the same tool again with text and taskId %q to answer it.", o.taskID)
	case o.state == "TASK_STATE_AUTH_REQUIRED":
		text = fmt.Sprintf("The task waits until somebody has given the authorization that it asks for, outside of this conversation. "+
			"Call %s with %s to see whether it goes on. If it asks for an answer, call the same tool again with text and taskId %q.", getTask, again, o.taskID)
	default:
		text = fmt.Sprintf("The task is not over: %s. Call %s with %s to see what becomes of it, or %s to end it.",
			cmp.Or(plain(o.state), "its state is not known"), getTask, again, cancelTask)
	}
	if err != nil {
		text = strings.TrimSpace(text + " The wait for it ended early: " + err.Error() + ".")
	}
	return text
}

// add puts the parts of a message or an artifact into MCP's words.
func (o *outcome) add(r *mcp.CallToolResult, s *structured, from string, parts []part) {
	for i, p := range parts {
		switch {
		case p.Text != nil:
			r.Content = append(r.Content, &mcp.TextContent{Text: *p.Text})
		case p.Data != nil:
			s.Data = append(s.Data, p.Data)
			r.Content = append(r.Content, &mcp.TextContent{Text: string(p.Data)})
		case p.URL != "":
			r.Content = append(r.Content, &mcp.ResourceLink{URI: p.URL, Name: cmp.Or(p.Filename, from), MIMEType: p.MediaType})
		case p.Raw != nil:
			r.Content = append(r.Content, o.file(p, from, i))
		}
	}
}

// file is a file by its bytes.
func (o *outcome) file(p part, from string, i int) mcp.Content {
	content, err := base64.StdEncoding.DecodeString(*p.Raw)
	if err != nil {
		content, _ = base64.RawURLEncoding.DecodeString(strings.TrimRight(*p.Raw, "=")) // ProtoJSON has both
	}
	switch kind, _, _ := strings.Cut(p.MediaType, "/"); kind {
	case "image":
		return &mcp.ImageContent{Data: content, MIMEType: p.MediaType}
	case "audio":
		return &mcp.AudioContent{Data: content, MIMEType: p.MediaType}
	}
	// A name by which the parts of a result can be told apart; nothing can be read at it.
	name := cmp.Or(p.Filename, fmt.Sprintf("%s-%d", from, i))
	at := url.URL{Scheme: "a2a", Host: o.agent, Path: "/" + strings.Trim(o.taskID+"/"+name, "/")}
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: at.String(), MIMEType: p.MediaType, Blob: content}}
}
