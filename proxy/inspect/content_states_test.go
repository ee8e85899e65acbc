package inspect_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// paying is an entry of profile with states.
func paying(mode ext.Mode) ext.Entry {
	return ext.Entry{
		URI: proxytest.ExtensionURI, Kind: ext.States, Metadata: []string{"pay.*"}, Validation: mode,
		States: &ext.StatesConfig{
			Key: "pay.status", Initial: []string{"asked"},
			Transitions: map[string][]string{"asked": {"sent", "refused"}, "sent": {"seen"}, "seen": {"done"}},
			Within:      map[string][]string{"done": {"TASK_STATE_COMPLETED"}},
		},
	}
}

// pay is metadata with a state.
func pay(state string) string { return proxytest.Meta("pay.status", `"`+state+`"`) }

// shownIn makes a status update of a task in a state, which the status message says.
func shownIn(s proxytest.Words, id, task, state string) string {
	return s.Status(id, task, s.Message("agent", s.Text("hi", ""), pay(state)))
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
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) {
			if mode == "shadow" {
				proxytest.WithExtensions(paying(""))(s)
				s.Agent.Extensions.Mode = "shadow"
			} else {
				proxytest.WithExtensions(paying(mode))(s)
			}
		})
		calls, bad := 0, 0
		for i, agent := range proxytest.Sides {
			w.BecomeCard(proxytest.CardFor(agent))
			for j, tt := range statesCases {
				for _, caller := range proxytest.CallersOf(i, j) {
					tt.run(t, w, fmt.Sprintf("%s, %s to %s: %s", mode, caller, agent, tt.name), caller, mode == ext.Enforce)
					calls += 1 + len(tt.looks)
					if tt.bad != "" {
						bad++
					}
				}
			}
		}
		found := violations(w, calls)
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

func (c statesCase) run(t *testing.T, w *proxytest.Gateway, what string, caller wire.Side, enforced bool) {
	t.Helper()
	w.AnswerIn(func(s proxytest.Words, id string) []string {
		list := []string{s.Status(id, "working", "")}
		for _, event := range c.events {
			pays, task := c.split(event)
			list = append(list, shownIn(s, id, task, pays))
		}
		return list
	})
	heard := w.Utter(caller, wire.SendStreamingMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...)
	c.check(t, what, caller, heard, len(c.looks) == 0 && enforced)
	id := task(heard, t)
	for n, look := range c.looks {
		pays, task := c.split(look)
		w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, task, "", pay(pays))} })
		got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetTask, Task: id, Header: asking(proxytest.ExtensionURI)})
		c.check(t, fmt.Sprint(what, ", look ", n), caller, got, n == len(c.looks)-1 && enforced)
	}
}

func (c statesCase) check(t *testing.T, what string, caller wire.Side, got proxytest.Reply, last bool) {
	t.Helper()
	if !last || c.bad == "" {
		if got.Err != nil {
			t.Errorf("%s: %v", what, got.Err)
		}
		return
	}
	got.Told(t, what, proxytest.BadAnswer(caller), c.bad, "("+proxytest.ExtensionURI+")")
	if got.Err != nil && strings.Contains(got.Err.Text(), "secret") {
		t.Errorf("%s: the value is repeated: %s", what, got.Err.Text())
	}
}

var taskID = regexp.MustCompile(`"(?:taskId|id)":"([^"]+)"`)

// task is the task that the first document is about.
func task(s proxytest.Reply, t *testing.T) string {
	t.Helper()
	if len(s.Docs) > 0 {
		if found := taskID.FindStringSubmatch(s.Docs[0]); found != nil {
			return found[1]
		}
	}
	t.Fatalf("no task: %v %s", s.Err, s.Body)
	return ""
}

// TestStatesOverUnaryCalls: the answer to a send shows where a task has come to, and
// the next goes on from there, whoever asks.
func TestStatesOverUnaryCalls(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.REST10), proxytest.WithExtensions(paying("")))
	send := func(caller wire.Side, task, state string) proxytest.Reply {
		w.AnswerIn(func(s proxytest.Words, id string) []string {
			return []string{s.Task(id, "input-required", "", pay(state))}
		})
		return w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Task: task, Header: asking(proxytest.ExtensionURI)})
	}
	id := task(send(proxytest.RPC10, "", "sent").OK(t, "a task that has gone through asked"), t)
	send(proxytest.GRPC10, id, "seen").OK(t, "the next")
	send(proxytest.REST03, id, "sent").Told(t, "back", wire.BadAgentResponse, `state "sent" may not come after "seen"`)
	send(proxytest.RPC03, id, "done").Told(t, "with another task state", wire.BadAgentResponse, "may not go with")
	w.AnswerIn(func(_ proxytest.Words, id string) []string {
		return []string{`{"message":{"messageId":"a","role":"ROLE_AGENT","taskId":"` + id + `","parts":[{"text":"x"}]` + pay("asked") + `}}`}
	})
	// A message without a task's status says nothing of where the task is.
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Task: id, Header: asking(proxytest.ExtensionURI)}).OK(t, "message")
	// Without the extension nobody is followed, and nothing is shown.
	w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "working", "", pay("asked"))} })
	if got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: task(send(proxytest.RPC10, "", "asked"), t)}); got.Err != nil {
		t.Error(got.Err)
	}
}

