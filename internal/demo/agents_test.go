package demo_test

import (
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func TestWords(t *testing.T) {
	t.Parallel()
	answers := map[a2a.ProtocolVersion]map[string]string{
		"1.0": {
			"hello":        "message [text]",
			"What is this": "message [text]",
			"task hello":   "task TASK_STATE_COMPLETED",
			"Summarize!":   "task TASK_STATE_COMPLETED [text text text] [data]",
			"refund INV-7": "task TASK_STATE_INPUT_REQUIRED",
			"export":       "task TASK_STATE_COMPLETED [raw url]",
			"audit 2":      "task TASK_STATE_COMPLETED",
			"count 3":      "task TASK_STATE_COMPLETED [text text text]",
			"reject":       "task TASK_STATE_REJECTED",
			"fail":         "task TASK_STATE_FAILED",
		},
		"0.3": {
			"hello":         "message [text]",
			"forecast Oslo": "task TASK_STATE_COMPLETED [text text text]",
			"alerts Oslo":   "task TASK_STATE_COMPLETED [data]",
			"alerts":        "task TASK_STATE_INPUT_REQUIRED",
			"watch 2":       "task TASK_STATE_COMPLETED",
			"reject":        "task TASK_STATE_REJECTED",
			"fail":          "task TASK_STATE_FAILED",
		},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, start(t, way.start, demo.Options{}), way.version, way.binding)
			for text, want := range answers[way.version] {
				got, err := client.SendMessage(t.Context(), send(text))
				if err != nil {
					t.Errorf("%s: %v", text, err)
				} else if shape(got) != want {
					t.Errorf("%s: got %q, want %q", text, shape(got), want)
				}
			}
		})
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	want := map[a2a.ProtocolVersion][]string{
		"1.0": {
			"task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING",
			"artifact [text]", "artifact [text]", "artifact [text]",
			"status TASK_STATE_WORKING", "artifact [data]", "status TASK_STATE_COMPLETED",
		},
		"0.3": {
			"task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING",
			"artifact [text]", "artifact [text]", "artifact [text]", "status TASK_STATE_COMPLETED",
		},
	}
	text := map[a2a.ProtocolVersion]string{"1.0": "summarize", "0.3": "forecast"}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, start(t, way.start, demo.Options{}), way.version, way.binding)
			var got []string
			for event, err := range client.SendStreamingMessage(t.Context(), send(text[way.version])) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, shape(event))
			}
			if diff := cmp.Diff(want[way.version], got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	tests := map[a2a.ProtocolVersion][]struct{ ask, answer, want string }{
		"1.0": {
			{"refund INV-7", "yes", "task TASK_STATE_COMPLETED [text]"},
			{"refund INV-7", "no", "task TASK_STATE_REJECTED"},
			{"refund INV-7", "perhaps", "task TASK_STATE_INPUT_REQUIRED"},
		},
		"0.3": {{"alerts", "Oslo", "task TASK_STATE_COMPLETED [data]"}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, start(t, way.start, demo.Options{}), way.version, way.binding)
			for _, tt := range tests[way.version] {
				first, err := client.SendMessage(t.Context(), send(tt.ask))
				if err != nil {
					t.Fatal(err)
				}
				second, err := resume(t, client, send(tt.answer, func(m *a2a.Message) {
					m.TaskID = first.TaskInfo().TaskID
				}))
				if err != nil {
					t.Fatal(err)
				}
				if shape(second) != tt.want {
					t.Errorf("%s, %s: got %q, want %q", tt.ask, tt.answer, shape(second), tt.want)
				}
			}
		})
	}
}

// resume sends to a waiting task. The SDKs answer before they have put the
// execution away, and refuse the next message until they have.
func resume(t *testing.T, c *a2aclient.Client, r *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	t.Helper()
	for {
		got, err := c.SendMessage(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "already in progress") {
			return got, err
		}
		runtime.Gosched()
	}
}

// isRefusal reports whether err is the refusal that want names. The 1.0 SDK's
// clients for 0.3 lose the code: one reads error bodies of application/json
// only, the other wants error.data to be a list. There, any error will do.
func isRefusal(v a2a.ProtocolVersion, err, want error) bool {
	if v == "0.3" {
		return err != nil
	}
	return errors.Is(err, want)
}

