package inspect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// take gives the callouts since the last take.
func take(s *proxytest.HookService) []proxytest.HookCall {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	heard := s.Heard
	s.Heard = nil
	return heard
}

// twoEvents are a stream, or, of them, the answer to a call.
func twoEvents(s proxytest.Words, id string) []string {
	return []string{
		s.Status(id, "working", s.Message("agent", s.Text("hi", ""), "")),
		s.Status(id, "completed", s.Message("agent", s.Text("hi", ""), "")),
	}
}

func oneTask(s proxytest.Words, id string) []string {
	return []string{s.Task(id, "completed", s.Message("agent", s.Text("hi", ""), ""), "")}
}

// TestHooks: a service hears of every phase what goes on in it, in the words of who
// says it, and may put other words in their place.
func TestHooks(t *testing.T) {
	t.Parallel()
	service := proxytest.NewHookService(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(service.Hooked()))
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, caller := range proxytest.CallersOf(i, 0) {
			for _, change := range []bool{false, true} {
				what := fmt.Sprintf("%s to %s, changes %t", caller, agent, change)
				want, phases := "hi", []hook.Phase{hook.Request, hook.Response}
				service.Answers(nil)
				if change {
					want = "ho"
					service.Answers(func(c proxytest.HookCall) string { return proxytest.Mutated(c, `"hi"`, `"ho"`) })
				}
				for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
					if w.AnswerIn(oneTask); method == wire.SendStreamingMessage {
						w.AnswerIn(twoEvents)
						phases = []hook.Phase{hook.Request, hook.Event, hook.Event}
					}
					take(service)
					got := w.Utter(caller, method, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...).OK(t, what)
					if sent := string(w.Agent.One(t).Call().Params); !strings.Contains(sent, `"`+want+`"`) {
						t.Errorf("%s: the agent is told %s", what, sent)
					}
					if docs := strings.Join(got.Docs, ""); strings.Count(docs, `"`+want+`"`) != len(phases)-1 {
						t.Errorf("%s: the caller is told %s", what, docs)
					}
					checkCallouts(t, what, take(service), method, phases, caller, agent)
				}
			}
		}
	}
}

// checkCallouts looks at what a service has heard of one call.
func checkCallouts(t *testing.T, what string, heard []proxytest.HookCall, method string, phases []hook.Phase, caller, agent wire.Side) {
	t.Helper()
	for i, c := range heard {
		side, about := agent, "task"
		if i == 0 {
			side, about = caller, "" // the task is not there yet
		}
		if i >= len(phases) || c.Phase != phases[i] || c.Extension != proxytest.ExtensionURI || c.Agent != "rec" || c.Method != method ||
			c.Version != string(side.Version) || c.Binding != side.Binding.String() || c.Principal != "tied" || c.RequestID == "" ||
			(c.TaskID == "") != (about == "") || !strings.Contains(string(c.Document), `"hi"`) {
			t.Errorf("%s: callout %d: %+v %s", what, i, c.Callout, c.Document)
		}
	}
	if len(heard) != len(phases) {
		t.Errorf("%s: %d callouts, want %v", what, len(heard), phases)
	}
}

// TestHooksDeny: a no to a request is the caller's refusal, one to an answer withholds
// it, one to an event ends the stream behind what came before.
func TestHooksDeny(t *testing.T) {
	t.Parallel()
	service := proxytest.NewHookService(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(service.Hooked()))
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, caller := range proxytest.CallersOf(i, 1) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			deny := func(phase hook.Phase, which string) {
				service.Answers(func(c proxytest.HookCall) string {
					if c.Phase == phase && strings.Contains(strings.ToLower(string(c.Document)), which) {
						return `{"action":"deny","message":"not today"}`
					}
					return ""
				})
			}
			deny(hook.Request, "")
			w.Utter(caller, wire.SendMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...).Told(t, what, wire.Denied, "not today")
			w.Agent.Silent(t, what)

			deny(hook.Response, "")
			w.AnswerIn(oneTask)
			w.Utter(caller, wire.SendMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...).Told(t, what, proxytest.BadAnswer(caller), "not today")

			deny(hook.Event, "completed")
			w.AnswerIn(twoEvents)
			got := w.Utter(caller, wire.SendStreamingMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...)
			got.Told(t, what, proxytest.BadAnswer(caller), "not today")
			if docs := strings.Join(got.Docs, ""); strings.Count(docs, `"hi"`) != 1 {
				t.Errorf("%s: before the no: %s", what, docs)
			}
			w.Agent.Take()
		}
	}
}

