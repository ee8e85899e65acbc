package proxytest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// EventsV03 are events of a 0.3 agent by one letter: T and t are a task that works and one that
// has completed, S, s and F a status update that works, has completed, and has completed
// finally, A an artifact, M a message.
var EventsV03 = map[rune]string{
	'T': `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`,
	't': `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}]}`,
	'S': `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}`,
	's': `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":false}`,
	'F': `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`,
	'A': `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}}`,
	'M': `{"kind":"message","messageId":"m","role":"agent","taskId":"t","contextId":"c","parts":[]}`,
}

// SayV03 streams events of said03.
func SayV03(rw http.ResponseWriter, r *Request, letters string) {
	rw.Header().Set("Content-Type", "text/event-stream")
	for _, letter := range letters {
		_, _ = io.WriteString(rw, EventOf(r, EventsV03[letter]))
	}
}

// OldSend are the params of a 0.1 send: of a task of this id, in a session ("" for none).
func OldSend(id, session string) string {
	if session != "" {
		session = fmt.Sprintf(`,"sessionId":%q`, session)
	}
	return fmt.Sprintf(`{"id":%q%s,"message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`, id, session)
}

// OldAgent is an agent of 0.1: each task is what the client says it is, working
// for as many looks as told, and then done.
type OldAgent struct {
	mu       sync.Mutex
	Looks    int
	Session  bool // it says which session a task is in
	sessions map[string]string
}

// Answer is for Agent.Answers.
func (a *OldAgent) Answer(w http.ResponseWriter, r *Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := r.Call()
	if a.sessions == nil {
		a.sessions = map[string]string{}
	}
	if c.Method.Subject == wire.OfMessage {
		a.sessions[c.TaskID] = c.ContextID
	}
	state := "working"
	if c.Method.Name == wire.GetTask {
		if a.Looks--; a.Looks <= 0 {
			state = "completed"
		}
	}
	task := TaskIn(RPC01, c.TaskID, a.sessions[c.TaskID], state, `,"history":[{"role":"user","parts":[{"type":"text","text":"1"}]},{"role":"agent","parts":[]}]`)
	if !a.Session {
		task = strings.Replace(task, fmt.Sprintf(`"sessionId":%q,`, a.sessions[c.TaskID]), "", 1)
	}
	r.Say(w, task)
}

// ShownTask is the task of an answer of any newer side.
func ShownTask(t testing.TB, got Reply) (id, context, state string, history int) {
	t.Helper()
	var doc struct {
		Task RawJSON `json:"task"`
	}
	if len(got.Docs) != 1 {
		t.Fatalf("%d %v %s", got.Status, got.Err, got.Body)
	}
	Must(t, json.Unmarshal([]byte(got.Docs[0]), &doc))
	if doc.Task == nil {
		doc.Task = RawJSON(got.Docs[0])
	}
	var task struct {
		ID        string `json:"id"`
		ContextID string `json:"contextId"`
		Status    struct {
			State string `json:"state"`
		} `json:"status"`
		History []any `json:"history"`
	}
	Must(t, json.Unmarshal(doc.Task, &task))
	return task.ID, task.ContextID, strings.ToLower(strings.TrimPrefix(task.Status.State, "TASK_STATE_")), len(task.History)
}

// Unhurried is how a side says that it does not want to wait.
func Unhurried(s wire.Side) string {
	if s.Version == wire.V10 {
		return `,"configuration":{"returnImmediately":true}`
	}
	return `,"configuration":{"blocking":false}`
}
