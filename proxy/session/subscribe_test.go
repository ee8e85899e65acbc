package session_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// at is a timestamp as a member of a status.
func at(second int) string { return fmt.Sprintf(`,"timestamp":"2026-01-01T00:00:%02dZ"`, second) }

// taskAt is a task whose status came about at a time.
func taskAt(s wire.Side, id, context, state string, second int) string {
	task := proxytest.TaskIn(s, id, context, state, "")
	return strings.Replace(task, `"state":"`+proxytest.StateIn(s, state)+`"`, `"state":"`+proxytest.StateIn(s, state)+`"`+at(second), 1)
}

// outline is what a 1.0 caller was streamed, in words.
func outline(s proxytest.Reply) string {
	var all []string
	for _, doc := range s.Docs {
		var event struct {
			Task, StatusUpdate *struct {
				Status struct{ State, Timestamp string }
			}
			ArtifactUpdate *struct{}
			Message        *struct{}
		}
		if err := json.Unmarshal([]byte(doc), &event, json.MatchCaseInsensitiveNames(true)); err != nil {
			return err.Error()
		}
		switch {
		case event.Task != nil:
			all = append(all, "task "+event.Task.Status.State)
		case event.StatusUpdate != nil:
			all = append(all, "status "+event.StatusUpdate.Status.State)
		case event.ArtifactUpdate != nil:
			all = append(all, "artifact")
		default:
			all = append(all, doc)
		}
	}
	return strings.ReplaceAll(strings.Join(all, ", "), "TASK_STATE_", "")
}

// watched is an agent with one task, "t" in "c": what it says when it is asked for
// it, and what it streams.
func watched(get func(wire.Side) string, stream func(http.ResponseWriter, *proxytest.Request)) func(http.ResponseWriter, *proxytest.Request) {
	return func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.Called().Name == wire.GetTask {
			r.Say(rw, get(r.Side()))
			return
		}
		stream(rw, r)
	}
}

// older are the sides whose resubscribe does not begin with the task.
var older = []wire.Side{proxytest.RPC03, proxytest.REST03, proxytest.GRPC03, proxytest.RPC01}

// tell has an agent stream these events.
func tell(events func(wire.Side) []string) func(http.ResponseWriter, *proxytest.Request) {
	return func(rw http.ResponseWriter, r *proxytest.Request) { r.Say(rw, events(r.Side())...) }
}

// subscribed asks for the events of alice's task as each 1.0 caller, from an agent
// of each older side.
func subscribed(t *testing.T, answers func(http.ResponseWriter, *proxytest.Request), check func(string, *proxytest.Gateway, proxytest.Reply)) {
	t.Helper()
	for _, agent := range older {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
		w.Given("alice", w.Base, w.Agent, "t", "c", "")
		w.Agent.Answers(answers)
		for _, caller := range proxytest.ListSides {
			more := ""
			if caller == proxytest.GRPC10 {
				more = `,"tenant":"rec"`
			}
			check(fmt.Sprintf("%s to %s", caller, agent), w,
				w.Speak("alice", w.Base, caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t", More: more}))
		}
	}
}

// TestSubscribe: the task as it is comes first, and of what follows only what the
// task did not show.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		task   func(wire.Side) string
		events func(wire.Side) []string
		want   string
	}{
		"in time": {
			func(s wire.Side) string { return taskAt(s, "t", "c", "working", 2) },
			func(s wire.Side) []string {
				return []string{
					proxytest.StatusIn(s, "t", "c", "submitted", at(1)), proxytest.StatusIn(s, "t", "c", "working", at(2)), proxytest.ArtifactIn(s, "t", "c"),
					proxytest.StatusIn(s, "t", "c", "input-required", at(3)), proxytest.StatusIn(s, "t", "c", "completed", at(4)),
				}
			}, "task WORKING, artifact, status INPUT_REQUIRED, status COMPLETED",
		},
		"without times": {
			func(s wire.Side) string { return proxytest.TaskIn(s, "t", "c", "working", "") },
			func(s wire.Side) []string {
				return []string{proxytest.StatusIn(s, "t", "c", "working", ""), proxytest.StatusIn(s, "t", "c", "completed", "")}
			}, "task WORKING, status COMPLETED",
		},
		"until it waits": {
			func(s wire.Side) string { return taskAt(s, "t", "c", "working", 2) },
			func(s wire.Side) []string { return []string{proxytest.StatusIn(s, "t", "c", "input-required", at(3))} },
			"task WORKING, status INPUT_REQUIRED",
		},
	} {
		subscribed(t, watched(tt.task, tell(tt.events)), func(what string, w *proxytest.Gateway, got proxytest.Reply) {
			got.OK(t, name+", "+what)
			if outline(got) != tt.want {
				t.Errorf("%s, %s: %s\n%s", name, what, outline(got), got.Docs)
			}
			if seen := w.Agent.Take(); len(seen) != 2 {
				t.Errorf("%s, %s: the agent saw %d calls", name, what, len(seen))
			}
		})
	}
}