// A task that waits for a sign-in goes on by itself, on the same stream.
func TestLogin(t *testing.T) {
	t.Parallel()
	client := dial(t, start(t, demo.Agent10, demo.Options{}), "1.0", a2a.TransportProtocolJSONRPC)
	var got []string
	for event, err := range client.SendStreamingMessage(t.Context(), send("login")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, shape(event))
	}
	want := []string{
		"task TASK_STATE_SUBMITTED", "status TASK_STATE_AUTH_REQUIRED", "status TASK_STATE_COMPLETED",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A caller who does not stream is told at once that a sign-in is wanted.
func TestLoginReturns(t *testing.T) {
	t.Parallel()
	agent := start(t, demo.Agent10, demo.Options{Step: time.Minute})
	client := dial(t, agent, "1.0", a2a.TransportProtocolHTTPJSON)
	got, err := client.SendMessage(t.Context(), send("login"))
	if err != nil {
		t.Fatal(err)
	}
	if shape(got) != "task TASK_STATE_AUTH_REQUIRED" {
		t.Errorf("got %q", shape(got))
	}
}

// A long-running task is cancelled by another call while it streams, and the
// stream ends with that.
func TestCancel(t *testing.T) {
	t.Parallel()
	text := map[a2a.ProtocolVersion]string{"1.0": "audit", "0.3": "watch"}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, start(t, way.start, demo.Options{}), way.version, way.binding)
			var last string
			cancelled := false
			for event, err := range client.SendStreamingMessage(t.Context(), send(text[way.version])) {
				if err != nil {
					t.Fatal(err)
				}
				last = shape(event)
				if last == "status TASK_STATE_WORKING" && !cancelled {
					cancelled = true
					task, err := client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: event.TaskInfo().TaskID})
					if err != nil {
						t.Fatal(err)
					}
					if got := shape(task); got != "task TASK_STATE_CANCELED" {
						t.Errorf("cancel gave %q", got)
					}
				}
			}
			if !strings.HasSuffix(last, "TASK_STATE_CANCELED") {
				t.Errorf("stream ended with %q", last)
			}
		})
	}
}

func TestEchoKeepsParts(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, start(t, way.start, demo.Options{}), way.version, way.binding)
			raw := a2a.NewRawPart([]byte{0, 1, 2})
			raw.MediaType = "application/octet-stream"
			request := send("echo", func(m *a2a.Message) {
				m.Parts = append(m.Parts, raw,
					a2a.NewFileURLPart("https://files.example/a", "text/plain"),
					a2a.NewDataPart(map[string]any{"n": 1.5}))
			})
			got, err := client.SendMessage(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			msg, ok := got.(*a2a.Message)
			if !ok {
				t.Fatalf("answer is %T", got)
			}
			if diff := cmp.Diff(request.Message.Parts, msg.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExtension(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			agent := start(t, way.start, demo.Options{RequireExtension: true})
			bare := dial(t, agent, way.version, way.binding)
			_, err := bare.SendMessage(t.Context(), send("hello"))
			if !isRefusal(way.version, err, a2a.ErrExtensionSupportRequired) {
				t.Errorf("without the extension: got %v", err)
			}

			activated := dial(t, agent, way.version, way.binding,
				a2aclient.WithCallInterceptors(a2aext.NewActivator(demo.CostCentre)))
			got, err := activated.SendMessage(t.Context(), send("hello", func(m *a2a.Message) {
				m.SetMeta(demo.CostCentre, "cc-42")
			}))
			if err != nil {
				t.Fatal(err)
			}
			msg, ok := got.(*a2a.Message)
			if !ok || msg.Metadata[demo.CostCentre] != "cc-42" {
				t.Errorf("answer does not carry the cost centre: %#v", got)
			}
		})
	}
}