// TestHooksFail: a service that gives no usable answer stops the call, or does not,
// as is configured; both are recorded, and nobody is told its URL.
func TestHooksFail(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"status": "500", "late": "hang", "not JSON": "{", "another action": `{"action":"maybe"}`,
		"document of another kind": `{"action":"mutate","document":[]}`,
	} {
		for _, onFailure := range []string{"", "pass"} {
			for _, phase := range []hook.Phase{hook.Request, hook.Response, hook.Event} {
				t.Run(fmt.Sprint(name, onFailure, phase), func(t *testing.T) {
					t.Parallel()
					service := proxytest.NewHookService(t)
					service.Answers(func(proxytest.HookCall) string { return answer })
					w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(service.Hooked(func(c *hook.Config) {
						c.Phases, c.OnFailure = []hook.Phase{phase}, onFailure
						if answer == "hang" {
							c.Timeout = quantity.Duration(time.Millisecond)
						}
					})))
					method := wire.SendMessage
					if w.AnswerIn(oneTask); phase == hook.Event {
						method = wire.SendStreamingMessage
					}
					got := w.Utter(proxytest.RPC10, method, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(proxytest.ExtensionURI)...)
					if onFailure == "pass" {
						got.OK(t, name)
					} else {
						got.Told(t, name, wire.Unavailable, "an extension of this call cannot be served")
					}
					if reached := len(w.Agent.Take()); reached == 0 != (onFailure == "" && phase == hook.Request) {
						t.Errorf("the agent saw %d calls", reached)
					}
					if strings.Contains(got.Body, service.URL) || strings.Contains(w.Logs.String(), "secret") {
						t.Errorf("the URL is told: %s %s", got.Body, w.Logs)
					}
					if found := violations(w, 1); !slices.Equal(found, []string{"hook <nil> " + fmt.Sprint(onFailure == "")}) {
						t.Errorf("%v", found)
					}
				})
			}
		}
	}
}

