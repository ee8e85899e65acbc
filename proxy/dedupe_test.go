package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/go-json-experiment/json"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// remembering has messages remembered for a day.
func remembering(s *setup) { s.agent.Dedupe.Window = secret.Duration(24 * time.Hour) }

// sends counts the calls that the agent got.
func (a *recorder) sends() int {
	n := 0
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.seen {
		if r.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// told is what the tests read of an answer.
type told struct {
	ID     jsonRaw `json:"id"`
	Result struct {
		ID   string `json:"id"`
		Task struct {
			ID string `json:"id"`
		} `json:"task"`
	} `json:"result"`
	Task struct {
		ID string `json:"id"`
	} `json:"task"`
	Error struct {
		Code    int       `json:"code"`
		Message string    `json:"message"`
		Data    []jsonRaw `json:"data"`
	} `json:"error"`
}

func (t told) task() string { return t.Result.ID + t.Result.Task.ID + t.Task.ID }

func (a answer) told(t testing.TB) told {
	t.Helper()
	var got told
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%d %q: %v", a.status, a.body, err)
	}
	return got
}

// slow answers when it may, and says when it was asked.
func slow(asked chan<- struct{}, may <-chan struct{}) func(http.ResponseWriter, *record) {
	return func(w http.ResponseWriter, r *record) {
		asked <- struct{}{}
		<-may
		agreeable(w, r)
	}
}

// TestA22_SameMessageAtOnce: a hundred times the same message is once for the agent, and
// the same task for everybody.
func TestA22_SameMessageAtOnce(t *testing.T) {
	t.Parallel()
	const times = 100
	send := map[string]func(w *world, n int) (id, task string){
		"JSON-RPC 1.0": func(w *world, n int) (string, string) {
			got := w.do("alice", "POST", "", strings.Replace(rpcBody("SendMessage", message("")), `"id":7`, fmt.Sprintf(`"id":%d`, n), 1), "A2A-Version: 1.0").told(w)
			return string(got.ID), got.task()
		},
		"JSON-RPC 0.3": func(w *world, n int) (string, string) {
			body := rpcBody("message/send", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}`)
			got := w.do("alice", "POST", "", strings.Replace(body, `"id":7`, fmt.Sprintf(`"id":%d`, n), 1)).told(w)
			return string(got.ID), got.task()
		},
		"HTTP+JSON": func(w *world, n int) (string, string) {
			return fmt.Sprint(n), w.do("alice", "POST", "/message:send", message(""), "A2A-Version: 1.0").told(w).task()
		},
	}
	for name, send := range send {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, remembering)
			asked, may := make(chan struct{}, times), make(chan struct{})
			w.agent.answers(slow(asked, may))
			var all sync.WaitGroup
			var mu sync.Mutex
			tasks := map[string]int{}
			for n := range times {
				all.Go(func() {
					id, task := send(w, n+1000)
					mu.Lock()
					defer mu.Unlock()
					if tasks[task]++; id != fmt.Sprint(n+1000) {
						t.Errorf("call %d was answered with id %s", n+1000, id)
					}
				})
			}
			<-asked
			close(may)
			all.Wait()
			if w.agent.sends() != 1 || len(tasks) != 1 || tasks[""] != 0 {
				t.Errorf("the agent was asked %d times; tasks %v", w.agent.sends(), tasks)
			}
			repeated := 0
			for _, r := range w.audited("call") {
				if r["deduplicated"] == true {
					repeated++
				}
			}
			if intents := len(w.audited("intent")); repeated != times-1 || intents != times {
				t.Errorf("%d of %d intents are recorded as repeated", repeated, intents)
			}
		})
	}
}

// TestA22_GRPC: an answer is the same with its status in the trailers, and so is an error.
func TestA22_GRPC(t *testing.T) {
	t.Parallel()
	w := build(t, remembering)
	client := a2apb.NewA2AServiceClient(w.grpcClient())
	first, err := client.SendMessage(w.as("alice"), hi())
	must(t, err)
	again, err := client.SendMessage(w.as("alice"), hi())
	must(t, err)
	if first.GetTask().GetId() == "" || again.GetTask().GetId() != first.GetTask().GetId() || w.agent.sends() != 1 {
		t.Errorf("%v, then %v, of %d calls", first, again, w.agent.sends())
	}
	other := hi()
	other.Message.Parts[0].Content = &a2apb.Part_Text{Text: "ho"}
	if _, err := client.SendMessage(w.as("alice"), other); status.Code(err) != codes.AlreadyExists {
		t.Errorf("another content: %v", err)
	}
}

// TestA22_Again has messages come again when all is done.
func TestA22_Again(t *testing.T) {
	t.Parallel()
	w := build(t, remembering)
	first := w.call("alice", "SendMessage", message(""))
	wantStatus(t, "first", first, 200)
	task := first.told(t).task()

	again := w.call("alice", "SendMessage", message(""))
	if again.status != 200 || again.body != first.body || again.header.Get("Content-Type") != first.header.Get("Content-Type") ||
		again.header.Get("X-Request-Id") == first.header.Get("X-Request-Id") {
		t.Errorf("again: %+v, first %+v", again, first)
	}
	for name, got := range map[string]answer{
		"another content": w.call("alice", "SendMessage", message(`,"metadata":{"a":1}`)),
		"another method":  w.call("alice", "SendStreamingMessage", message("")),
		"another skill":   w.do("alice", "POST", "/skills/read", rpcBody("SendMessage", message("")), "A2A-Version: 1.0"),
	} {
		if !strings.Contains(got.body, "DUPLICATE_MESSAGE") || !strings.Contains(got.body, `"messageId":"m"`) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	// The same in another binding is the same message, whose answer has another form.
	rest := w.do("alice", "POST", "/message:send", message(""), "A2A-Version: 1.0")
	if rest.status != 409 || !strings.Contains(rest.body, `"taskId":"`+task+`"`) {
		t.Errorf("another binding: %+v", rest)
	}
	if n := w.agent.sends(); n != 1 {
		t.Errorf("the agent was asked %d times", n)
	}
	if bob := w.call("bob", "SendMessage", message("")).told(t).task(); bob == task || bob == "" {
		t.Errorf("bob's message is not alice's, his task is %q", bob)
	}
	if got := w.call("mallory", "SendMessage", message("")); strings.Contains(got.body, "DUPLICATE") || got.status != 404 {
		t.Errorf("mallory: %+v", got)
	}
}

// TestA22_Streams: of a stream, only that it was there is remembered, and its task.
func TestA22_Streams(t *testing.T) {
	t.Parallel()
	w := build(t, remembering)
	asked, may := make(chan struct{}, 1), make(chan struct{})
	w.agent.answers(slow(asked, may))
	done := make(chan answer)
	go func() { done <- w.call("alice", "SendStreamingMessage", message("")) }()
	<-asked
	got := w.call("alice", "SendStreamingMessage", message(""))
	if got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("in progress: %+v", got)
	}
	close(may)
	if first := <-done; !strings.Contains(first.body, `"result"`) {
		t.Errorf("first: %+v", first)
	}
	eventually(t, "end of the first call", func() bool {
		got = w.call("alice", "SendStreamingMessage", message(""))
		return got.status == 200
	})
	if !strings.Contains(got.body, "DUPLICATE_MESSAGE") || !strings.Contains(got.body, `"taskId":"task-`) || w.agent.sends() != 1 {
		t.Errorf("after it: %+v, and %d calls", got, w.agent.sends())
	}
}

// TestA22_LongAnswers are not kept.
func TestA22_LongAnswers(t *testing.T) {
	t.Parallel()
	w := build(t, remembering, func(s *setup) { s.agent.Dedupe.Answers = 10 })
	task := w.call("alice", "SendMessage", message("")).told(t).task()
	got := w.call("alice", "SendMessage", message(""))
	if e := got.told(t).Error; e.Code != -32602 || !strings.Contains(e.Message, "get task "+task) {
		t.Errorf("again: %s", got.body)
	}
}

// TestA22_WindowOver sends a message again that is forgotten; and so it is without a window.
func TestA22_WindowOver(t *testing.T) {
	t.Parallel()
	for _, window := range []time.Duration{0, 200 * time.Millisecond} {
		w := build(t, func(s *setup) { s.agent.Dedupe.Window = secret.Duration(window) })
		first := w.call("alice", "SendMessage", message("")).told(t).task()
		eventually(t, "second call", func() bool {
			got := w.call("alice", "SendMessage", message(""))
			wantStatus(t, "again", got, 200)
			return got.told(t).task() != first
		})
		if n := w.agent.sends(); n != 2 {
			t.Errorf("window %v: %d calls", window, n)
		}
	}
}
