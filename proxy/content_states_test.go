package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// paying is an entry of profile with states.
func paying(mode ext.Mode) ext.Entry {
	return ext.Entry{
		URI: profile, Kind: ext.States, Metadata: []string{"pay.*"}, Validation: mode,
		States: &ext.StatesConfig{
			Key: "pay.status", Initial: []string{"asked"},
			Transitions: map[string][]string{"asked": {"sent", "refused"}, "sent": {"seen"}, "seen": {"done"}},
			Within:      map[string][]string{"done": {"TASK_STATE_COMPLETED"}},
		},
	}
}

// pay is metadata with a state.
func pay(state string) string { return meta("pay.status", `"`+state+`"`) }

// shownIn makes a status update of a task in a state, which the status message says.
func shownIn(s words, id, task, state string) string {
	return s.status(id, task, s.message("agent", s.text("hi", ""), pay(state)))
}

// statesCase is a task from a stream to a look at it.
type statesCase struct {
	name   string
	events []string // "pay" or "pay in task state" of each event
	looks  []string // the same of each later answer
	bad    string   // what is wrong with the last of all, "" for nothing
}

var statesCases = []statesCase{
	{"every step", []string{"asked", "asked", "sent", "seen", "done in completed"}, nil, ""},
	{"begins late", []string{"sent"}, nil, `a task may not begin with state "sent"`},
	{"leaves one out", []string{"asked", "seen"}, nil, `state "seen" may not follow "asked"`},
	{"leaves one out, and goes on", []string{"asked", "seen", "done in completed"}, nil, `state "seen" may not follow "asked"`},
	{"goes back", []string{"asked", "sent", "asked"}, nil, `state "asked" may not follow "sent"`},
	{"unknown", []string{"asked", "secret"}, nil, "not one of the states asked, done, refused, seen, sent"},
	{"no state", []string{"asked", ""}, nil, "the value is no state"},
	{"too early", []string{"asked", "sent", "seen", "done in working"}, nil, `state "done" may not go with task state TASK_STATE_WORKING`},
	{"looked at", []string{"asked"}, []string{"asked", "seen", "seen", "done in completed"}, ""},
	{"looked at when it has gone back", []string{"asked"}, []string{"seen", "sent"}, `state "sent" may not come after "seen"`},
	{"looked at when it has gone elsewhere", []string{"asked", "refused"}, []string{"sent"}, `state "sent" may not come after "refused"`},
	{"looked at when unknown", []string{"asked"}, []string{"secret"}, "not one of the states"},
	{"looked at too early", []string{"asked"}, []string{"done in working"}, "may not go with task state TASK_STATE_WORKING"},
	{"first looked at", nil, []string{"asked", "seen"}, ""},
	{"first looked at late", nil, []string{"done in completed"}, ""},
}

// split takes "pay in task state" apart.
func (statesCase) split(text string) (pay, task string) {
	pay, task, ok := strings.Cut(text, " in ")
	if !ok {
		task = "working"
	}
	return pay, task
}

// TestStates follows tasks through streams and looks, in the words of every side, when
// what is wrong is withheld and when it is only recorded.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, mode := range []ext.Mode{ext.Enforce, ext.Report, "shadow"} {
		w := in(t, speaks(rpc10), func(s *setup) {
			if mode == "shadow" {
				knows(paying(""))(s)
				s.agent.Extensions.Mode = "shadow"
			} else {
				knows(paying(mode))(s)
			}
		})
		calls, bad := 0, 0
		for i, agent := range sides {
			w.becomes(speaks(agent))
			for j, tt := range statesCases {
				for _, caller := range callersOf(i, j) {
					tt.run(t, w, fmt.Sprintf("%s, %s to %s: %s", mode, caller, agent, tt.name), caller, mode == ext.Enforce)
					calls += 1 + len(tt.looks)
					if tt.bad != "" {
						bad++
					}
				}
			}
		}
		found := w.violations(calls)
		for _, v := range found {
			if !strings.HasPrefix(v, "transition ") || !strings.HasSuffix(v, fmt.Sprint(mode == ext.Enforce)) {
				t.Errorf("%s: %s", mode, v)
			}
		}
		if len(found) != bad {
			t.Errorf("%s: %d violations, want %d", mode, len(found), bad)
		}
	}
}

