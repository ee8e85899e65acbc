package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// at is a timestamp as a member of a status.
func at(second int) string { return fmt.Sprintf(`,"timestamp":"2026-01-01T00:00:%02dZ"`, second) }

// artifactIn is an artifact event in the words of a side.
func artifactIn(s wire.Side, id, context string) string {
	switch s {
	case rpc01:
		return fmt.Sprintf(`{"id":%q,"artifact":{"index":0,"parts":[{"type":"text","text":"x"}]}}`, id)
	case rpc03:
		return fmt.Sprintf(`{"kind":"artifact-update","taskId":%q,"contextId":%q,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}}`, id, context)
	}
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":%q,"artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`, id, context)
}

// taskAt is a task whose status came about at a time.
func taskAt(s wire.Side, id, context, state string, second int) string {
	task := taskIn(s, id, context, state, "")
	return strings.Replace(task, `"state":"`+stateIn(s, state)+`"`, `"state":"`+stateIn(s, state)+`"`+at(second), 1)
}

// outline is what a 1.0 caller was streamed, in words.
func (s said) outline() string {
	var all []string
	for _, doc := range s.docs {
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
func watched(get func(wire.Side) string, stream func(http.ResponseWriter, *record)) func(http.ResponseWriter, *record) {
	return func(rw http.ResponseWriter, r *record) {
		if r.method().Name == wire.GetTask {
			r.say(rw, get(r.side()))
			return
		}
		stream(rw, r)
	}
}

// older are the sides whose resubscribe does not begin with the task.
var older = []wire.Side{rpc03, rest03, grpc03, rpc01}

// tell has an agent stream these events.
func tell(events func(wire.Side) []string) func(http.ResponseWriter, *record) {
	return func(rw http.ResponseWriter, r *record) { r.say(rw, events(r.side())...) }
}

// subscribed asks for the events of alice's task as each 1.0 caller, from an agent
// of each older side.
func subscribed(t *testing.T, answers func(http.ResponseWriter, *record), check func(string, *world, said)) {
	t.Helper()
	for _, agent := range older {
		w := in(t, speaks(agent))
		w.given("alice", w.base, w.agent, "t", "c", "")
		w.agent.answers(answers)
		for _, caller := range listers {
			more := ""
			if caller == grpc10 {
				more = `,"tenant":"rec"`
			}
			check(fmt.Sprintf("%s to %s", caller, agent), w,
				w.speak("alice", w.base, caller, ask{method: wire.SubscribeToTask, task: "t", more: more}))
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
					statusIn(s, "t", "c", "submitted", at(1)), statusIn(s, "t", "c", "working", at(2)), artifactIn(s, "t", "c"),
					statusIn(s, "t", "c", "input-required", at(3)), statusIn(s, "t", "c", "completed", at(4)),
				}
			}, "task WORKING, artifact, status INPUT_REQUIRED, status COMPLETED",
		},
		"without times": {
			func(s wire.Side) string { return taskIn(s, "t", "c", "working", "") },
			func(s wire.Side) []string {
				return []string{statusIn(s, "t", "c", "working", ""), statusIn(s, "t", "c", "completed", "")}
			}, "task WORKING, status COMPLETED",
		},
		"until it waits": {
			func(s wire.Side) string { return taskAt(s, "t", "c", "working", 2) },
			func(s wire.Side) []string { return []string{statusIn(s, "t", "c", "input-required", at(3))} },
			"task WORKING, status INPUT_REQUIRED",
		},
	} {
		subscribed(t, watched(tt.task, tell(tt.events)), func(what string, w *world, got said) {
			got.ok(t, name+", "+what)
			if got.outline() != tt.want {
				t.Errorf("%s, %s: %s\n%s", name, what, got.outline(), got.docs)
			}
			if seen := w.agent.take(); len(seen) != 2 {
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
		get  func(http.ResponseWriter, *record)
		want *wire.Kind
	}{
		"ended":      {func(rw http.ResponseWriter, r *record) { r.say(rw, taskIn(r.side(), "t", "c", "completed", "")) }, wire.Unsupported},
		"canceled":   {func(rw http.ResponseWriter, r *record) { r.say(rw, taskIn(r.side(), "t", "c", "canceled", "")) }, wire.Unsupported},
		"forgotten":  {func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.TaskNotFound, "gone") }, wire.TaskNotFound},
		"no get":     {func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.Unsupported, "no") }, wire.Unsupported},
		"another":    {func(rw http.ResponseWriter, r *record) { r.say(rw, taskIn(r.side(), "x", "c", "working", "")) }, wire.BadAgentResponse},
		"no answer":  {func(http.ResponseWriter, *record) { panic(http.ErrAbortHandler) }, wire.BadAgentResponse},
		"not a task": {func(rw http.ResponseWriter, _ *record) { _, _ = io.WriteString(rw, "<html>") }, wire.BadAgentResponse},
	} {
		left := make(chan struct{}, 10)
		answers := func(rw http.ResponseWriter, r *record) {
			if r.method().Name == wire.GetTask {
				tt.get(rw, r)
				return
			}
			select {
			case <-r.Context().Done():
			case <-time.After(patience):
				t.Errorf("%s: the stream was left open", name)
			}
			left <- struct{}{}
		}
		subscribed(t, answers, func(what string, w *world, got said) {
			got.refused(t, name+", "+what, tt.want)
			if len(got.docs) != 0 {
				t.Errorf("%s, %s: streamed %s", name, what, got.docs)
			}
			for _, r := range w.agent.take() {
				if r.method().Name != wire.GetTask {
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
	working := func(s wire.Side) string { return taskIn(s, "t", "c", "working", "") }
	refuse := func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.Unsupported, "no streams here") }
	subscribed(t, watched(working, refuse), func(what string, _ *world, got said) {
		got.refused(t, what, wire.Unsupported)
		if !strings.Contains(got.err.Text(), "no streams here") {
			t.Errorf("%s: %v", what, got.err)
		}
	})
	html := func(rw http.ResponseWriter, _ *record) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<html>")
	}
	subscribed(t, watched(working, html), func(what string, _ *world, got said) {
		got.refused(t, what, wire.BadAgentResponse)
	})
}

// TestSubscribeForward: a 0.3 caller in front of a 1.0 agent gets the agent's events
// as they come, the task among them, and the agent's refusal of an ended one.
func TestSubscribeForward(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied)
	for _, agent := range []wire.Side{rpc10, rest10, grpc10} {
		w.becomes(speaks(agent))
		w.speakTask("tied", "t", "c")
		for _, caller := range []wire.Side{rpc03, rest03, grpc03} {
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				s := r.side()
				r.say(rw, `{"task":`+taskIn(s, "t", "c", "working", "")+`}`, statusIn(s, "t", "c", "completed", ""))
			})
			got := w.speak("tied", w.base, caller, ask{method: wire.SubscribeToTask, task: "t"}).ok(t, caller.String())
			if seen := w.agent.one(t); seen.side() != agent || seen.method().Name != wire.SubscribeToTask {
				t.Errorf("%s to %s: the agent was called as %s %s", caller, agent, seen.side(), seen.URL)
			}
			if len(got.docs) != 2 || !strings.Contains(got.docs[0], `"t"`) || !strings.Contains(strings.ToLower(got.docs[1]), "completed") {
				t.Errorf("%s to %s: %s", caller, agent, got.docs)
			}
			w.agent.answers(func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.Unsupported, "ended") })
			w.speak("tied", w.base, caller, ask{method: wire.SubscribeToTask, task: "t"}).refused(t, caller.String(), wire.Unsupported)
			w.agent.take()
		}
	}
}

// speakTask has the agent give a caller a task.
func (w *world) speakTask(who, task, context string) {
	w.Helper()
	w.given(who, w.base, w.agent, task, context, "")
}

// TestSubscribeVerbs: 1.0's text and proto disagree about the verb, and so do
// agents; what one refuses is asked for with the other, once.
func TestSubscribeVerbs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent, caller wire.Side
		first, other  string
	}{
		{rest10, rpc10, "POST", "GET"}, {rest10, rpc03, "POST", "GET"}, {rest03, rpc03, "GET", "POST"}, {rest03, rpc10, "GET", "POST"},
	} {
		for _, status := range []int{200, 404, 405, 501} {
			w := in(t, speaks(tt.agent))
			w.speakTask("alice", "t", "c")
			var verbs []string
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				if r.method().Name == wire.GetTask {
					r.say(rw, taskIn(r.side(), "t", "c", "working", ""))
					return
				}
				if verbs = append(verbs, r.Method); len(verbs) == 1 && status != 200 {
					rw.WriteHeader(status)
					return
				}
				if r.Method == http.MethodGet && (len(r.body) > 0 || r.Header.Get("Content-Type") != "") {
					t.Errorf("%s of %q as %q", r.Method, r.body, r.Header.Get("Content-Type"))
				}
				r.say(rw, statusIn(r.side(), "t", "c", "completed", ""))
			})
			got := w.speak("alice", w.base, tt.caller, ask{method: wire.SubscribeToTask, task: "t"})
			want := []string{tt.first, tt.other}
			if status == 200 || status == 501 {
				want = want[:1]
			}
			if fmt.Sprint(verbs) != fmt.Sprint(want) || (got.err == nil) != (status != 501) {
				t.Errorf("%s to %s, %d: verbs %v, want %v, %v", tt.caller, tt.agent, status, verbs, want, got.err)
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
		w := in(t, speaks(rest03))
		w.speakTask("alice", "t", "c")
		var bodies []string
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			if bodies = append(bodies, string(r.body)); len(bodies) == 1 && status != 200 {
				rw.WriteHeader(status)
				return
			}
			r.say(rw, forms[1])
		})
		got := w.do("alice", "POST", "", rpcBody("CreateTaskPushNotificationConfig",
			`{"taskId":"t","id":"c1","url":"https://hook.example/"}`), "A2A-Version: 1.0")
		want := forms
		if status != 400 && status != 422 {
			want = want[:1]
		}
		if fmt.Sprint(bodies) != fmt.Sprint(want) || strings.Contains(got.body, `"url"`) != (status != 500 && status != 403) {
			t.Errorf("%d: the agent got\n%s\nwant\n%s\n%s", status, strings.Join(bodies, "\n"), strings.Join(want, "\n"), got.body)
		}
	}
}
