package gatewaytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The objects of 0.1, for which there is no SDK in Go, and what they mean in the
// types of the 1.0 SDK. Agent and client of 0.1 stand on them.

type part01 struct {
	Type     string         `json:"type"` // text, file or data
	Text     string         `json:"text,omitempty"`
	File     *file01        `json:"file,omitempty"`
	Data     *object01      `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// object01 is an object that may be empty and is told from none.
type object01 = map[string]any

type file01 struct {
	Name     string `json:"name,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Bytes    []byte `json:"bytes,omitempty"`
	URI      string `json:"uri,omitempty"`
}

type message01 struct {
	Role     string         `json:"role"`
	Parts    []part01       `json:"parts"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

type status01 struct {
	State     string     `json:"state"`
	Message   *message01 `json:"message,omitempty"`
	Timestamp *time.Time `json:"timestamp,omitempty"`
}

type artifact01 struct {
	Name        string         `json:"name,omitempty"`
	Description string         `json:"description,omitempty"`
	Parts       []part01       `json:"parts"`
	Index       int            `json:"index"`
	Append      bool           `json:"append,omitempty"`
	LastChunk   bool           `json:"lastChunk,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

type task01 struct {
	ID        string         `json:"id"`
	SessionID string         `json:"sessionId,omitempty"`
	Status    status01       `json:"status"`
	Artifacts []artifact01   `json:"artifacts,omitempty"`
	History   []message01    `json:"history,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// event01 is an event of a stream: of the status or of an artifact.
type event01 struct {
	ID       string         `json:"id"`
	Status   *status01      `json:"status,omitempty"`
	Final    bool           `json:"final,omitempty"`
	Artifact *artifact01    `json:"artifact,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// params01 are the parameters of every method.
type params01 struct {
	ID            string         `json:"id"`
	SessionID     string         `json:"sessionId,omitempty"`
	Message       *message01     `json:"message,omitempty"`
	HistoryLength *int           `json:"historyLength,omitempty"`
	Metadata      map[string]any `json:"metadata,omitempty"`
	Push          *push01        `json:"pushNotificationConfig,omitempty"`
}

type push01 struct {
	URL            string   `json:"url"`
	Token          string   `json:"token,omitempty"`
	Authentication *schemes `json:"authentication,omitempty"`
}

type schemes struct {
	Schemes     []string `json:"schemes"`
	Credentials string   `json:"credentials,omitempty"`
}

type request01 struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  params01        `json:"params"`
}

type response01 struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *error01        `json:"error,omitempty"`
}

type error01 struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// wrapped marks a data part whose value is no object and stands under "value",
// as the SDKs mark it where data must be objects.
const wrapped = "data_part_compat"

func toPart01(p *a2a.Part) part01 {
	switch v := p.Content.(type) {
	case a2a.Raw:
		return part01{Type: "file", Metadata: p.Metadata, File: &file01{p.Filename, p.MediaType, v, ""}}
	case a2a.URL:
		return part01{Type: "file", Metadata: p.Metadata, File: &file01{p.Filename, p.MediaType, nil, string(v)}}
	case a2a.Data:
		if object, ok := v.Value.(map[string]any); ok {
			return part01{Type: "data", Metadata: p.Metadata, Data: &object}
		}
		return part01{Type: "data", Metadata: map[string]any{wrapped: true}, Data: &object01{"value": v.Value}}
	}
	return part01{Type: "text", Metadata: p.Metadata, Text: p.Text()}
}

func fromPart01(p part01) *a2a.Part {
	out := &a2a.Part{Metadata: p.Metadata}
	switch {
	case p.File != nil && p.File.URI != "":
		out.Content = a2a.URL(p.File.URI)
	case p.File != nil:
		out.Content = a2a.Raw(p.File.Bytes)
	case p.Data != nil && p.Metadata[wrapped] == true:
		out.Content, out.Metadata = a2a.Data{Value: (*p.Data)["value"]}, nil
	case p.Data != nil:
		out.Content = a2a.Data{Value: *p.Data}
	default:
		out.Content = a2a.Text(p.Text)
	}
	if p.File != nil {
		out.Filename, out.MediaType = p.File.Name, p.File.MimeType
	}
	return out
}

func toParts01(parts a2a.ContentParts) []part01 {
	out := []part01{}
	for _, p := range parts {
		out = append(out, toPart01(p))
	}
	return out
}

