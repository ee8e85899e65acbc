package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// endpoint is one interface of a running SDK agent.
type endpoint struct {
	binding wire.Binding
	version wire.Version
	url     string
}

// sdkEndpoints starts the sample agents: the Go SDKs of both versions.
func sdkEndpoints(t *testing.T) []endpoint {
	t.Helper()
	o := demo.Options{Step: time.Microsecond}
	new10, err10 := demo.Agent10(o)
	new03, err03 := demo.Agent03(o)
	if err := errors.Join(err10, err03); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(new10.Close(context.Background()), new03.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return []endpoint{
		{wire.JSONRPC, wire.V10, new10.URL},
		{wire.HTTPJSON, wire.V10, new10.RESTURL},
		{wire.JSONRPC, wire.V03, new03.URL},
		{wire.HTTPJSON, wire.V03, new03.RESTURL},
	}
}

// request makes the call that a plain client of the endpoint would make, with text
// as the message of a send and task as the id of everything else.
func (e endpoint) request(t *testing.T, m *wire.Method, text, task string) *http.Request {
	t.Helper()
	part, role, parts := fmt.Sprintf(`{"text":%q}`, text), "ROLE_USER", "parts"
	if e.version == wire.V03 && e.binding == wire.JSONRPC {
		part, role = fmt.Sprintf(`{"kind":"text","text":%q}`, text), "user"
	} else if e.version == wire.V03 {
		parts = "content"
	}
	params := fmt.Sprintf(`{"message":{"messageId":"m","role":%q,%q:[%s]}}`, role, parts, part)
	if m.Subject == wire.OfTask {
		params = fmt.Sprintf(`{"id":%q}`, task)
	}
	verb, target, body := http.MethodPost, e.url, params
	if e.binding == wire.JSONRPC {
		name := m.Name
		if e.version == wire.V03 {
			name = m.V03
		}
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":"id/1","method":%q,"params":%s}`, name, params)
	} else {
		path := strings.ReplaceAll(m.Path, "{task}", task)
		if e.version == wire.V03 {
			path = "/v1" + path
		}
		verb, target = m.Verbs[0], e.url+path
	}
	r, err := http.NewRequestWithContext(context.Background(), verb, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", string(e.version))
	return r
}

// call makes the call and reads every answer: one, or the events of a stream.
func (e endpoint) call(t *testing.T, name, text, task string) []wire.Answer {
	t.Helper()
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	resp, err := http.DefaultClient.Do(e.request(t, m, text, task))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	read := func(body []byte) wire.Answer {
		a, err := wire.ReadAnswer(e.binding, e.version, m, body, wire.Limits{})
		if err != nil {
			t.Fatalf("%s %s: %v in %s", e.binding, name, err, body)
		}
		if e.binding == wire.JSONRPC && !a.Answers([]byte(`"id\/1"`)) {
			t.Errorf("%s: answer to another call: %s", name, body)
		}
		return a
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return []wire.Answer{read(body)}
	}
	var answers []wire.Answer
	for events := sse.NewReader(resp.Body, 1<<20); ; {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return answers
		}
		if err != nil {
			t.Fatal(err)
		}
		if event.HasData {
			answers = append(answers, read(event.Data))
		}
	}
}

// TestReadAnswerOfSDKs: what agents built on the Go SDKs answer is read alike in
// both versions and bindings.
func TestReadAnswerOfSDKs(t *testing.T) {
	t.Parallel()
	for _, e := range sdkEndpoints(t) {
		t.Run(e.binding.String()+" "+string(e.version), func(t *testing.T) {
			t.Parallel()
			word := map[wire.Version]string{wire.V10: "summarize", wire.V03: "forecast"}[e.version]

			events := e.call(t, wire.SendStreamingMessage, word, "")
			last := checkStream(t, events)
			task := last.Tasks[0].ID

			got := e.call(t, wire.GetTask, "", task)[0]
			want := wire.Answer{
				Kind: "task", State: "TASK_STATE_COMPLETED", Final: true,
				ContextID: last.ContextID, Tasks: []wire.TaskRef{{ID: task, ContextID: last.ContextID}},
			}
			got.ID, got.IDAt, got.Extensions = nil, 0, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("get (-want +got):\n%s", diff)
			}
			if a := e.call(t, wire.SendMessage, "hello", "")[0]; a.Kind != "message" || !a.Final {
				t.Errorf("send: %+v", a)
			}
			if a := e.call(t, wire.GetTask, "", "nope")[0]; a.Error == 0 || a.Kind != "" {
				t.Errorf("get of an unknown task: %+v", a)
			}
			if a := e.call(t, wire.CancelTask, "", task)[0]; a.Error == 0 || a.Kind != "" {
				t.Errorf("cancel of a finished task: %+v", a)
			}
		})
	}
}

// checkStream requires one task throughout, artifacts on the way, and that the
// last event and no other is final. It returns the last event.
func checkStream(t *testing.T, events []wire.Answer) wire.Answer {
	t.Helper()
	if len(events) < 3 {
		t.Fatalf("only %d events", len(events))
	}
	var kinds []string
	for i, a := range events {
		kinds = append(kinds, a.Kind)
		if !slices.Equal(a.Tasks, events[0].Tasks) || len(a.Tasks) != 1 || a.Tasks[0].ID == "" {
			t.Errorf("event %d is of tasks %v, the first of %v", i, a.Tasks, events[0].Tasks)
		}
		if last := i == len(events)-1; a.Final != last {
			t.Errorf("event %d of %d: final %v in state %s", i, len(events), a.Final, a.State)
		}
	}
	if !slices.Contains(kinds, "artifactUpdate") || !slices.Contains(kinds, "statusUpdate") {
		t.Errorf("events are %v", kinds)
	}
	return events[len(events)-1]
}