// TestSubscribeRefused: where there is nothing to subscribe to, or the agent does
// not say what, nothing is streamed, and the agent's stream is let go of.
func TestSubscribeRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		get  func(http.ResponseWriter, *proxytest.Request)
		want *wire.Kind
	}{
		"ended": {func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, proxytest.TaskIn(r.Side(), "t", "c", "completed", ""))
		}, wire.Unsupported},
		"canceled": {func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, proxytest.TaskIn(r.Side(), "t", "c", "canceled", ""))
		}, wire.Unsupported},
		"forgotten": {func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.TaskNotFound, "gone") }, wire.TaskNotFound},
		"no get":    {func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Unsupported, "no") }, wire.Unsupported},
		"another": {func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, proxytest.TaskIn(r.Side(), "x", "c", "working", ""))
		}, wire.BadAgentResponse},
		"no answer":  {func(http.ResponseWriter, *proxytest.Request) { panic(http.ErrAbortHandler) }, wire.BadAgentResponse},
		"not a task": {func(rw http.ResponseWriter, _ *proxytest.Request) { _, _ = io.WriteString(rw, "<html>") }, wire.BadAgentResponse},
	} {
		left := make(chan struct{}, 10)
		answers := func(rw http.ResponseWriter, r *proxytest.Request) {
			if r.Called().Name == wire.GetTask {
				tt.get(rw, r)
				return
			}
			select {
			case <-r.Context().Done():
			case <-time.After(proxytest.Patience):
				t.Errorf("%s: the stream was left open", name)
			}
			left <- struct{}{}
		}
		subscribed(t, answers, func(what string, w *proxytest.Gateway, got proxytest.Reply) {
			got.Refused(t, name+", "+what, tt.want)
			if len(got.Docs) != 0 {
				t.Errorf("%s, %s: streamed %s", name, what, got.Docs)
			}
			for _, r := range w.Agent.Take() {
				if r.Called().Name != wire.GetTask {
					<-left
				}
			}
		})
	}
}

// TestSubscribeStreamRefused: the agent shows the task, and refuses the stream or
// answers without one.
func TestSubscribeStreamRefused(t *testing.T) {
	t.Parallel()
	working := func(s wire.Side) string { return proxytest.TaskIn(s, "t", "c", "working", "") }
	refuse := func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Unsupported, "no streams here") }
	subscribed(t, watched(working, refuse), func(what string, _ *proxytest.Gateway, got proxytest.Reply) {
		got.Refused(t, what, wire.Unsupported)
		if !strings.Contains(got.Err.Text(), "no streams here") {
			t.Errorf("%s: %v", what, got.Err)
		}
	})
	html := func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<html>")
	}
	subscribed(t, watched(working, html), func(what string, _ *proxytest.Gateway, got proxytest.Reply) {
		got.Refused(t, what, wire.BadAgentResponse)
	})
}

