package approve_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// asking has every message wait, for a person of the group leads.
func asking(change ...func(*proxytest.Setup)) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) {
		proxytest.WithTied(s)
		s.Policy.Rules = append(s.Policy.Rules, policy.Rule{Name: "ask", Effect: "approve", Approvers: &approval.Approvers{Groups: []string{"leads"}}})
		s.Approvals.Wait = quantity.Duration(time.Millisecond)
		for _, c := range change {
			c(s)
		}
	}
}

// only is the one call that waits.
func only(t testing.TB, w *proxytest.Gateway) *approvals.Status {
	t.Helper()
	var list []*approvals.Status
	proxytest.Eventually(t, "call that waits", func() bool {
		var err error
		list, err = w.Approvals.Waiting(t.Context())
		proxytest.Must(t, err)
		return len(list) == 1
	})
	return list[0]
}

// agree has carol agree to a call, and the gateway send it.
func agree(t testing.TB, w *proxytest.Gateway, st *approvals.Status) {
	t.Helper()
	proxytest.Must(t, w.Approvals.Vote(t.Context(), &st.Call, approvals.Vote{By: "carol", Groups: []string{"leads"}, At: time.Now(), Rules: []string{"ask"}}))
	send(t, w, st)
}

// send sends a call as if enough had agreed.
func send(t testing.TB, w *proxytest.Gateway, st *approvals.Status) {
	t.Helper()
	first, err := w.Approvals.Decide(t.Context(), &st.Call, approvals.Outcome{State: standing.Sending, Until: time.Now().Add(time.Minute)})
	if err != nil || !first {
		t.Fatal(first, err)
	}
	st, err = w.Approvals.Look(t.Context(), st.ID)
	proxytest.Must(t, err)
	w.Proxy.SendApproved(t.Context(), st)
}

