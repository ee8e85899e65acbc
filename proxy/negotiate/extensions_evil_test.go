package negotiate_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// The extensions of an agent that leaves traces of all it knows. What must not be seen
// has "secret" in it, and so do its keys and values.
const (
	denied     = "https://example.com/ext/secret-denied/v1"     // by the configuration, declared
	injected   = "https://example.com/ext/secret-injected/v1"   // by the configuration
	registered = "https://example.com/ext/secret-registered/v1" // not declared
	blocked    = "https://example.com/ext/secret-blocked/v1"    // by the registry, declared
)

// evilWorld changes a world to one with these extensions.
func evilWorld(s *proxytest.Setup) {
	proxytest.WithTied(s)
	s.Extensions = ext.Registry{
		{URI: bystander, Metadata: []string{"by.*"}},
		{URI: registered, Metadata: []string{"secret.registered.*", "secret"}},
		{URI: injected, Defaults: map[string]secret.JSON{injected: secret.JSON(`"secret default"`)}},
		{URI: blocked, Status: ext.Blocked},
	}
	s.Agent.Extensions = ext.Config{Deny: []string{denied}, Inject: []string{injected}}
}

// evilCard declares what the agent would like to use.
func evilCard(list ...wire.Side) func(string) string {
	return proxytest.CardDeclaring(proxytest.CardFor(list...), `{"uri":"`+bystander+`"}`, `{"uri":"`+focus+`"}`, `{"uri":"`+denied+`"}`, `{"uri":"`+blocked+`"}`)
}

// evil is an agent that answers like fluent, and leaves in every object what metadata
// and lists can hold.
type evil struct {
	mu          sync.Mutex
	state, more string            // of its tasks; further members of metadata
	where       map[string]string // context of each task
	docs        []string          // what it has said last
	good        []string          // the same without what must not be seen
	task        string            // what that was about
}

// last is the id of the task that was spoken of last.
func (a *evil) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.task
}

// becomes sets what the agent says from now on.
func (a *evil) becomes(state, more string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state, a.more = state, more
}

func (a *evil) answer(w http.ResponseWriter, r *proxytest.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, c := r.Side(), r.Call()
	w.Header().Set(nameFor(s.Version), strings.Join([]string{bystander, denied, injected, "urn:secret:unknown"}, ","))
	e := evilWords{Side: s, more: a.more, id: c.TaskID}
	switch {
	case c.Method.Name == wire.ListTasks:
		e.id = "t"
	case e.id == "":
		e.id = "task-" + r.Header.Get("X-Request-Id")
	}
	e.context = cmp.Or(c.ContextID, a.where[e.id], "context-"+e.id)
	if a.where == nil {
		a.where = map[string]string{}
	}
	a.where[e.id], a.task = e.context, e.id
	a.docs = e.docs(c.Method, a.state)
	e.good = true
	a.good = e.docs(c.Method, a.state)
	r.Say(w, a.docs...)
}

// evilWords are documents of one side.
type evilWords struct {
	wire.Side
	more, id, context string
	good              bool // nothing is left but what may be
}

// docs are the answer or the events of a method.
func (e evilWords) docs(m *wire.Method, state string) []string {
	task := e.task(state)
	wrapped := `{"task":` + task + `}`
	if e.Side == proxytest.RPC03 || e.Side == proxytest.RPC01 {
		wrapped = task
	}
	switch {
	case m.Name == wire.ListTasks:
		return []string{`{"tasks":[` + task + `],"nextPageToken":"","pageSize":50,"totalSize":1}`}
	case m.Streams && e.Side == proxytest.RPC01: // it has no tasks in streams
		return []string{e.artifact(), e.status("completed")}
	case m.Streams:
		return []string{wrapped, e.artifact(), e.status("completed")}
	case m.Subject == wire.OfMessage:
		return []string{wrapped}
	}
	return []string{task}
}

// leave are the members that an object has; listing says whether it can list
// extensions.
func (e evilWords) leave(listing bool) string {
	text := `,"metadata":{"` + bystander + `":"kept","plain":"kept","by.name":"kept"`
	list := `"` + bystander + `"`
	if !e.good {
		text += `,"` + denied + `":"secret","example.com/ext/secret-denied/v1/name":{"a":["secret"]}` +
			`,"` + injected + `/name":"secret","secret.registered.x":"secret","secret":1` +
			`,"` + blocked + `":"secret","https://example.com/ext/\u0073ecret-denied/v1/escaped":"secret"` +
			`,"` + denied + `#name":"secret","` + denied + `?name":"secret","example.com/ext/secret-denied/v1:name":"secret"` + e.more
		list = `"` + denied + `",` + list + `,"urn:secret:unknown","` + injected + `"`
	}
	if text += `}`; listing && e.Version != wire.V01 {
		text += `,"extensions":[` + list + `]`
	}
	return text
}

func (e evilWords) part() string {
	kind := map[wire.Side]string{proxytest.RPC01: `"type":"text",`, proxytest.RPC03: `"kind":"text",`}[e.Side]
	return `{` + kind + `"text":"x"` + e.leave(false) + `}`
}

func (e evilWords) message() string {
	switch {
	case e.Side == proxytest.RPC01:
		return `{"role":"agent","parts":[` + e.part() + `]` + e.leave(false) + `}`
	case e.Side == proxytest.RPC03:
		return `{"kind":"message","messageId":"m","role":"agent","parts":[` + e.part() + `]` + e.leave(true) + `}`
	case e.Version == wire.V03:
		return `{"messageId":"m","role":"ROLE_AGENT","content":[` + e.part() + `]` + e.leave(true) + `}`
	}
	return `{"messageId":"m","role":"ROLE_AGENT","parts":[` + e.part() + `]` + e.leave(true) + `}`
}

func (e evilWords) artifactObject() string {
	if e.Side == proxytest.RPC01 {
		return `{"index":0,"parts":[` + e.part() + `]` + e.leave(false) + `}`
	}
	return `{"artifactId":"a","parts":[` + e.part() + `]` + e.leave(true) + `}`
}

func (e evilWords) task(state string) string {
	task := proxytest.TaskIn(e.Side, e.id, e.context, state, e.leave(false)+
		`,"artifacts":[`+e.artifactObject()+`],"history":[`+e.message()+`]`)
	return e.speak(task, state)
}

func (e evilWords) status(state string) string {
	event := e.speak(proxytest.StatusIn(e.Side, e.id, e.context, state, ""), state)
	return e.update(event)
}

// speak adds a message to the status of a task or update.
func (e evilWords) speak(doc, state string) string {
	at := `"state":"` + proxytest.StateIn(e.Side, state) + `"`
	return strings.Replace(doc, at, at+`,"message":`+e.message(), 1)
}

// update adds what the update itself may have.
func (e evilWords) update(event string) string {
	id := fmt.Sprintf(`"taskId":%q`, e.id)
	if e.Side == proxytest.RPC01 {
		id = fmt.Sprintf(`"id":%q`, e.id)
	}
	return strings.Replace(event, id, id+e.leave(false), 1)
}

func (e evilWords) artifact() string {
	event := proxytest.ArtifactIn(e.Side, e.id, e.context)
	before, _, _ := strings.Cut(event, `"artifact":{`)
	tail := `}}`
	if e.Side == proxytest.RPC01 || e.Side == proxytest.RPC03 {
		tail = `}`
	}
	return e.update(before + `"artifact":` + e.artifactObject() + tail)
}

// plainText is a JSON document without escapes, for searching.
func plainText(doc string) string {
	var v any
	if json.Unmarshal([]byte(doc), &v) != nil {
		return doc
	}
	return fmt.Sprint(v)
}