// TestSubscribeForward: a 0.3 caller in front of a 1.0 agent gets the agent's events
// as they come, the task among them, and the agent's refusal of an ended one.
func TestSubscribeForward(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		w.BecomeCard(proxytest.CardFor(agent))
		w.SpeakTask("tied", "t", "c")
		for _, caller := range []wire.Side{proxytest.RPC03, proxytest.REST03, proxytest.GRPC03} {
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				s := r.Side()
				r.Say(rw, `{"task":`+proxytest.TaskIn(s, "t", "c", "working", "")+`}`, proxytest.StatusIn(s, "t", "c", "completed", ""))
			})
			got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"}).OK(t, caller.String())
			if seen := w.Agent.One(t); seen.Side() != agent || seen.Called().Name != wire.SubscribeToTask {
				t.Errorf("%s to %s: the agent was called as %s %s", caller, agent, seen.Side(), seen.URL)
			}
			if len(got.Docs) != 2 || !strings.Contains(got.Docs[0], `"t"`) || !strings.Contains(strings.ToLower(got.Docs[1]), "completed") {
				t.Errorf("%s to %s: %s", caller, agent, got.Docs)
			}
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Unsupported, "ended") })
			w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"}).Refused(t, caller.String(), wire.Unsupported)
			w.Agent.Take()
		}
	}
}

// TestSubscribeVerbs: 1.0's text and proto disagree about the verb, and so do
// agents; what one refuses is asked for with the other, once.
func TestSubscribeVerbs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent, caller wire.Side
		first, other  string
	}{
		{proxytest.REST10, proxytest.RPC10, "POST", "GET"}, {proxytest.REST10, proxytest.RPC03, "POST", "GET"}, {proxytest.REST03, proxytest.RPC03, "GET", "POST"}, {proxytest.REST03, proxytest.RPC10, "GET", "POST"},
	} {
		for _, status := range []int{200, 404, 405, 501} {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(tt.agent))
			w.SpeakTask("alice", "t", "c")
			var verbs []string
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				if r.Called().Name == wire.GetTask {
					r.Say(rw, proxytest.TaskIn(r.Side(), "t", "c", "working", ""))
					return
				}
				if verbs = append(verbs, r.Method); len(verbs) == 1 && status != 200 {
					rw.WriteHeader(status)
					return
				}
				if r.Method == http.MethodGet && (len(r.Content) > 0 || r.Header.Get("Content-Type") != "") {
					t.Errorf("%s of %q as %q", r.Method, r.Content, r.Header.Get("Content-Type"))
				}
				r.Say(rw, proxytest.StatusIn(r.Side(), "t", "c", "completed", ""))
			})
			got := w.Speak("alice", w.Base, tt.caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"})
			want := []string{tt.first, tt.other}
			if status == 200 || status == 501 {
				want = want[:1]
			}
			if fmt.Sprint(verbs) != fmt.Sprint(want) || (got.Err == nil) != (status != 501) {
				t.Errorf("%s to %s, %d: verbs %v, want %v, %v", tt.caller, tt.agent, status, verbs, want, got.Err)
			}
		}
	}
}

// TestPushConfigForms: agents of 0.3 take one of two bodies; the other is sent where
// the first was refused as such, and not where the agent said something else.
func TestPushConfigForms(t *testing.T) {
	t.Parallel()
	forms := []string{
		`{"parent":"tasks/t","configId":"c1","config":{"name":"tasks/t/pushNotificationConfigs/c1","pushNotificationConfig":{"id":"c1","url":"https://hook.example/"}}}`,
		`{"name":"tasks/t/pushNotificationConfigs/c1","pushNotificationConfig":{"id":"c1","url":"https://hook.example/"}}`,
	}
	for _, status := range []int{200, 400, 422, 500, 403} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.REST03))
		w.SpeakTask("alice", "t", "c")
		var bodies []string
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			if bodies = append(bodies, string(r.Content)); len(bodies) == 1 && status != 200 {
				rw.WriteHeader(status)
				return
			}
			r.Say(rw, forms[1])
		})
		got := w.Do("alice", "POST", "", proxytest.RPCBody("CreateTaskPushNotificationConfig",
			`{"taskId":"t","id":"c1","url":"https://hook.example/"}`), "A2A-Version: 1.0")
		want := forms
		if status != 400 && status != 422 {
			want = want[:1]
		}
		if fmt.Sprint(bodies) != fmt.Sprint(want) || strings.Contains(got.Body, `"url"`) != (status != 500 && status != 403) {
			t.Errorf("%d: the agent got\n%s\nwant\n%s\n%s", status, strings.Join(bodies, "\n"), strings.Join(want, "\n"), got.Body)
		}
	}
}
