package frameworks_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// event is what an agent answered, in the words of no version.
type event struct {
	kind              string // "task", "message", "status" or "artifact"
	state             string
	texts             []string
	taskID, contextID string
	failure           string // why there is no event
}

// String leaves out what differs each time.
func (e event) String() string {
	if e.failure != "" {
		return e.failure
	}
	return strings.TrimSpace(e.kind+" "+e.state) + ": " + strings.Join(e.texts, " | ")
}

// ended tells whether it is the last word: a message, or a task that came to an end.
func (e event) ended() bool {
	return e.failure == "" && (e.kind == "message" || e.state == "completed" || e.state == "input-required")
}

// wireEvent has the members of all versions.
type wireEvent struct {
	Task           *wireEvent `json:"task"`
	Message        *wireEvent `json:"message"`
	StatusUpdate   *wireEvent `json:"statusUpdate"`
	ArtifactUpdate *wireEvent `json:"artifactUpdate"`

	Kind      string `json:"kind"`
	ID        string `json:"id"`
	TaskID    string `json:"taskId"`
	ContextID string `json:"contextId"`
	SessionID string `json:"sessionId"` // the context of 0.1
	Parts     []part `json:"parts"`
	Status    struct {
		State   string `json:"state"`
		Message struct {
			Parts []part `json:"parts"`
		} `json:"message"`
	} `json:"status"`
	Artifact  artifact   `json:"artifact"`
	Artifacts []artifact `json:"artifacts"`
	History   []struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	} `json:"history"`
}

type artifact struct {
	Parts []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

// events reads an answer, a document or a stream.
func events(status int, text []byte) []event {
	var all []event
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok {
				all = append(all, readEvent(status, data))
			}
		}
	} else {
		all = append(all, readEvent(status, text))
	}
	if len(all) == 0 {
		all = append(all, event{failure: fmt.Sprintf("HTTP %d with %d bytes", status, len(text))})
	}
	return all
}

func readEvent(status int, text []byte) event {
	var answer struct {
		Result *wireEvent `json:"result"`
		Error  *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return event{failure: fmt.Sprintf("HTTP %d: %v", status, err)}
	case answer.Error != nil:
		return event{failure: fmt.Sprintf("error %d", answer.Error.Code)}
	case answer.Result == nil:
		return event{failure: fmt.Sprintf("HTTP %d without a result", status)}
	}
	return answer.Result.event()
}

// event gives it in the words of no version.
func (w *wireEvent) event() event {
	kind := map[string]string{"status-update": "status", "artifact-update": "artifact"}[w.Kind]
	switch {
	case w.Task != nil:
		w, kind = w.Task, "task"
	case w.Message != nil && w.ID == "": // a task of 0.1 may have the message that it is of
		w, kind = w.Message, "message"
	case w.StatusUpdate != nil:
		w, kind = w.StatusUpdate, "status"
	case w.ArtifactUpdate != nil:
		w, kind = w.ArtifactUpdate, "artifact"
	case kind == "" && w.Kind != "":
		kind = w.Kind
	case kind == "":
		kind = "task"
	}
	e := event{kind: kind, taskID: w.TaskID, contextID: cmp.Or(w.ContextID, w.SessionID)}
	if kind == "task" {
		e.taskID = w.ID
	}
	e.state = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(w.Status.State, "TASK_STATE_")), "_", "-")
	parts := append(w.Parts, w.Status.Message.Parts...)
	parts = append(parts, w.Artifact.Parts...)
	for _, a := range w.Artifacts {
		parts = append(parts, a.Parts...)
	}
	for i := len(w.History) - 1; i >= 0 && len(parts) == 0 && strings.HasSuffix(strings.ToLower(w.History[i].Role), "agent"); i-- {
		parts = w.History[i].Parts // where an agent's answers are nowhere else
	}
	for _, p := range parts {
		e.texts = append(e.texts, p.Text)
	}
	return e
}