// id is that of the task which a document of a side shows.
func id(doc string) string {
	_, rest, _ := strings.Cut(doc, `"id":"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// TestApproval has a message of every side wait in front of an agent of every side, and be sent.
func TestApproval(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		for _, caller := range proxytest.CallersOf(i, i) {
			t.Run(fmt.Sprint(caller, " for ", agent), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGateway(t, asking())
				w.BecomeCard(proxytest.CardFor(agent))
				w.Agent.Answers(proxytest.Fluent)
				got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message")
				w.Agent.Silent(t, "a message that waits")
				task := id(got.Docs[0])
				if !approvals.IsID(task) || !strings.Contains(got.Docs[0], proxytest.StateIn(caller, "auth-required")) ||
					!strings.Contains(got.Docs[0], "waits for approval by one of the group leads, until ") {
					t.Errorf("the task that waits is %s", got.Docs[0])
				}
				get := proxytest.Ask{Method: wire.GetTask, Task: task}
				if doc := w.Speak("tied", w.Base, caller, get).OK(t, "get").Docs[0]; !strings.Contains(doc, task) || !strings.Contains(doc, "waits for approval") {
					t.Errorf("got %s", doc)
				}
				st := only(t, w)
				agree(t, w, st)
				seen := w.Agent.Take()
				if len(seen) != 1 || !strings.Contains(string(seen[0].Content), st.Context) {
					t.Fatalf("the agent saw %d requests, the first in the context %s", len(seen), st.Context)
				}
				doc := w.Speak("tied", w.Base, caller, get).OK(t, "get once it was sent").Docs[0]
				if id(doc) != task || !strings.Contains(doc, proxytest.StateIn(caller, "completed")) {
					t.Errorf("got %s, want the task %s", doc, task)
				}
				if seen := w.Agent.One(t); strings.Contains(string(seen.Content)+seen.URL.String(), task) {
					t.Errorf("the agent was asked for %s %s", seen.URL, seen.Content)
				}
				w.Speak("bob", w.Base, caller, get).Refused(t, "somebody else", wire.TaskNotFound)
			})
		}
	}
}

// TestApprovalOfStreams: a streaming call goes on with the agent's events, of every side in front of every
// side.
func TestApprovalOfStreams(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		for _, caller := range proxytest.CallersOf(i, i) {
			t.Run(fmt.Sprint(caller, " for ", agent), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGateway(t, asking())
				w.BecomeCard(proxytest.CardFor(agent))
				w.Agent.Answers(proxytest.Fluent)
				done := make(chan proxytest.Reply)
				go func() { done <- w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage}) }()
				st := only(t, w)
				w.Agent.Silent(t, "a stream that waits")
				agree(t, w, st)
				got := <-done
				if got.Err != nil || len(got.Docs) < 2 {
					t.Fatalf("%v, %d events: %s", got.Err, len(got.Docs), got.Body)
				}
				if !strings.Contains(got.Docs[0], proxytest.StateIn(caller, "auth-required")) ||
					!strings.Contains(got.Docs[len(got.Docs)-1], proxytest.StateIn(caller, "completed")) {
					t.Errorf("the stream is %s", got.Docs)
				}
				for i, doc := range got.Docs {
					if i > 0 && (strings.Contains(doc, `"task":{`) || strings.Contains(doc, `"kind":"task"`)) {
						t.Errorf("the task is shown once more: %s", doc)
					}
					if !strings.Contains(doc, st.ID) {
						t.Errorf("an event is about another task than %s: %s", st.ID, doc)
					}
				}
			})
		}
	}
}

// TestApprovalWithinWait: a call that is answered once gets the agent's answer, if people are quick.
func TestApprovalWithinWait(t *testing.T) {
	t.Parallel()
	for _, caller := range proxytest.Sides[:6] {
		t.Run(caller.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, asking(func(s *proxytest.Setup) { s.Approvals.Wait = quantity.Duration(time.Minute) }))
			w.Agent.Answers(proxytest.Fluent)
			done := make(chan proxytest.Reply)
			go func() { done <- w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}) }()
			st := only(t, w)
			agree(t, w, st)
			got := (<-done).OK(t, "a message")
			if doc := got.Docs[0]; id(doc) != st.ID || !strings.Contains(doc, proxytest.StateIn(caller, "completed")) {
				t.Errorf("got %s, want the task %s", doc, st.ID)
			}
		})
	}
}

// recorded are the records of calls with an approval in a state.
func recorded(w *proxytest.Gateway, state string) (list []map[string]any) {
	for _, r := range w.Audited("call") {
		if r["approval_state"] == state {
			list = append(list, r)
		}
	}
	return list
}

// decided gives the only call that waits an outcome.
func decided(t testing.TB, w *proxytest.Gateway, o approvals.Outcome) {
	t.Helper()
	if first, err := w.Approvals.Decide(t.Context(), &only(t, w).Call, o); err != nil || !first {
		t.Error(first, err)
	}
}

// TestApprovalEnds: a call that nobody agrees to ends, and its task says why.
func TestApprovalEnds(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	for name, tc := range map[string]struct {
		end         func(*testing.T, *proxytest.Gateway)
		state, says string
	}{
		"rejected": {func(t *testing.T, w *proxytest.Gateway) {
			decided(t, w, approvals.Outcome{State: standing.Rejected, By: "carol", Why: "too much"})
		}, "rejected", "The request was rejected: too much"},
		"canceled": {func(t *testing.T, w *proxytest.Gateway) {
			w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.CancelTask, Task: only(t, w).ID}).OK(t, "cancel")
		}, "canceled", "The request was canceled."},
		"lost": {func(t *testing.T, w *proxytest.Gateway) {
			decided(t, w, approvals.Outcome{State: standing.Lost})
		}, "failed", "whether the agent has it is not known"},
		"the agent's error": {func(t *testing.T, w *proxytest.Gateway) {
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) { rw.WriteHeader(500) })
			agree(t, w, only(t, w))
		}, "failed", "The request was approved, and failed: "},
		"the agent's error message": {func(t *testing.T, w *proxytest.Gateway) {
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(http.StatusBadRequest)
				_, _ = rw.Write([]byte(`{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"the account has no funds"}}`))
			})
			agree(t, w, only(t, w))
		}, "failed", "The request was approved, and failed: the agent answered INVALID_PARAMS: the account has no funds"},
		"void": {func(t *testing.T, w *proxytest.Gateway) {
			send(t, w, only(t, w)) // nobody has agreed
			w.Agent.Silent(t, "a call whose approval is void")
		}, "rejected", "The request is void: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, asking())
			task := id(w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message").Docs[0])
			done := make(chan proxytest.Reply)
			go func() {
				done <- w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SubscribeToTask, Task: task})
			}()
			proxytest.Eventually(t, "subscription", func() bool { return w.Proxy.Streams.Open() == 1 })
			tc.end(t, w)
			get := w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.GetTask, Task: task}).OK(t, "get").Docs[0]
			if !strings.Contains(get, proxytest.StateIn(rest, tc.state)) || !strings.Contains(get, tc.says) {
				t.Errorf("got %s", get)
			}
			docs := (<-done).OK(t, "subscribe").Docs
			if last := docs[len(docs)-1]; !strings.Contains(docs[0], "AUTH_REQUIRED") || !strings.Contains(last, proxytest.StateIn(rest, tc.state)) {
				t.Errorf("the stream is %s", docs)
			}
			w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.CancelTask, Task: task}).Refused(t, "cancel what has ended", wire.NotCancelable)
			w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SubscribeToTask, Task: task}).Refused(t, "subscribe to what has ended", wire.Unsupported)
			if list, err := w.Approvals.Waiting(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("still open: %v, %v", list, err)
			}
		})
	}
}

// TestApprovalRefusals: what a task that waits does not take, and how much may wait.
func TestApprovalRefusals(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	w := proxytest.NewGateway(t, asking(func(s *proxytest.Setup) { s.Approvals.PerCaller, s.Approvals.Total, s.Approvals.Message = 2, 3, 2000 }))
	message := func(who, more string) proxytest.Reply {
		return w.Speak(who, w.Base, rest, proxytest.Ask{Method: wire.SendMessage, InPart: more})
	}
	task := id(message("tied", "").OK(t, "first").Docs[0])
	w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage, Task: task}).Told(t, "a message to it", wire.Unsupported, "waits for approval")
	w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage, More: `,"configuration":{"returnImmediately":true}`}).OK(t, "second")
	message("tied", "").Told(t, "third", wire.RateLimited, "policy.approvals.perCaller")
	message("alice", "").OK(t, "another caller's")
	message("alice", "").Told(t, "the last of all", wire.RateLimited, "policy.approvals.total")
	message("bob", `,"metadata":{"x":"`+strings.Repeat("x", 2000)+`"}`).Told(t, "a long one", wire.TooLarge, "policy.approvals.message")
	w.Agent.Silent(t, "all of it")
	if r := recorded(w, "waiting")[0]; r["approval"] != task || r["rule"] != "ask" || r["task_id"] != task {
		t.Errorf("the record is %v", r)
	}
}

// late is a state in which something happens once, as soon as somebody has read the outcome of a call.
type late struct {
	state.Values
	then atomic.Pointer[func()]
}

// Get implements state.Values.
func (l *late) Get(ctx context.Context, space, key string) ([]byte, bool, error) {
	data, ok, err := l.Values.Get(ctx, space, key)
	if space == "approvals-outcomes" {
		if then := l.then.Swap(nil); then != nil {
			(*then)()
		}
	}
	return data, ok, err
}

// TestApprovalMeanwhile: who asks for a task just as it is sent hears no error, and finds it.
func TestApprovalMeanwhile(t *testing.T) {
	t.Parallel()
	for _, caller := range proxytest.Sides[:6] {
		for method, want := range map[string]string{wire.GetTask: "working", wire.SubscribeToTask: "completed"} {
			t.Run(fmt.Sprint(method, " of ", caller), func(t *testing.T) {
				t.Parallel()
				var l *late
				w := proxytest.NewGateway(t, asking(func(s *proxytest.Setup) {
					l = &late{Values: s.Values}
					s.Values = l
				}))
				w.Agent.Answers(proxytest.Fluent)
				task := id(w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message").Docs[0])
				st := only(t, w)
				then := func() { agree(t, w, st) }
				l.then.Store(&then)
				docs := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: method, Task: task}).OK(t, "meanwhile").Docs
				if last := docs[len(docs)-1]; !strings.Contains(last, task) || !strings.Contains(last, proxytest.StateIn(caller, want)) {
					t.Errorf("got %s", docs)
				}
				get := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetTask, Task: task}).OK(t, "later").Docs[0]
				if id(get) != task || !strings.Contains(get, proxytest.StateIn(caller, "completed")) {
					t.Errorf("got %s later", get)
				}
			})
		}
	}
}

// TestApprovalOfMessages: an agent that answers with a message completes the task with it.
func TestApprovalOfMessages(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	w := proxytest.NewGateway(t, asking(proxytest.OnlyInterface("HTTP+JSON", "1.0")))
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		r.Say(rw, `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"Refunded."}]}}`)
	})
	task := id(w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message").Docs[0])
	agree(t, w, only(t, w))
	got := w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.GetTask, Task: task}).OK(t, "get").Docs[0]
	if !strings.Contains(got, "TASK_STATE_COMPLETED") || !strings.Contains(got, `"artifacts":[{"artifactId":"answer","parts":[{"text":"Refunded."}]}]`) {
		t.Errorf("got %s", got)
	}
}

// TestApprovalOfStreamedMessages: the message of a stream is what the caller's stream ends with, and what its
// task has later.
func TestApprovalOfStreamedMessages(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		for _, caller := range proxytest.CallersOf(i, i) {
			t.Run(fmt.Sprint(caller, " for ", agent), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGateway(t, asking())
				w.BecomeCard(proxytest.CardFor(agent))
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { r.Say(rw, messageIn(r.Side(), "Refunded.")) })
				done := make(chan proxytest.Reply)
				go func() { done <- w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage}) }()
				st := only(t, w)
				agree(t, w, st)
				docs := (<-done).OK(t, "a stream").Docs
				if last := docs[len(docs)-1]; !strings.Contains(strings.Join(docs, ""), "Refunded.") || !strings.Contains(last, proxytest.StateIn(caller, "completed")) {
					t.Errorf("the stream is %s", docs)
				}
				get := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetTask, Task: st.ID}).OK(t, "get").Docs[0]
				if !strings.Contains(get, "Refunded.") || !strings.Contains(get, proxytest.StateIn(caller, "completed")) {
					t.Errorf("got %s", get)
				}
			})
		}
	}
}

// messageIn is a message of an agent's in the words of a side, as events have it.
func messageIn(s wire.Side, text string) string {
	switch {
	case s.Version == wire.V10:
		return `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}]}}`
	case s.Version == wire.V03 && s.Binding != wire.JSONRPC:
		return `{"msg":{"messageId":"a","role":"ROLE_AGENT","content":[{"text":"` + text + `"}]}}`
	}
	return `{"kind":"message","messageId":"a","role":"agent","parts":[{"kind":"text","type":"text","text":"` + text + `"}]}`
}

// TestApprovalOfQuickTasks: a task that ends while its caller's stream comes to it is told to its end, also where
// the agent refuses the subscription by an event.
func TestApprovalOfQuickTasks(t *testing.T) {
	t.Parallel()
	for i, agent := range []wire.Side{proxytest.RPC03, proxytest.RPC10} {
		for _, caller := range proxytest.CallersOf(i, i) {
			t.Run(fmt.Sprint(caller, " for ", agent), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGateway(t, asking())
				w.BecomeCard(proxytest.CardFor(agent))
				var ended atomic.Bool
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					state := map[bool]string{false: "working", true: "completed"}[ended.Load()]
					task := proxytest.TaskIn(agent, "quick", "quick-context", state, "")
					switch c := r.Call(); {
					case c.Method.Name == wire.SubscribeToTask:
						ended.Store(true)
						rw.Header().Set("Content-Type", "text/event-stream")
						_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32602,\"message\":\"it has ended\"}}\n\n", c.ID)
					case c.Method.Name != wire.GetTask && agent.Version == wire.V10:
						r.Say(rw, `{"task":`+task+`}`)
					default:
						r.Say(rw, task)
					}
				})
				w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message")
				st := only(t, w)
				done := make(chan proxytest.Reply)
				go func() {
					done <- w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: st.ID})
				}()
				proxytest.Eventually(t, "subscription", func() bool { return w.Proxy.Streams.Open() == 1 })
				agree(t, w, st)
				docs := (<-done).OK(t, "subscribe").Docs
				if last := docs[len(docs)-1]; !strings.Contains(last, st.ID) || !strings.Contains(last, proxytest.StateIn(caller, "completed")) {
					t.Errorf("the stream is %s", docs)
				}
			})
		}
	}
}

// TestApprovalOfFollowUps: a message that goes on with an approved task waits too, as a task of its own, and comes
// to the agent's task.
func TestApprovalOfFollowUps(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		for _, caller := range proxytest.CallersOf(i, i) {
			t.Run(fmt.Sprint(caller, " for ", agent), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGateway(t, asking())
				w.BecomeCard(proxytest.CardFor(agent))
				w.Agent.Answers(proxytest.Fluent)
				first := id(w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message").Docs[0])
				agree(t, w, only(t, w))
				w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetTask, Task: first}).OK(t, "get")
				st, err := w.Approvals.Look(t.Context(), first)
				proxytest.Must(t, err)
				w.Agent.Take()
				second := id(w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Task: first}).OK(t, "a second message").Docs[0])
				w.Agent.Silent(t, "a second message that waits")
				if second == first || !approvals.IsID(second) {
					t.Fatalf("the second task is %s, the first %s", second, first)
				}
				agree(t, w, only(t, w))
				seen := w.Agent.One(t)
				if text := string(seen.Content) + seen.URL.String(); strings.Contains(text, first) || strings.Contains(text, second) || !strings.Contains(text, st.Outcome.Task) {
					t.Errorf("the agent was asked for %s %s, want its task %s", seen.URL, seen.Content, st.Outcome.Task)
				}
				for _, name := range []string{first, second} {
					if doc := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetTask, Task: name}).OK(t, "get").Docs[0]; id(doc) != name {
						t.Errorf("got %s, want the task %s", doc, name)
					}
				}
			})
		}
	}
}

// TestApprovalIsNotRemembered for a call of the approver's own, which somebody else has to approve.
func TestApprovalIsNotRemembered(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	w := proxytest.NewGateway(t, asking(func(s *proxytest.Setup) {
		s.Policy.Rules[len(s.Policy.Rules)-1].Remember = &approval.Remember{For: quantity.Duration(time.Hour), By: []string{"agent"}}
	}))
	w.Agent.Answers(proxytest.Fluent)
	w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "first")
	st := only(t, w)
	proxytest.Must(t, w.Approvals.Vote(t.Context(), &st.Call, approvals.Vote{By: "alice", Groups: []string{"leads"}, At: time.Now(), Rules: []string{"ask"}}))
	send(t, w, st)
	for who, want := range map[string]string{"bob": "COMPLETED", "alice": "AUTH_REQUIRED"} {
		if got := w.Speak(who, w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, who).Docs[0]; !strings.Contains(got, want) {
			t.Errorf("%s got %s", who, got)
		}
	}
}

// TestApprovalIsRemembered for calls that have in common what the rule says, and for no others.
func TestApprovalIsRemembered(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	w := proxytest.NewGateway(t, asking(func(s *proxytest.Setup) {
		s.Policy.Rules[len(s.Policy.Rules)-1].Remember = &approval.Remember{For: quantity.Duration(time.Hour)}
	}))
	w.Agent.Answers(proxytest.Fluent)
	w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "first")
	first := only(t, w)
	agree(t, w, first)
	if got := w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "second").Docs[0]; !strings.Contains(got, "COMPLETED") {
		t.Errorf("got %s", got)
	}
	if sent, again := recorded(w, "sent"), recorded(w, "remembered"); len(sent) != 1 || len(again) != 1 ||
		sent[0]["approval"] != first.ID || again[0]["approval"] != first.ID || sent[0]["client_ip"] != "127.0.0.1" {
		t.Errorf("the records are %v and %v", sent, again)
	}
	if got := w.Speak("alice", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "somebody else's").Docs[0]; !strings.Contains(got, "AUTH_REQUIRED") {
		t.Errorf("got %s", got)
	}
}

// TestApprovalOfRepetitions: a message that comes again, of an agent with dedupe, is the one that waits.
func TestApprovalOfRepetitions(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	w := proxytest.NewGateway(t, asking(proxytest.WithMemory))
	w.Agent.Answers(proxytest.Fluent)
	one := w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "first").Docs[0]
	again := w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "again").Docs[0]
	if id(one) != id(again) {
		t.Errorf("two tasks wait: %s, %s", one, again)
	}
	agree(t, w, only(t, w))
	w.Agent.One(t)
}

// TestApprovalIsListed: a caller's list has the tasks that wait, page by page, of every agent.
func TestApprovalIsListed(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		caller := proxytest.ListSides[i%3]
		t.Run(fmt.Sprint(caller, " for ", agent), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, asking())
			w.BecomeCard(proxytest.CardFor(agent))
			w.Agent.Answers(proxytest.Fluent)
			for range 3 {
				w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message")
			}
			list, err := w.Approvals.Waiting(t.Context())
			proxytest.Must(t, err)
			want := map[string]bool{}
			for _, st := range list {
				want[st.ID] = true
			}
			token, pages := "", 0
			for ; pages < 5; pages++ {
				more, query := fmt.Sprintf(`,"pageSize":2,"pageToken":%q`, token), "pageSize=2&pageToken="+token
				doc := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.ListTasks, More: more, Query: query}).OK(t, "list").Docs[0]
				for id := range want {
					if strings.Contains(doc, id) {
						delete(want, id)
					}
				}
				if !strings.Contains(doc, `"totalSize":3`) {
					t.Errorf("page %d: %s", pages, doc)
				}
				_, rest, _ := strings.Cut(doc, `"nextPageToken":"`)
				if token, _, _ = strings.Cut(rest, `"`); token == "" {
					break
				}
			}
			if len(want) > 0 || pages > 2 {
				t.Errorf("%d pages lack %v", pages+1, want)
			}
			for state, n := range map[string]int{"TASK_STATE_AUTH_REQUIRED": 3, "TASK_STATE_WORKING": 0} {
				doc := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.ListTasks, More: `,"status":"` + state + `"`, Query: "status=" + state}).OK(t, "list").Docs[0]
				if got := strings.Count(doc, `"TASK_STATE_AUTH_REQUIRED"`); got != n {
					t.Errorf("%s: %d tasks in %s", state, got, doc)
				}
			}
			if doc := w.Speak("alice", w.Base, caller, proxytest.Ask{Method: wire.ListTasks, Header: []string{"A2A-Tenant: rec"}}).Body; strings.Contains(doc, "approval-") {
				t.Errorf("somebody else's list is %s", doc)
			}
		})
	}
}

