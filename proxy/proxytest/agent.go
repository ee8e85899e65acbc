package proxytest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// AnswerIn has the agent answer with what docs makes of the words of the call and of the
// task that it names, or of a new one. Of unary calls it is the last.
func (w *Gateway) AnswerIn(docs func(s Words, id string) []string) {
	w.Agent.Answers(func(rw http.ResponseWriter, r *Request) {
		c := r.Call()
		list := docs(Words{r.Side()}, cmp.Or(c.TaskID, "task-"+r.Header.Get("X-Request-Id")))
		if !c.Method.Streams {
			list = list[len(list)-1:]
		}
		if c.Method.Subject == wire.OfTask && !c.Method.Streams {
			list = []string{BareTask(list[0])}
		}
		r.Say(rw, list...)
	})
}

// Agent is an agent that keeps every request and answers as it is told.
type Agent struct {
	*httptest.Server
	Mu      sync.Mutex
	Seen    []*Request
	handler func(http.ResponseWriter, *Request)
	Doc     func(base string) string // its card

	// docs has the cards where one server is several agents; the query says which.
	docs map[string]func(base string) string
}

// NewAgent starts an agent that speaks HTTP/1.1 and, for gRPC, HTTP/2 without TLS. It has the
// usual [Card] and is [Agreeable].
func NewAgent(t testing.TB) *Agent {
	a := &Agent{handler: Agreeable, Doc: Card}
	a.Server = httptest.NewUnstartedServer(a)
	a.Config.Protocols = new(http.Protocols)
	a.Config.Protocols.SetHTTP1(true)
	a.Config.Protocols.SetUnencryptedHTTP2(true) // gRPC
	a.Start()
	t.Cleanup(a.Close)
	return a
}

// ServeHTTP implements http.Handler. Reading the card is not recorded.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/card" {
		doc := a.docs[r.URL.RawQuery]
		if doc == nil {
			doc = a.Doc
		}
		_, _ = io.WriteString(w, doc("http://"+r.Host))
		return
	}
	body, _ := io.ReadAll(r.Body)
	rec := &Request{Request: r, Content: body}
	a.Mu.Lock()
	a.Seen = append(a.Seen, rec)
	handler := a.handler
	a.Mu.Unlock()
	handler(w, rec)
}

// Answers sets what the agent does with a call from now on.
func (a *Agent) Answers(f func(http.ResponseWriter, *Request)) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	a.handler = f
}

// Take gives the requests since the last take.
func (a *Agent) Take() []*Request {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	seen := a.Seen
	a.Seen = nil
	return seen
}

// One gives the only request since the last take.
func (a *Agent) One(t testing.TB) *Request {
	t.Helper()
	seen := a.Take()
	if len(seen) != 1 {
		t.Fatalf("the agent saw %d requests, want 1", len(seen))
	}
	return seen[0]
}

// Silent fails the test if the agent saw anything.
func (a *Agent) Silent(t testing.TB, what string) {
	t.Helper()
	if seen := a.Take(); len(seen) != 0 {
		t.Errorf("%s: the agent saw %s %s %s", what, seen[0].Method, seen[0].URL, seen[0].Content)
	}
}

// NewTask makes a task of alice's and returns its id.
func (w *Gateway) NewTask(who string) string {
	w.Helper()
	got := w.Call(who, "SendMessage", Message(""))
	WantStatus(w, "a new task", got, 200)
	w.Agent.Take()
	_, rest, _ := strings.Cut(got.Body, `"id":"task-`)
	id, _, _ := strings.Cut(rest, `"`)
	return "task-" + id
}

// BecomeCard gives the first agent another card.
func (w *Gateway) BecomeCard(doc func(string) string) {
	w.Helper()
	w.Agent.Doc = doc
	Must(w, w.Sources[0].Refresh(context.Background()))
}

// Given has an agent give a caller a task of an id, in a context.
func (w *Gateway) Given(who, base string, a *Agent, task, context, tenant string) {
	w.Helper()
	a.Answers(func(rw http.ResponseWriter, r *Request) {
		made := TaskIn(r.Side(), task, context, "working", "")
		if r.Side().Version == wire.V10 || r.Side().Binding != wire.JSONRPC {
			made = `{"task":` + made + `}`
		}
		r.Say(rw, made)
	})
	more := ""
	if tenant != "" {
		more = fmt.Sprintf(`,"tenant":%q`, tenant)
	}
	w.Speak(who, base, RPC10, Ask{Method: wire.SendMessage, More: more + `,"configuration":{"returnImmediately":true}`}).OK(w, "make a task")
	a.Answers(Fluent)
	a.Take()
}

// SpeakTask has the agent give a caller a task.
func (w *Gateway) SpeakTask(who, task, context string) {
	w.Helper()
	w.Given(who, w.Base, w.Agent, task, context, "")
}

// Own has alice make a task of an id, in a context.
func (w *Gateway) Own(who, task, context string) {
	w.Helper()
	w.Agent.Answers(func(rw http.ResponseWriter, r *Request) { Respond(rw, r, TaskResult(r, task, context)) })
	WantStatus(w, "make a task", w.Call(who, "SendMessage", Message("")), 200)
	w.Agent.Answers(Agreeable)
	w.Agent.Take()
}