// TestStatesInLists: a list shows what was so some time ago, and never what cannot be.
func TestStatesInLists(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(paying("")))
	var ids []string
	for range 2 {
		w.AnswerIn(func(s proxytest.Words, id string) []string {
			return []string{s.Task(id, "input-required", "", pay("sent"))}
		})
		ids = append(ids, task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(proxytest.ExtensionURI)...), t))
	}
	for state, bad := range map[string]string{"seen": "", "refused": `state "refused" may not come after "seen"`, "secret": "not one of the states"} {
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			s := proxytest.Words{Side: r.Side()}
			r.Say(rw, `{"tasks":[`+proxytest.BareTask(s.Task(ids[0], "working", "", pay("sent")))+`,`+
				proxytest.BareTask(s.Task(ids[1], "working", "", pay("seen")))+`,`+proxytest.BareTask(s.Task(ids[1], "working", "", pay(state)))+`],"pageSize":50,"totalSize":3}`)
		})
		got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.ListTasks, Header: asking(proxytest.ExtensionURI)})
		if bad == "" {
			got.OK(t, state)
		} else {
			got.Told(t, state, wire.BadAgentResponse, bad, "/tasks/2/")
		}
	}
}

// TestStatesOfTwoStreams: two streams on one task each show all of its steps, however
// far the other is; what fits to neither order is withheld.
func TestStatesOfTwoStreams(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03} {
		for last, bad := range map[string]string{"sent": "", "refused": `state "refused" may not come after "seen"`} {
			t.Run(agent.String()+" "+last, func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithExtensions(paying("")))
				w.AnswerIn(func(s proxytest.Words, id string) []string {
					return []string{s.Task(id, "input-required", "", pay("asked"))}
				})
				id := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(proxytest.ExtensionURI)...), t)

				opened, over := make(chan struct{}), make(chan struct{})
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					s := proxytest.Words{Side: r.Side()}
					events := []string{shownIn(s, id, "working", "asked"), shownIn(s, id, "working", "sent"), shownIn(s, id, "working", "seen")}
					switch r.Called().Name {
					case wire.GetTask: // in front of a subscription
						<-over
						r.Say(rw, proxytest.BareTask(s.Task(id, "working", "", pay("seen"))))
					case wire.SendStreamingMessage:
						<-opened
						r.Say(rw, events...)
					default:
						close(opened)
						<-over
						r.Say(rw, s.Task(id, "input-required", "", pay("asked")), events[0], shownIn(s, id, "working", last))
					}
				})
				go func() {
					defer close(over)
					w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendStreamingMessage, Task: id, Header: asking(proxytest.ExtensionURI)}).OK(t, "the first")
				}()
				second := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SubscribeToTask, Task: id, Header: asking(proxytest.ExtensionURI)})
				if len(second.Docs) < 2 {
					t.Errorf("the second: %v %s", second.Docs, second.Body)
				}
				if bad == "" {
					second.OK(t, "the second")
				} else {
					second.Told(t, "the second", wire.BadAgentResponse, bad)
				}
			})
		}
	}
}

// TestStatesOvertaken: an answer that shows what was so when it was asked for is in
// order, though another has been quicker.
func TestStatesOvertaken(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.REST10), proxytest.WithExtensions(paying("")))
	w.AnswerIn(func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "input-required", "", pay("asked"))}
	})
	id := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(proxytest.ExtensionURI)...), t)
	look := func() proxytest.Reply {
		return w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: id, Header: asking(proxytest.ExtensionURI)})
	}

	asked, overtaken := make(chan struct{}), make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		close(asked)
		<-overtaken
		r.Say(rw, proxytest.BareTask(proxytest.Words{Side: r.Side()}.Task(id, "working", "", pay("asked"))))
	})
	slow := make(chan proxytest.Reply)
	go func() { slow <- look() }()
	<-asked
	w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "working", "", pay("seen"))} })
	look().OK(t, "the quick one")
	close(overtaken)
	if got := <-slow; got.Err != nil {
		t.Errorf("the slow one: %v", got.Err)
	}
	w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "working", "", pay("asked"))} })
	look().Told(t, "one that was asked later", wire.BadAgentResponse, `state "asked" may not come after "seen"`)
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
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(paying(mode)), func(s *proxytest.Setup) { s.Steps = brokenSteps{} })
		w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "working", "", "")} })
		id := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", "")).OK(t, "a task"), t)
		w.Agent.Take()
		w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "working", "", pay("asked"))} })
		for _, task := range []string{"", id} {
			got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Task: task, Header: asking(proxytest.ExtensionURI)})
			if (got.Err == nil) != shown || got.Err != nil && strings.Contains(got.Body, "away") {
				t.Errorf("%q: %v %s", mode, got.Err, got.Body)
			}
		}
		// A call on a task that cannot be followed does not reach the agent.
		if seen := len(w.Agent.Take()); seen == 2 != shown {
			t.Errorf("%q: the agent saw %d calls", mode, seen)
		}
	}
}
