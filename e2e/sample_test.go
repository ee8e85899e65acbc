package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// sample is an agent with JSON-RPC 1.0 whose tasks go by the clock alone: what has
// happened to a task can be told at any moment, to anybody who subscribes again. It
// counts what it gets.
type sample struct {
	name   string
	server *httptest.Server
	events int           // artifacts of a task
	begun  int           // how many tasks attend has had begun
	every  time.Duration // and the time between two of them

	// grows makes one artifact of them, of which each is a part.
	grows bool
	// text is what they say, by their number; nil for just that.
	text func(n int) string

	// status answers every call, where it is not 0.
	status atomic.Int32
	calls  atomic.Int64

	mu       sync.Mutex
	messages map[string]int // how often each was sent, by messageId
	tasks    *shelf
}

// shelf is where an agent, or several instances of one, keep when tasks began.
type shelf struct{ sync.Map }

func (f *shelf) begun(id string) (time.Time, bool) {
	begun, ok := f.Load(id)
	if !ok {
		return time.Time{}, false
	}
	return begun.(time.Time), true
}

// newSample starts one that ends with the test.
func newSample(t *testing.T, name string) *sample {
	t.Helper()
	s := &sample{name: name, events: 5, every: 20 * time.Millisecond, messages: map[string]int{}, tasks: &shelf{}}
	s.listen(t, gatewaytest.FreeAddress()) // where it can listen again
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// address is where it listens.
func (s *sample) address() string { return s.server.Listener.Addr().String() }

// stop ends the server, and breaks what is open. The tasks go on.
func (s *sample) stop() {
	_ = s.server.Listener.Close()
	s.server.CloseClientConnections()
	s.server.Close()
}

// start has the sample listen again where it did.
func (s *sample) start(t *testing.T) {
	t.Helper()
	s.listen(t, s.address())
}

func (s *sample) listen(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: s}} // of a test
	s.server.Start()
}

// asked is what the sample reads of a call.
type asked struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ID      string
		Message struct {
			MessageID string
			TaskID    string
			Parts     []struct{ Text string }
		}
		Configuration struct {
			TaskPushNotificationConfig *webhook
		}
	}
}