func TestExtensionIsEchoed(t *testing.T) {
	t.Parallel()
	agent := start(t, demo.Agent10, demo.Options{})
	tests := []struct {
		name string
		send http.Header
		want http.Header
	}{
		{"not asked", http.Header{}, http.Header{}},
		{"other", http.Header{"A2a-Extensions": {"urn:x"}}, http.Header{}},
		{
			"listed",
			http.Header{"A2a-Extensions": {"urn:x, " + demo.CostCentre}},
			http.Header{"A2a-Extensions": {demo.CostCentre}},
		},
		{
			"old name",
			http.Header{"X-A2a-Extensions": {demo.CostCentre}},
			http.Header{"X-A2a-Extensions": {demo.CostCentre}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := post(t, agent.URL+"/", tt.send, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`)
			for _, name := range []string{"A2A-Extensions", "X-A2A-Extensions"} {
				if diff := cmp.Diff(tt.want.Values(name), got.Header.Values(name)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// post sends a JSON body and gives the answer, its body already closed.
func post(t *testing.T, url string, header http.Header, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	answer, err := (&http.Transport{}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer
}

func TestBearerToken(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			agent := start(t, way.start, demo.Options{BearerToken: "s3cret"})
			url := agent.URL + "/"
			if way.binding == a2a.TransportProtocolHTTPJSON {
				url = agent.RESTURL + "/tasks/x"
			}
			for _, tt := range []struct {
				header http.Header
				want   bool
			}{
				{http.Header{}, false},
				{http.Header{"Authorization": {"Bearer wrong"}}, false},
				{http.Header{"Authorization": {"Bearer s3cret"}}, true},
			} {
				got := post(t, url, tt.header, `{}`).StatusCode
				if accepted := got != http.StatusUnauthorized; accepted != tt.want {
					t.Errorf("%v: status %d", tt.header, got)
				}
			}
			dial(t, agent, way.version, way.binding) // reads the card without a token
		})
	}
}

func TestOperationsOnTasks(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			client := dial(t, start(t, way.start, demo.Options{}), way.version, way.binding)
			first, err := client.SendMessage(t.Context(), send("fail"))
			if err != nil {
				t.Fatal(err)
			}
			id := first.TaskInfo().TaskID
			if task, err := client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); err != nil || task.ID != id {
				t.Errorf("get: %v %v", task, err)
			}
			_, err = client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "none"})
			if !isRefusal(way.version, err, a2a.ErrTaskNotFound) {
				t.Errorf("get unknown: %v", err)
			}
			_, err = client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id})
			if !isRefusal(way.version, err, a2a.ErrTaskNotCancelable) {
				t.Errorf("cancel ended task: %v", err)
			}
			card, err := client.GetExtendedAgentCard(t.Context(), &a2a.GetExtendedAgentCardRequest{})
			if err != nil || len(card.Skills) != 3 {
				t.Errorf("extended card: %v %v", card, err)
			}
			config, err := client.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{
				TaskID: id, ID: "c1", URL: "http://127.0.0.1:9/hook",
			})
			if err != nil || config.URL != "http://127.0.0.1:9/hook" {
				t.Errorf("create push config: %v %v", config, err)
			}
			configs, err := client.ListTaskPushConfigs(t.Context(), &a2a.ListTaskPushConfigRequest{TaskID: id})
			if err != nil || len(configs) != 1 {
				t.Errorf("list push configs: %v %v", configs, err)
			}
			if way.version == "1.0" {
				list, err := client.ListTasks(t.Context(), &a2a.ListTasksRequest{})
				if err != nil || len(list.Tasks) != 1 {
					t.Errorf("list tasks: %v %v", list, err)
				}
			}
		})
	}
}

// The billing agent speaks gRPC instead where that is asked for.
func TestGRPC(t *testing.T) {
	t.Parallel()
	agent := start(t, demo.Agent10, demo.Options{GRPC: true})
	client := dial(t, agent, "1.0", a2a.TransportProtocolGRPC)
	t.Cleanup(func() { _ = client.Destroy() })
	got, err := client.SendMessage(t.Context(), send("summarize"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "task TASK_STATE_COMPLETED [text text text] [data]"; shape(got) != want {
		t.Errorf("got %q, want %q", shape(got), want)
	}
	if got := post(t, agent.URL+"/", http.Header{}, `{}`).StatusCode; got != http.StatusNotFound {
		t.Errorf("JSON-RPC has status %d", got)
	}
}

// Closing an agent ends a task that would run for minutes, and its stream.
func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			agent, err := way.start(demo.Options{Step: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			client := dial(t, agent, way.version, way.binding)
			text := map[a2a.ProtocolVersion]string{"1.0": "summarize", "0.3": "forecast"}[way.version]
			closed := false
			for event, err := range client.SendStreamingMessage(t.Context(), send(text)) {
				if err != nil {
					break
				}
				if !closed && shape(event) == "status TASK_STATE_WORKING" {
					closed = true
					if err := agent.Close(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
			if !closed {
				t.Error("the task never worked")
			}
			if err := agent.Close(t.Context()); err != nil {
				t.Errorf("second close: %v", err)
			}
		})
	}
}