func (c statesCase) run(t *testing.T, w *world, what string, caller wire.Side, enforced bool) {
	t.Helper()
	w.tells(func(s words, id string) []string {
		list := []string{s.status(id, "working", "")}
		for _, event := range c.events {
			pays, task := c.split(event)
			list = append(list, shownIn(s, id, task, pays))
		}
		return list
	})
	heard := w.utter(caller, wire.SendStreamingMessage, words{caller}.send("", "", ""), asking(profile)...)
	c.check(t, what, caller, heard, len(c.looks) == 0 && enforced)
	id := heard.task(t)
	for n, look := range c.looks {
		pays, task := c.split(look)
		w.tells(func(s words, id string) []string { return []string{s.task(id, task, "", pay(pays))} })
		got := w.speak("tied", w.base, caller, ask{method: wire.GetTask, task: id, header: asking(profile)})
		c.check(t, fmt.Sprint(what, ", look ", n), caller, got, n == len(c.looks)-1 && enforced)
	}
}

func (c statesCase) check(t *testing.T, what string, caller wire.Side, got said, last bool) {
	t.Helper()
	if !last || c.bad == "" {
		if got.err != nil {
			t.Errorf("%s: %v", what, got.err)
		}
		return
	}
	got.told(t, what, badAnswer(caller), c.bad, "("+profile+")")
	if got.err != nil && strings.Contains(got.err.Text(), "secret") {
		t.Errorf("%s: the value is repeated: %s", what, got.err.Text())
	}
}

var taskID = regexp.MustCompile(`"(?:taskId|id)":"([^"]+)"`)

// task is the task that the first document is about.
func (s said) task(t *testing.T) string {
	t.Helper()
	if len(s.docs) > 0 {
		if found := taskID.FindStringSubmatch(s.docs[0]); found != nil {
			return found[1]
		}
	}
	t.Fatalf("no task: %v %s", s.err, s.body)
	return ""
}

// TestStatesOverUnaryCalls: the answer to a send shows where a task has come to, and
// the next goes on from there, whoever asks.
func TestStatesOverUnaryCalls(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rest10), knows(paying("")))
	send := func(caller wire.Side, task, state string) said {
		w.tells(func(s words, id string) []string { return []string{s.task(id, "input-required", "", pay(state))} })
		return w.speak("tied", w.base, caller, ask{method: wire.SendMessage, task: task, header: asking(profile)})
	}
	id := send(rpc10, "", "sent").ok(t, "a task that has gone through asked").task(t)
	send(grpc10, id, "seen").ok(t, "the next")
	send(rest03, id, "sent").told(t, "back", wire.BadAgentResponse, `state "sent" may not come after "seen"`)
	send(rpc03, id, "done").told(t, "with another task state", wire.BadAgentResponse, "may not go with")
	w.tells(func(_ words, id string) []string {
		return []string{`{"message":{"messageId":"a","role":"ROLE_AGENT","taskId":"` + id + `","parts":[{"text":"x"}]` + pay("asked") + `}}`}
	})
	// A message without a task's status says nothing of where the task is.
	w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage, task: id, header: asking(profile)}).ok(t, "message")
	// Without the extension nobody is followed, and nothing is shown.
	w.tells(func(s words, id string) []string { return []string{s.task(id, "working", "", pay("asked"))} })
	if got := w.speak("tied", w.base, rpc10, ask{method: wire.GetTask, task: send(rpc10, "", "asked").task(t)}); got.err != nil {
		t.Error(got.err)
	}
}

// TestStatesInLists: a list shows what was so some time ago, and never what cannot be.
func TestStatesInLists(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), knows(paying("")))
	var ids []string
	for range 2 {
		w.tells(func(s words, id string) []string { return []string{s.task(id, "input-required", "", pay("sent"))} })
		ids = append(ids, w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", ""), asking(profile)...).task(t))
	}
	for state, bad := range map[string]string{"seen": "", "refused": `state "refused" may not come after "seen"`, "secret": "not one of the states"} {
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			s := words{r.side()}
			r.say(rw, `{"tasks":[`+bare(s.task(ids[0], "working", "", pay("sent")))+`,`+
				bare(s.task(ids[1], "working", "", pay("seen")))+`,`+bare(s.task(ids[1], "working", "", pay(state)))+`],"pageSize":50,"totalSize":3}`)
		})
		got := w.speak("tied", w.base, rpc10, ask{method: wire.ListTasks, header: asking(profile)})
		if bad == "" {
			got.ok(t, state)
		} else {
			got.told(t, state, wire.BadAgentResponse, bad, "/tasks/2/")
		}
	}
}

