package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
)

// backend is an agent that records what reaches it and misbehaves on demand. It
// serves a valid 1.0 card, with one skill, "work", unless told otherwise.
type backend struct {
	server  *httptest.Server
	skills  []string
	gateway func() string // where it is
	only    string        // the one version it speaks, over JSON-RPC alone; empty for 1.0 in both bindings

	mu   sync.Mutex
	mode string
	play *play // of the mode play
	seen []arrival
	last http.Header // of the last request that was seen
	quit chan struct{}
}

// cmdBackend starts a backend, or changes the mode of one: backend NAME MODE
// [only=VERSION] [skill]…. It sets $NAME_CARD. The mode play=FILE has it say what
// is in a file.
func cmdBackend(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) < 2 {
		ts.Fatalf("usage: backend NAME MODE [only=VERSION] [SKILL]…")
	}
	w, name := worldOf(ts), args[0]
	mode, file, plays := strings.Cut(args[1], "=")
	if modes()[mode] == nil || plays != (mode == "play") {
		ts.Fatalf("backend: no such mode %q, only %s", mode, slices.Sorted(maps.Keys(modes())))
	}
	if b := w.backends[name]; b != nil {
		b.mu.Lock()
		b.mode = mode
		b.mu.Unlock()
		if plays {
			b.cast(ts, file)
		}
		return
	}
	b := &backend{mode: mode, skills: args[2:], quit: make(chan struct{})}
	b.gateway = w.at
	if len(b.skills) > 0 && strings.HasPrefix(b.skills[0], "only=") {
		b.only, b.skills = strings.TrimPrefix(b.skills[0], "only="), b.skills[1:]
	}
	if len(b.skills) == 0 {
		b.skills = []string{"work"}
	}
	if plays {
		b.cast(ts, file)
	}
	b.server = httptest.NewUnstartedServer(b) // its handler looks at b.server
	b.server.Start()
	w.backends[name] = b
	w.name(ts, envName(name)+"_URL", b.server.URL)
	ts.Setenv(envName(name)+"_CARD", b.server.URL+"/.well-known/agent-card.json")
}

func (b *backend) close() {
	close(b.quit)
	b.server.CloseClientConnections()
	b.server.Close()
}

// ServeHTTP implements http.Handler.
func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/.well-known/agent-card.json" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, b.cardJSON())
		return
	}
	body, _ := io.ReadAll(r.Body)
	q := question{id: []byte("null"), rest: r.URL.Path != "/", r: r, body: body}
	var envelope struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if json.Unmarshal(body, &envelope) == nil {
		q.id, q.method = envelope.ID, envelope.Method
	}
	b.mu.Lock()
	mode := modes()[b.mode]
	q.play = b.play
	index := len(b.seen)
	b.last = r.Header.Clone()
	b.seen = append(b.seen, arrival{
		method: r.Method, target: r.RequestURI, rpc: q.method, header: r.Header.Clone(), body: body,
	})
	b.mu.Unlock()
	q.gateway = b.gateway
	q.stream = strings.Contains(q.method, "Streaming") || strings.HasSuffix(r.URL.Path, ":stream")
	q.gone = func() {
		select {
		case <-r.Context().Done():
			b.mu.Lock()
			b.seen[index].cancelled = true
			b.mu.Unlock()
		case <-b.quit:
		}
	}
	mode(w, q)
}

func (b *backend) cardJSON() string {
	type object = map[string]any
	var skills []object
	for _, id := range b.skills {
		skill := object{"id": id, "name": id, "description": "Does " + id + ".", "tags": []string{"test"}}
		if scopes := b.scopes(id); scopes != nil {
			skill["securityRequirements"] = []object{{"schemes": object{"oauth": object{"list": scopes}}}}
		}
		skills = append(skills, skill)
	}
	card := object{
		"name": "Backend", "description": "Answers as told.", "version": "1.0.0",
		"capabilities": b.capabilities(), "skills": skills,
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"},
		"securitySchemes": object{"oauth": object{"oauth2SecurityScheme": object{"flows": object{}}}},
	}
	interfaces := []object{
		{"url": b.server.URL + "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
		{"url": b.server.URL + "/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
	}
	switch b.only {
	case "":
		card["supportedInterfaces"] = interfaces
	case "1.0":
		card["supportedInterfaces"] = interfaces[:1]
	default:
		card["protocolVersion"], card["url"] = b.only+".0", b.server.URL+"/"
	}
	maps.Copy(card, b.told())
	out, _ := json.Marshal(card, json.Deterministic(true))
	return string(out)
}

// told are the members of the card that the play gives it.
func (b *backend) told() map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.play == nil {
		return nil
	}
	return b.play.Card
}

// scopes are those that the card asks for at a skill.
func (b *backend) scopes(skill string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.play == nil {
		return nil
	}
	return b.play.Scopes[skill]
}

func (b *backend) capabilities() map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := map[string]any{"streaming": true}
	if b.play != nil && b.play.Extensions != nil {
		c["extensions"] = b.play.Extensions
	}
	return c
}