// TestApprovalIsVoid if what was agreed to is not what would be sent, or who has sent it may not any more.
func TestApprovalIsVoid(t *testing.T) {
	t.Parallel()
	rest := proxytest.REST10
	for name, change := range map[string]func(st *approvals.Status){
		"the rule has changed":         func(st *approvals.Status) { st.Rules[0].Digest = "another" },
		"another rule asks":            func(st *approvals.Status) { st.Rules[0].Name = "other" },
		"an approver is none any more": func(st *approvals.Status) { st.Votes[0].Groups = nil },
		"the approver is the caller":   func(st *approvals.Status) { st.Caller.Selves = []string{"carol"} },
		"nobody knows the caller":      func(st *approvals.Status) { st.Caller.Who = strings.Replace(st.Caller.Who, `"tied"`, `"gone"`, -1) },
		"the agent is gone":            func(st *approvals.Status) { st.Request.Agent = "gone" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, asking())
			task := id(w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.SendMessage}).OK(t, "a message").Docs[0])
			st := only(t, w)
			proxytest.Must(t, w.Approvals.Vote(t.Context(), &st.Call, approvals.Vote{By: "carol", Groups: []string{"leads"}, At: time.Now(), Rules: []string{"ask"}}))
			first, err := w.Approvals.Decide(t.Context(), &st.Call, approvals.Outcome{State: standing.Sending, Until: time.Now().Add(time.Minute)})
			if err != nil || !first {
				t.Fatal(first, err)
			}
			st, err = w.Approvals.Look(t.Context(), st.ID)
			proxytest.Must(t, err)
			change(st)
			w.Proxy.SendApproved(t.Context(), st)
			w.Agent.Silent(t, name)
			got := w.Speak("tied", w.Base, rest, proxytest.Ask{Method: wire.GetTask, Task: task}).OK(t, "get").Docs[0]
			if !strings.Contains(got, "TASK_STATE_REJECTED") && !strings.Contains(got, "TASK_STATE_FAILED") {
				t.Errorf("got %s", got)
			}
		})
	}
}