func fromParts01(parts []part01) a2a.ContentParts {
	var out a2a.ContentParts
	for _, p := range parts {
		out = append(out, fromPart01(p))
	}
	return out
}

func toMessage01(m *a2a.Message) *message01 {
	if m == nil {
		return nil
	}
	role := "user"
	if m.Role == a2a.MessageRoleAgent {
		role = "agent"
	}
	return &message01{Role: role, Parts: toParts01(m.Parts), Metadata: m.Metadata}
}

// fromMessage01 leaves out the ids, which 0.1 has not.
func fromMessage01(m *message01) *a2a.Message {
	if m == nil {
		return nil
	}
	role := a2a.MessageRoleUser
	if m.Role == "agent" {
		role = a2a.MessageRoleAgent
	}
	return &a2a.Message{Role: role, Parts: fromParts01(m.Parts), Metadata: m.Metadata}
}

// states01 has the states under the names of 0.1, which lacks two of them.
var states01 = map[a2a.TaskState]string{
	a2a.TaskStateSubmitted: "submitted", a2a.TaskStateWorking: "working", a2a.TaskStateCompleted: "completed",
	a2a.TaskStateFailed: "failed", a2a.TaskStateCanceled: "canceled", a2a.TaskStateInputRequired: "input-required",
	a2a.TaskStateRejected: "failed", a2a.TaskStateAuthRequired: "input-required",
}

func toStatus01(s a2a.TaskStatus) status01 {
	return status01{State: states01[s.State], Message: toMessage01(s.Message), Timestamp: s.Timestamp}
}

func fromStatus01(s status01) a2a.TaskStatus {
	state := a2a.TaskState("TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(s.State, "-", "_")))
	return a2a.TaskStatus{State: state, Message: fromMessage01(s.Message), Timestamp: s.Timestamp}
}

func fromArtifact01(a *artifact01) *a2a.Artifact {
	return &a2a.Artifact{
		ID: a2a.ArtifactID(fmt.Sprintf("artifact-%d", a.Index)), Name: a.Name, Description: a.Description,
		Parts: fromParts01(a.Parts), Metadata: a.Metadata,
	}
}

// toArtifact01 numbers an artifact by its place among the task's.
func toArtifact01(a *a2a.Artifact, all []*a2a.Artifact) *artifact01 {
	return &artifact01{
		Name: a.Name, Description: a.Description, Parts: toParts01(a.Parts), Metadata: a.Metadata,
		Index: slices.IndexFunc(all, func(b *a2a.Artifact) bool { return a.ID == b.ID }),
	}
}

func toTask01(t *a2a.Task, length *int) *task01 {
	out := &task01{ID: string(t.ID), SessionID: t.ContextID, Status: toStatus01(t.Status), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, *toArtifact01(a, t.Artifacts))
	}
	history := t.History
	if length != nil {
		history = history[max(0, len(history)-*length):]
	}
	for _, m := range history {
		out.History = append(out.History, *toMessage01(m))
	}
	return out
}

func fromTask01(t *task01) *a2a.Task {
	out := &a2a.Task{ID: a2a.TaskID(t.ID), ContextID: t.SessionID, Status: fromStatus01(t.Status), Metadata: t.Metadata}
	for i := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, fromArtifact01(&t.Artifacts[i]))
	}
	for i := range t.History {
		out.History = append(out.History, fromMessage01(&t.History[i]))
	}
	return out
}

func fromEvent01(e *event01) a2a.Event {
	id := a2a.TaskID(e.ID)
	if e.Artifact != nil {
		return &a2a.TaskArtifactUpdateEvent{
			TaskID: id, Artifact: fromArtifact01(e.Artifact), Metadata: e.Metadata,
			Append: e.Artifact.Append, LastChunk: e.Artifact.LastChunk,
		}
	}
	return &a2a.TaskStatusUpdateEvent{TaskID: id, Status: fromStatus01(*e.Status), Metadata: e.Metadata}
}

func answer01(w http.ResponseWriter, id json.RawMessage, result any, e *error01) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(written01(id, result, e))
}

func written01(id json.RawMessage, result any, e *error01) response01 {
	answer := response01{JSONRPC: "2.0", ID: id, Error: e}
	if e == nil {
		answer.Result, _ = json.Marshal(result) // of our own types only
	}
	return answer
}