// ServeHTTP implements http.Handler. The card names the address it was asked at, which
// is a proxy's where one stands before the agent.
func (s *sample) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		if status := int(s.status.Load()); status != 0 {
			w.WriteHeader(status)
			return
		}
		_, _ = fmt.Fprintf(w, `{"name":%q,"description":"d","version":"1",`+
			`"supportedInterfaces":[{"url":"http://%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`+
			`"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
			`"skills":[{"id":"work","name":"Work","description":"w","tags":["t"]}]}`, s.name, r.Host)
		return
	}
	s.calls.Add(1)
	var call asked
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if status := int(s.status.Load()); status != 0 {
		w.WriteHeader(status)
		return
	}
	switch call.Method {
	case "SendMessage":
		s.sent(w, &call)
	case "SendStreamingMessage":
		s.stream(w, r, &call, s.begin(&call))
	case "SubscribeToTask":
		s.stream(w, r, &call, call.Params.ID)
	case "GetTask":
		if task := s.task(call.Params.ID); task != "" {
			result(w, &call, task)
			return
		}
		absent(w, &call)
	default:
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, call.ID)
	}
}

// sent answers a message with itself, or with a task where it asks for one.
func (s *sample) sent(w http.ResponseWriter, call *asked) {
	m := call.Params.Message
	if m.TaskID == "" && len(m.Parts) > 0 && m.Parts[0].Text == "task" {
		result(w, call, `{"task":`+s.task(s.begin(call))+`}`)
		return
	}
	s.count(m.MessageID)
	if _, known := s.tasks.begun(m.TaskID); m.TaskID != "" && !known {
		absent(w, call)
		return
	}
	result(w, call, fmt.Sprintf(`{"message":{"messageId":"re-%s","role":"ROLE_AGENT","parts":[{"text":"%s got %s"}]}}`,
		m.MessageID, s.name, m.MessageID))
}

// begin makes a task.
func (s *sample) begin(call *asked) string {
	id := s.name + "-" + call.Params.Message.MessageID
	s.tasks.Store(id, time.Now())
	time.AfterFunc(s.life()+time.Minute, func() { s.tasks.Delete(id) })
	if hook := call.Params.Configuration.TaskPushNotificationConfig; hook != nil {
		time.AfterFunc(s.life(), func() { s.notify(hook, id) })
	}
	s.count(call.Params.Message.MessageID)
	return id
}

// life is how long a task lasts.
func (s *sample) life() time.Duration { return time.Duration(s.events) * s.every }

// count remembers a message; in long runs not for ever.
func (s *sample) count(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.messages) > 1e6 {
		clear(s.messages)
	}
	s.messages[message]++
}

// done is how many artifacts the task has by now; -1 of a task that is not the agent's.
func (s *sample) done(id string) int {
	begun, ok := s.tasks.begun(id)
	if !ok {
		return -1
	}
	return min(s.events, int(time.Since(begun)/s.every))
}

// task is the task as it is, or "".
func (s *sample) task(id string) string { return s.taskAt(id, s.done(id)) }

// taskAt is the task when it has had so many artifacts.
func (s *sample) taskAt(id string, n int) string {
	if n < 0 {
		return ""
	}
	state := "WORKING"
	if n == s.events {
		state = "COMPLETED"
	}
	list := make([]string, n)
	for i := range list {
		if list[i] = fmt.Sprintf(`{"text":%q}`, s.says(i)); !s.grows {
			list[i] = fmt.Sprintf(`{"artifactId":"a%d","parts":[%s]}`, i, list[i])
		}
	}
	artifacts := strings.Join(list, ",")
	if s.grows && n > 0 {
		artifacts = `{"artifactId":"a","parts":[` + artifacts + `]}`
	}
	return fmt.Sprintf(`{"id":%q,"contextId":"of-%s","status":{"state":"TASK_STATE_%s"},"artifacts":[%s]}`, id, id, state, artifacts)
}

// update is the event of the nth artifact.
func (s *sample) update(id string, n int) string {
	artifact, more := fmt.Sprintf("a%d", n), false
	if s.grows {
		artifact, more = "a", n > 0
	}
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":"of-%s","append":%v,"artifact":{"artifactId":%q,"parts":[{"text":%q}]}}}`,
		id, id, more, artifact, s.says(n))
}

func (s *sample) says(n int) string {
	if s.text == nil {
		return strconv.Itoa(n)
	}
	return s.text(n)
}

// stream tells the task as it is, and what becomes of it.
func (s *sample) stream(w http.ResponseWriter, r *http.Request, call *asked, id string) {
	n := s.done(id)
	task := s.taskAt(id, n)
	if task == "" || n == s.events && call.Method == "SubscribeToTask" {
		absent(w, call)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	tell := func(format string, args ...any) {
		_, _ = io.WriteString(w, "data: ")
		result(w, call, fmt.Sprintf(format, args...))
		_, _ = io.WriteString(w, "\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	tell(`{"task":%s}`, task)
	for tick := time.NewTicker(max(s.every/4, time.Millisecond)); ; {
		for ; n < s.done(id); n++ {
			tell("%s", s.update(id, n))
		}
		if n == s.events {
			tell(`{"statusUpdate":{"taskId":%q,"contextId":"of-%s","status":{"state":"TASK_STATE_COMPLETED"}}}`, id, id)
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			tick.Stop()
			return
		}
	}
}

func result(w io.Writer, call *asked, result string) {
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
}

func absent(w io.Writer, call *asked) {
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Task not found"}}`, call.ID)
}

// came is how often a message has come.
func (s *sample) came(message string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages[message]
}

// doubled lists the messages that came more than once.
func (s *sample) doubled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(func(yield func(string) bool) {
		for id := range maps.Keys(s.messages) {
			if s.messages[id] > 1 && !yield(id) {
				return
			}
		}
	})
}
