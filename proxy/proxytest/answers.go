package proxytest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// BareTask is a task without what is around it in the answer to a send.
func BareTask(doc string) string {
	if inner, ok := strings.CutPrefix(doc, `{"task":`); ok {
		return strings.TrimSuffix(inner, "}")
	}
	return doc
}

// Agreeable answers every call with the task it names, or a new one. A new task
// has a context of its own; one that is named keeps what is known of it.
func Agreeable(w http.ResponseWriter, r *Request) {
	fresh := r.Header.Get("X-Request-Id")
	if named := TaskNamed(r); named != "" {
		Respond(w, r, TaskResult(r, named, ""))
		return
	}
	Respond(w, r, TaskResult(r, "task-"+fresh, "context-"+fresh))
}

// TaskResult is a finished task in the version the call is in.
func TaskResult(r *Request, id, context string) string {
	task := fmt.Sprintf(`{"kind":"task","id":%q,"contextId":%q,"status":{"state":"completed"}}`, id, context)
	if r.is10() || !r.IsRPC() {
		task = fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_COMPLETED"}}`, id, context)
	}
	sends := strings.HasSuffix(r.RPC().Method, "Message") || strings.Contains(r.URL.Path, "message:")
	if sends && (r.is10() || !r.IsRPC()) {
		task = `{"task":` + task + `}`
	}
	return task
}

// Respond answers with a result, wrapped as the binding wants it, and as a stream
// of one event where the call asks for a stream.
func Respond(w http.ResponseWriter, r *Request, result string) {
	body := result
	if r.IsRPC() {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, result)
	}
	streams := strings.Contains(r.RPC().Method+r.URL.Path, "tream") || strings.Contains(r.RPC().Method+r.URL.Path, "ubscribe")
	if streams {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+body+"\n\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// raw answers with exactly these bytes on the connection, and closes it.
func RawAnswer(bytes string) func(http.ResponseWriter, *Request) {
	return func(w http.ResponseWriter, _ *Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, bytes)
		_ = c.Close()
	}
}

// PassOn is an agent that is another gateway: it hands calls on to the agent at base,
// with the key of a caller there and who has been passed.
func PassOn(w *Gateway, base *string, key func() string) func(http.ResponseWriter, *Request) {
	return func(rw http.ResponseWriter, r *Request) {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, *base, bytes.NewReader(r.Content))
		if err != nil {
			panic(err)
		}
		for _, name := range []string{"A2a-Version", "Content-Type", "Via"} {
			req.Header[name] = r.Header[name]
		}
		req.Header.Set("X-API-Key", key())
		resp, err := w.Client.Do(req)
		if err != nil {
			panic(err)
		}
		defer func() { _ = resp.Body.Close() }()
		rw.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		rw.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(rw, resp.Body)
	}
}

// NewTaskID is a new task, which 0.1's callers have to name.
func NewTaskID(s wire.Side) string {
	if s == RPC01 {
		return uuid.NewString()
	}
	return ""
}

// MadeTask are the ids of the task that a send has made.
func MadeTask(t *testing.T, got Response) (task, context string) {
	t.Helper()
	var doc struct {
		Result struct {
			Task struct {
				ID        string `json:"id"`
				ContextID string `json:"contextId"`
			} `json:"task"`
		} `json:"result"`
	}
	Must(t, json.Unmarshal([]byte(got.Body), &doc))
	return doc.Result.Task.ID, doc.Result.Task.ContextID
}

// IDForV01 is a task id where the caller has to choose one.
func IDForV01(s wire.Side, id string) string {
	if s == RPC01 {
		return id
	}
	return ""
}

// Fluent answers every call of every side with a finished task: the one that is
// named, or a new one.
func Fluent(w http.ResponseWriter, r *Request) {
	s, c := r.Side(), r.Call()
	fresh := r.Header.Get("X-Request-Id")
	id, context := cmp.Or(c.TaskID, "task-"+fresh), cmp.Or(c.ContextID, "context-"+fresh)
	task := TaskIn(s, id, context, "completed", "")
	switch {
	case c.Method.Name == wire.GetTask, c.Method.Name == wire.CancelTask:
		r.Say(w, task)
	case c.Method.Name == wire.ListTasks:
		r.Say(w, `{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`)
	case c.Method.Streams && s == RPC01:
		r.Say(w, StatusIn(s, id, context, "completed", ""))
	case s.Binding == wire.JSONRPC && s.Version != wire.V10:
		r.Say(w, task)
	default:
		r.Say(w, `{"task":`+task+`}`)
	}
}