// question is what a mode needs to know of a call.
type question struct {
	id           []byte
	method       string
	rest, stream bool
	r            *http.Request
	body         []byte
	play         *play
	gone         func()        // waits until the caller has gone, and notes it
	gateway      func() string // where the gateway is
}

// answer wraps a result for the binding.
func (q question) answer(result string) string {
	if q.rest {
		return result
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, result)
}

const (
	okMessage = `{"message":{"messageId":"reply","role":"ROLE_AGENT","parts":[{"text":"ok"}]}}`
	theTask   = `{"id":"task-1","contextId":"context-1","status":{"state":"TASK_STATE_WORKING"}}`
	working   = `{"task":` + theTask + `}`
	completed = `{"statusUpdate":{"taskId":"task-1","contextId":"context-1",` +
		`"status":{"state":"TASK_STATE_COMPLETED"}}}`
)

// modes are what a backend can be told to be.
func modes() map[string]func(http.ResponseWriter, question) {
	return map[string]func(http.ResponseWriter, question){
		// good answers every call.
		"good": func(w http.ResponseWriter, q question) {
			if q.stream {
				stream(w, q.answer(working), q.answer(completed))
				return
			}
			answerJSON(w, q.answer(okMessage))
		},
		// play says what stands in a file.
		"play": func(w http.ResponseWriter, q question) { q.play.perform(w, q) },
		// html is the login page of something between the gateway and the agent.
		"html": func(w http.ResponseWriter, _ question) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>Please log in to the intranet.</html>")
		},
		// wrong-id answers a question that nobody asked.
		"wrong-id": func(w http.ResponseWriter, q question) {
			q.id = []byte(`"somebody-elses"`)
			answerJSON(w, q.answer(okMessage))
		},
		// task shows everybody the same task.
		"task": func(w http.ResponseWriter, q question) {
			if q.method == "GetTask" || q.method == "CancelTask" {
				answerJSON(w, q.answer(theTask))
				return
			}
			answerJSON(w, q.answer(working))
		},
		// hang does not answer.
		"hang": func(_ http.ResponseWriter, q question) { q.gone() },
		// early-close closes in the middle of the body.
		"early-close": func(w http.ResponseWriter, q question) {
			full := q.answer(okMessage)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(full)))
			_, _ = io.WriteString(w, full[:len(full)/2])
			cut(w)
		},
		// stream-break sends one event and then loses the connection.
		"stream-break": func(w http.ResponseWriter, q question) {
			stream(w, q.answer(working))
			cut(w)
		},
		// stream-hang sends one event and then nothing.
		"stream-hang": func(w http.ResponseWriter, q question) {
			stream(w, q.answer(working))
			q.gone()
		},
		// stream-garbage sends an event that is not JSON.
		"stream-garbage": func(w http.ResponseWriter, q question) {
			stream(w, q.answer(working), "not json at all", q.answer(completed))
		},
		// huge sends more than anyone should read.
		"huge": func(w http.ResponseWriter, q question) {
			filler := strings.Repeat("x", 64<<10)
			answerJSON(w, q.answer(strings.Replace(okMessage, `"ok"`, `"`+filler+`"`, 1)))
		},
		// redirect sends the caller's request elsewhere.
		"redirect": func(w http.ResponseWriter, _ question) {
			w.Header().Set("Location", "http://198.51.100.1/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		// circle asks the agent "circle" at the gateway, handing the trace of the call on.
		"circle": func(w http.ResponseWriter, q question) { q.pass(w, q.gateway()+"/agents/circle") },
		// broken fails every call, in no words of A2A's.
		"broken": func(w http.ResponseWriter, _ question) { http.Error(w, "boom", http.StatusInternalServerError) },
		// overloaded says that it can take no more.
		"overloaded": func(w http.ResponseWriter, _ question) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "too many", http.StatusTooManyRequests)
		},
	}
}

func answerJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
	}
	_ = http.NewResponseController(w).Flush()
}

// cut closes the connection under an answer that is not finished.
func cut(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	time.Sleep(20 * time.Millisecond) // what was flushed arrives before the reset
	panic(http.ErrAbortHandler)
}