// TestStatesOfTwoStreams: two streams on one task each show all of its steps, however
// far the other is; what fits to neither order is withheld.
func TestStatesOfTwoStreams(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, grpc10, rpc03, rest03} {
		for last, bad := range map[string]string{"sent": "", "refused": `state "refused" may not come after "seen"`} {
			t.Run(agent.String()+" "+last, func(t *testing.T) {
				t.Parallel()
				w := in(t, speaks(agent), knows(paying("")))
				w.tells(func(s words, id string) []string { return []string{s.task(id, "input-required", "", pay("asked"))} })
				id := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", ""), asking(profile)...).task(t)

				opened, over := make(chan struct{}), make(chan struct{})
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					s := words{r.side()}
					events := []string{shownIn(s, id, "working", "asked"), shownIn(s, id, "working", "sent"), shownIn(s, id, "working", "seen")}
					switch r.method().Name {
					case wire.GetTask: // in front of a subscription
						<-over
						r.say(rw, bare(s.task(id, "working", "", pay("seen"))))
					case wire.SendStreamingMessage:
						<-opened
						r.say(rw, events...)
					default:
						close(opened)
						<-over
						r.say(rw, s.task(id, "input-required", "", pay("asked")), events[0], shownIn(s, id, "working", last))
					}
				})
				go func() {
					defer close(over)
					w.speak("tied", w.base, rpc10, ask{method: wire.SendStreamingMessage, task: id, header: asking(profile)}).ok(t, "the first")
				}()
				second := w.speak("tied", w.base, rpc10, ask{method: wire.SubscribeToTask, task: id, header: asking(profile)})
				if len(second.docs) < 2 {
					t.Errorf("the second: %v %s", second.docs, second.body)
				}
				if bad == "" {
					second.ok(t, "the second")
				} else {
					second.told(t, "the second", wire.BadAgentResponse, bad)
				}
			})
		}
	}
}

// TestStatesOvertaken: an answer that shows what was so when it was asked for is in
// order, though another has been quicker.
func TestStatesOvertaken(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rest10), knows(paying("")))
	w.tells(func(s words, id string) []string { return []string{s.task(id, "input-required", "", pay("asked"))} })
	id := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", ""), asking(profile)...).task(t)
	look := func() said {
		return w.speak("tied", w.base, rpc10, ask{method: wire.GetTask, task: id, header: asking(profile)})
	}

	asked, overtaken := make(chan struct{}), make(chan struct{})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		close(asked)
		<-overtaken
		r.say(rw, bare(words{r.side()}.task(id, "working", "", pay("asked"))))
	})
	slow := make(chan said)
	go func() { slow <- look() }()
	<-asked
	w.tells(func(s words, id string) []string { return []string{s.task(id, "working", "", pay("seen"))} })
	look().ok(t, "the quick one")
	close(overtaken)
	if got := <-slow; got.err != nil {
		t.Errorf("the slow one: %v", got.err)
	}
	w.tells(func(s words, id string) []string { return []string{s.task(id, "working", "", pay("asked"))} })
	look().told(t, "one that was asked later", wire.BadAgentResponse, `state "asked" may not come after "seen"`)
}

// brokenSteps is a store that cannot be reached.
type brokenSteps struct{}

func (brokenSteps) Advance(context.Context, state.Step, string, string) (string, error) {
	return "", errors.New("the store is away")
}

// TestStatesWithoutStore: where nobody knows what a task may do, nothing is shown of
// it, unless what is wrong would only be recorded.
func TestStatesWithoutStore(t *testing.T) {
	t.Parallel()
	for mode, shown := range map[ext.Mode]bool{"": false, ext.Report: true, ext.Off: true} {
		w := in(t, speaks(rpc10), knows(paying(mode)), func(s *setup) { s.steps = brokenSteps{} })
		w.tells(func(s words, id string) []string { return []string{s.task(id, "working", "", "")} })
		id := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", "")).ok(t, "a task").task(t)
		w.agent.take()
		w.tells(func(s words, id string) []string { return []string{s.task(id, "working", "", pay("asked"))} })
		for _, task := range []string{"", id} {
			got := w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage, task: task, header: asking(profile)})
			if (got.err == nil) != shown || got.err != nil && strings.Contains(got.body, "away") {
				t.Errorf("%q: %v %s", mode, got.err, got.body)
			}
		}
		// A call on a task that cannot be followed does not reach the agent.
		if seen := len(w.agent.take()); seen == 2 != shown {
			t.Errorf("%q: the agent saw %d calls", mode, seen)
		}
	}
}