// TestA07_HooksKeepToTheirBusiness: what a call is about, and whose tasks an answer
// shows, has been judged, and is not for a service to change.
func TestA07_HooksKeepToTheirBusiness(t *testing.T) {
	t.Parallel()
	service := proxytest.NewHookService(t)
	acme := func(s wire.Side) func(string) string {
		return func(base string) string { return proxytest.CardWith(base, proxytest.InterfaceOf(base, s, "acme")) }
	}
	w := proxytest.NewGatewayFor(t, acme(proxytest.RPC10), proxytest.WithExtensions(service.Hooked()))
	w.AnswerIn(oneTask)
	of := func(task string) string {
		return `{"tenant":"acme","message":{"messageId":"m","taskId":"` + task + `","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	}
	mine := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", `,"tenant":"acme"`), asking(proxytest.ExtensionURI)...), t)
	other := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", `,"tenant":"acme"`), asking(proxytest.ExtensionURI)...), t)
	bobs := w.Do("bob", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Words{Side: proxytest.RPC10}.Send("", "", `,"tenant":"acme"`)), "A2A-Version: 1.0")
	w.Agent.Take()
	foreign := taskID.FindStringSubmatch(strings.SplitAfter(bobs.Body, `"task":`)[1])[1]

	for name, change := range map[string]struct{ from, to string }{
		"another task":       {mine, other},
		"somebody's task":    {mine, foreign},
		"no task":            {`"taskId":"` + mine + `",`, ""},
		"another tenant":     {`"tenant":"acme"`, `"tenant":"other"`},
		"no tenant":          {`"tenant":"acme",`, ""},
		"a context":          {`"role"`, `"contextId":"c-` + foreign + `","role"`},
		"another reference":  {`"role"`, `"referenceTaskIds":["` + foreign + `"],"role"`},
		"a webhook":          {`{"tenant"`, `{"configuration":{"taskPushNotificationConfig":{"url":"https://evil.example"}},"tenant"`},
		"another skill":      {`{"tenant"`, `{"metadata":{"` + wire.SkillSelection + `":"write it"},"tenant"`},
		"no params":          {of(mine), `{}`},
		"a body of its own":  {of(mine), `{"message":{"parts":[]},"message":{}}`},
		"a name that is not": {`"message"`, `"Message"`},
	} {
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			service.Answers(func(c proxytest.HookCall) string {
				if c.Phase != hook.Request {
					return ""
				}
				if caller == proxytest.GRPC10 && strings.HasPrefix(change.from, "{") {
					return `{"action":"mutate","document":{}}`
				}
				return proxytest.Mutated(c, change.from, change.to)
			})
			got := w.Utter(caller, wire.SendMessage, of(mine), asking(proxytest.ExtensionURI)...)
			got.Told(t, name+" "+caller.String(), wire.Internal)
			w.Agent.Silent(t, name+" "+caller.String())
		}
	}
	for name, change := range map[string]struct{ method, from, to string }{
		"another task":      {wire.SendMessage, mine, other},
		"somebody's task":   {wire.SendMessage, mine, foreign},
		"another context":   {wire.SendMessage, "c-" + mine, "c-" + foreign},
		"a message":         {wire.SendMessage, `"task"`, `"message"`},
		"an error":          {wire.SendMessage, `{"task"`, `{"error":{"code":7,"status":"X","message":"x"},"more"`},
		"in a stream":       {wire.SendStreamingMessage, mine, foreign},
		"another id":        {wire.SendMessage, `"id":"` + mine, `"id":"` + foreign},
		"another in a list": {wire.ListTasks, `"id":"` + mine, `"id":"` + foreign},
		"in a list":         {wire.ListTasks, `"tasks":[`, `"tasks":[{"id":"` + foreign + `","contextId":"c","status":{"state":"TASK_STATE_WORKING"}},`},
	} {
		for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			w.BecomeCard(acme(agent))
			w.AnswerIn(oneTask)
			params := of(mine)
			if change.method == wire.ListTasks {
				params = `{"tenant":"acme"}`
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					list := proxytest.BareTask(oneTask(proxytest.Words{Side: r.Side()}, mine)[0])
					stranger := proxytest.BareTask(oneTask(proxytest.Words{Side: r.Side()}, "nobody's")[0])
					r.Say(rw, `{"tasks":[`+stranger+`,`+list+`],"nextPageToken":"","pageSize":2,"totalSize":2}`)
				})
			}
			what := name + " " + agent.String()
			service.Answers(func(c proxytest.HookCall) string {
				if c.Phase == hook.Request || agent == proxytest.GRPC10 && name == "an error" {
					return "" // ProtoJSON has no room for one
				}
				return proxytest.Mutated(c, change.from, change.to)
			})
			got := w.Utter(proxytest.RPC10, change.method, params, asking(proxytest.ExtensionURI)...)
			if agent == proxytest.GRPC10 && name == "an error" {
				continue
			}
			got.Told(t, what, wire.Internal)
			if strings.Contains(got.Body, foreign) {
				t.Errorf("%s: %s", what, got.Body)
			}
			// What a service may change is changed, though another's task was cut out.
			service.Answers(func(c proxytest.HookCall) string {
				if c.Phase == hook.Request {
					return ""
				}
				return proxytest.Mutated(c, `"hi"`, `"ho"`)
			})
			good := w.Utter(proxytest.RPC10, change.method, params, asking(proxytest.ExtensionURI)...).OK(t, what)
			if docs := strings.Join(good.Docs, ""); !strings.Contains(docs, `"ho"`) || strings.Contains(docs, "nobody") {
				t.Errorf("%s: %s", what, docs)
			}
		}
	}
}

// TestA07_HooksMakeNothingElse: an answer stays the kind of answer that it was.
func TestA07_HooksMakeNothingElse(t *testing.T) {
	t.Parallel()
	service := proxytest.NewHookService(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.REST10), proxytest.WithExtensions(service.Hooked()))
	w.AnswerIn(func(s proxytest.Words, _ string) []string {
		return []string{`{"message":` + s.Message("agent", s.Text("hi", ""), "") + `}`}
	})
	for name, instead := range map[string]string{
		"an error": `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}`,
		"a task":   `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
		"nothing":  `{}`,
		"not A2A":  `{"message":{"messageId":"m"},"task":{"id":"t"}}`,
	} {
		for _, caller := range []wire.Side{proxytest.REST10, proxytest.RPC03} {
			service.Answers(func(c proxytest.HookCall) string {
				if c.Phase == hook.Request {
					return ""
				}
				return `{"action":"mutate","document":` + instead + `}`
			})
			w.Utter(caller, wire.SendMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...).Told(t, name+" "+caller.String(), wire.Internal)
		}
	}
}
