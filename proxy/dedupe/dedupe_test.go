package dedupe_test

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

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// sends counts the calls that the agent got.
func sends(a *proxytest.Agent) int {
	n := 0
	a.Mu.Lock()
	defer a.Mu.Unlock()
	for _, r := range a.Seen {
		if r.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// told is what the tests read of an answer.
type told struct {
	ID     proxytest.RawJSON `json:"id"`
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
		Code    int                 `json:"code"`
		Message string              `json:"message"`
		Data    []proxytest.RawJSON `json:"data"`
	} `json:"error"`
}

func (t told) task() string { return t.Result.ID + t.Result.Task.ID + t.Task.ID }

func readTold(a proxytest.Response, t testing.TB) told {
	t.Helper()
	var got told
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		t.Fatalf("%d %q: %v", a.Status, a.Body, err)
	}
	return got
}

// slow answers when it may, and says when it was asked.
func slow(asked chan<- struct{}, may <-chan struct{}) func(http.ResponseWriter, *proxytest.Request) {
	return func(w http.ResponseWriter, r *proxytest.Request) {
		asked <- struct{}{}
		<-may
		proxytest.Agreeable(w, r)
	}
}

// TestA22_SameMessageAtOnce: a hundred times the same message is once for the agent, and
// the same task for everybody.
func TestA22_SameMessageAtOnce(t *testing.T) {
	t.Parallel()
	const times = 100
	send := map[string]func(w *proxytest.Gateway, n int) (id, task string){
		"JSON-RPC 1.0": func(w *proxytest.Gateway, n int) (string, string) {
			got := readTold(w.Do("alice", "POST", "", strings.Replace(proxytest.RPCBody("SendMessage", proxytest.Message("")), `"id":7`, fmt.Sprintf(`"id":%d`, n), 1), "A2A-Version: 1.0"), w)
			return string(got.ID), got.task()
		},
		"JSON-RPC 0.3": func(w *proxytest.Gateway, n int) (string, string) {
			body := proxytest.RPCBody("message/send", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}`)
			got := readTold(w.Do("alice", "POST", "", strings.Replace(body, `"id":7`, fmt.Sprintf(`"id":%d`, n), 1)), w)
			return string(got.ID), got.task()
		},
		"HTTP+JSON": func(w *proxytest.Gateway, n int) (string, string) {
			return fmt.Sprint(n), readTold(w.Do("alice", "POST", "/message:send", proxytest.Message(""), "A2A-Version: 1.0"), w).task()
		},
	}
	for name, send := range send {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, proxytest.WithMemory)
			asked, may := make(chan struct{}, times), make(chan struct{})
			w.Agent.Answers(slow(asked, may))
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
			if sends(w.Agent) != 1 || len(tasks) != 1 || tasks[""] != 0 {
				t.Errorf("the agent was asked %d times; tasks %v", sends(w.Agent), tasks)
			}
			repeated := 0
			for _, r := range w.Audited("call") {
				if r["deduplicated"] == true {
					repeated++
				}
			}
			if intents := len(w.Audited("intent")); repeated != times-1 || intents != times {
				t.Errorf("%d of %d intents are recorded as repeated", repeated, intents)
			}
		})
	}
}

// TestA22_GRPC: an answer is the same with its status in the trailers, and so is an error.
func TestA22_GRPC(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory)
	client := a2apb.NewA2AServiceClient(w.GRPCClient())
	first, err := client.SendMessage(w.As("alice"), proxytest.Hello())
	proxytest.Must(t, err)
	again, err := client.SendMessage(w.As("alice"), proxytest.Hello())
	proxytest.Must(t, err)
	if first.GetTask().GetId() == "" || again.GetTask().GetId() != first.GetTask().GetId() || sends(w.Agent) != 1 {
		t.Errorf("%v, then %v, of %d calls", first, again, sends(w.Agent))
	}
	other := proxytest.Hello()
	other.Message.Parts[0].Content = &a2apb.Part_Text{Text: "ho"}
	if _, err := client.SendMessage(w.As("alice"), other); status.Code(err) != codes.AlreadyExists {
		t.Errorf("another content: %v", err)
	}
}

// TestA22_Again has messages come again when all is done.
func TestA22_Again(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory)
	first := w.Call("alice", "SendMessage", proxytest.Message(""))
	proxytest.WantStatus(t, "first", first, 200)
	task := readTold(first, t).task()

	again := w.Call("alice", "SendMessage", proxytest.Message(""))
	if again.Status != 200 || again.Body != first.Body || again.Header.Get("Content-Type") != first.Header.Get("Content-Type") ||
		again.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") {
		t.Errorf("again: %+v, first %+v", again, first)
	}
	for name, got := range map[string]proxytest.Response{
		"another content": w.Call("alice", "SendMessage", proxytest.Message(`,"metadata":{"a":1}`)),
		"another method":  w.Call("alice", "SendStreamingMessage", proxytest.Message("")),
		"another skill":   w.Do("alice", "POST", "/skills/read", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"),
	} {
		if !strings.Contains(got.Body, "DUPLICATE_MESSAGE") || !strings.Contains(got.Body, `"messageId":"m"`) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	// The same in another binding is the same message, whose answer has another form.
	rest := w.Do("alice", "POST", "/message:send", proxytest.Message(""), "A2A-Version: 1.0")
	if rest.Status != 409 || !strings.Contains(rest.Body, `"taskId":"`+task+`"`) {
		t.Errorf("another binding: %+v", rest)
	}
	if n := sends(w.Agent); n != 1 {
		t.Errorf("the agent was asked %d times", n)
	}
	if bob := readTold(w.Call("bob", "SendMessage", proxytest.Message("")), t).task(); bob == task || bob == "" {
		t.Errorf("bob's message is not alice's, his task is %q", bob)
	}
	if got := w.Call("mallory", "SendMessage", proxytest.Message("")); strings.Contains(got.Body, "DUPLICATE") || got.Status != 404 {
		t.Errorf("mallory: %+v", got)
	}
}

// TestA22_Streams: of a stream, only that it was there is remembered, and its task.
func TestA22_Streams(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory)
	asked, may := make(chan struct{}, 1), make(chan struct{})
	w.Agent.Answers(slow(asked, may))
	done := make(chan proxytest.Response)
	go func() { done <- w.Call("alice", "SendStreamingMessage", proxytest.Message("")) }()
	<-asked
	got := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
	if got.Status != 503 || got.Header.Get("Retry-After") == "" {
		t.Errorf("in progress: %+v", got)
	}
	close(may)
	if first := <-done; !strings.Contains(first.Body, `"result"`) {
		t.Errorf("first: %+v", first)
	}
	proxytest.Eventually(t, "end of the first call", func() bool {
		got = w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
		return got.Status == 200
	})
	if !strings.Contains(got.Body, "DUPLICATE_MESSAGE") || !strings.Contains(got.Body, `"taskId":"task-`) || sends(w.Agent) != 1 {
		t.Errorf("after it: %+v, and %d calls", got, sends(w.Agent))
	}
}

// TestA22_LongAnswers are not kept.
func TestA22_LongAnswers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory, func(s *proxytest.Setup) { s.Agent.Dedupe.Answers = 10 })
	task := readTold(w.Call("alice", "SendMessage", proxytest.Message("")), t).task()
	got := w.Call("alice", "SendMessage", proxytest.Message(""))
	if e := readTold(got, t).Error; e.Code != -32602 || !strings.Contains(e.Message, "get task "+task) {
		t.Errorf("again: %s", got.Body)
	}
}

// TestA22_WindowOver sends a message again that is forgotten; and so it is without a window.
func TestA22_WindowOver(t *testing.T) {
	t.Parallel()
	for _, window := range []time.Duration{0, 200 * time.Millisecond} {
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Dedupe.Window = quantity.Duration(window) })
		first := readTold(w.Call("alice", "SendMessage", proxytest.Message("")), t).task()
		proxytest.Eventually(t, "second call", func() bool {
			got := w.Call("alice", "SendMessage", proxytest.Message(""))
			proxytest.WantStatus(t, "again", got, 200)
			return readTold(got, t).task() != first
		})
		if n := sends(w.Agent); n != 2 {
			t.Errorf("window %v: %d calls", window, n)
		}
	}
}
