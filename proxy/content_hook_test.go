package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// callout is what a service of an operator's is told.
type callout struct {
	hook.Callout
	Document jsontext.Value `json:"document"`
}

// service is one that answers as it is told.
type service struct {
	*httptest.Server
	mu      sync.Mutex
	handler func(callout) string // "" for 204
	heard   []callout
}

func newService(t *testing.T) *service {
	s := &service{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler. An answer of digits is a status; "hang" is none.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var c callout
	if err := json.Unmarshal(body, &c); err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.heard = append(s.heard, c)
	handler := s.handler
	s.mu.Unlock()
	answer := ""
	if handler != nil {
		answer = handler(c)
	}
	switch answer {
	case "":
		w.WriteHeader(http.StatusNoContent)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
	case "hang":
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// answers sets what the service does from now on.
func (s *service) answers(f func(callout) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = f
}

// take gives the callouts since the last take.
func (s *service) take() []callout {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := s.heard
	s.heard = nil
	return heard
}

// hooked is an entry of profile with a hook for every phase.
func (s *service) hooked(edit ...func(*hook.Config)) ext.Entry {
	c := hook.Config{
		URL: secret.URL(s.URL + "?key=secret"), Phases: []hook.Phase{hook.Request, hook.Response, hook.Event},
		Timeout: secret.Duration(30 * time.Second), // the longest there is
	}
	for _, f := range edit {
		f(&c)
	}
	return ext.Entry{URI: profile, Hooks: []hook.Config{c}}
}

// mutated is an answer with another document.
func mutated(c callout, from, to string) string {
	return `{"action":"mutate","document":` + strings.ReplaceAll(string(c.Document), from, to) + `}`
}

// twoEvents are a stream, or, of them, the answer to a call.
func twoEvents(s words, id string) []string {
	return []string{
		s.status(id, "working", s.message("agent", s.text("hi", ""), "")),
		s.status(id, "completed", s.message("agent", s.text("hi", ""), "")),
	}
}

func oneTask(s words, id string) []string {
	return []string{s.task(id, "completed", s.message("agent", s.text("hi", ""), ""), "")}
}

// TestHooks: a service hears of every phase what goes on in it, in the words of who
// says it, and may put other words in their place.
func TestHooks(t *testing.T) {
	t.Parallel()
	service := newService(t)
	w := in(t, speaks(rpc10), knows(service.hooked()))
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for _, caller := range callersOf(i, 0) {
			for _, change := range []bool{false, true} {
				what := fmt.Sprintf("%s to %s, changes %t", caller, agent, change)
				want, phases := "hi", []hook.Phase{hook.Request, hook.Response}
				service.answers(nil)
				if change {
					want = "ho"
					service.answers(func(c callout) string { return mutated(c, `"hi"`, `"ho"`) })
				}
				for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
					if w.tells(oneTask); method == wire.SendStreamingMessage {
						w.tells(twoEvents)
						phases = []hook.Phase{hook.Request, hook.Event, hook.Event}
					}
					service.take()
					got := w.utter(caller, method, words{caller}.send("", "", ""), asking(profile)...).ok(t, what)
					if sent := string(w.agent.one(t).call().Params); !strings.Contains(sent, `"`+want+`"`) {
						t.Errorf("%s: the agent is told %s", what, sent)
					}
					if docs := strings.Join(got.docs, ""); strings.Count(docs, `"`+want+`"`) != len(phases)-1 {
						t.Errorf("%s: the caller is told %s", what, docs)
					}
					checkCallouts(t, what, service.take(), method, phases, caller, agent)
				}
			}
		}
	}
}

// checkCallouts looks at what a service has heard of one call.
func checkCallouts(t *testing.T, what string, heard []callout, method string, phases []hook.Phase, caller, agent wire.Side) {
	t.Helper()
	for i, c := range heard {
		side, about := agent, "task"
		if i == 0 {
			side, about = caller, "" // the task is not there yet
		}
		if i >= len(phases) || c.Phase != phases[i] || c.Extension != profile || c.Agent != "rec" || c.Method != method ||
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
	service := newService(t)
	w := in(t, speaks(rpc10), knows(service.hooked()))
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for _, caller := range callersOf(i, 1) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			deny := func(phase hook.Phase, which string) {
				service.answers(func(c callout) string {
					if c.Phase == phase && strings.Contains(strings.ToLower(string(c.Document)), which) {
						return `{"action":"deny","message":"not today"}`
					}
					return ""
				})
			}
			deny(hook.Request, "")
			w.utter(caller, wire.SendMessage, words{caller}.send("", "", ""), asking(profile)...).told(t, what, wire.Denied, "not today")
			w.agent.silent(t, what)

			deny(hook.Response, "")
			w.tells(oneTask)
			w.utter(caller, wire.SendMessage, words{caller}.send("", "", ""), asking(profile)...).told(t, what, badAnswer(caller), "not today")

			deny(hook.Event, "completed")
			w.tells(twoEvents)
			got := w.utter(caller, wire.SendStreamingMessage, words{caller}.send("", "", ""), asking(profile)...)
			got.told(t, what, badAnswer(caller), "not today")
			if docs := strings.Join(got.docs, ""); strings.Count(docs, `"hi"`) != 1 {
				t.Errorf("%s: before the no: %s", what, docs)
			}
			w.agent.take()
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
					service := newService(t)
					service.answers(func(callout) string { return answer })
					w := in(t, speaks(rpc10), knows(service.hooked(func(c *hook.Config) {
						c.Phases, c.OnFailure = []hook.Phase{phase}, onFailure
						if answer == "hang" {
							c.Timeout = secret.Duration(time.Millisecond)
						}
					})))
					method := wire.SendMessage
					if w.tells(oneTask); phase == hook.Event {
						method = wire.SendStreamingMessage
					}
					got := w.utter(rpc10, method, words{rpc10}.send("", "", ""), asking(profile)...)
					if onFailure == "pass" {
						got.ok(t, name)
					} else {
						got.told(t, name, wire.Unavailable, "an extension of this call cannot be served")
					}
					if reached := len(w.agent.take()); reached == 0 != (onFailure == "" && phase == hook.Request) {
						t.Errorf("the agent saw %d calls", reached)
					}
					if strings.Contains(got.body, service.URL) || strings.Contains(w.logs.String(), "secret") {
						t.Errorf("the URL is told: %s %s", got.body, w.logs)
					}
					if found := w.violations(1); !slices.Equal(found, []string{"hook <nil> " + fmt.Sprint(onFailure == "")}) {
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
	service := newService(t)
	acme := func(s wire.Side) func(string) string {
		return func(base string) string { return cardWith(base, interfaceOf(base, s, "acme")) }
	}
	w := in(t, acme(rpc10), knows(service.hooked()))
	w.tells(oneTask)
	of := func(task string) string {
		return `{"tenant":"acme","message":{"messageId":"m","taskId":"` + task + `","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	}
	mine := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", `,"tenant":"acme"`), asking(profile)...).task(t)
	other := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", `,"tenant":"acme"`), asking(profile)...).task(t)
	bobs := w.do("bob", "POST", "", rpcBody("SendMessage", words{rpc10}.send("", "", `,"tenant":"acme"`)), "A2A-Version: 1.0")
	w.agent.take()
	foreign := taskID.FindStringSubmatch(strings.SplitAfter(bobs.body, `"task":`)[1])[1]

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
		for _, caller := range []wire.Side{rpc10, rest10, grpc10} {
			service.answers(func(c callout) string {
				if c.Phase != hook.Request {
					return ""
				}
				if caller == grpc10 && strings.HasPrefix(change.from, "{") {
					return `{"action":"mutate","document":{}}`
				}
				return mutated(c, change.from, change.to)
			})
			got := w.utter(caller, wire.SendMessage, of(mine), asking(profile)...)
			got.told(t, name+" "+caller.String(), wire.Internal)
			w.agent.silent(t, name+" "+caller.String())
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
		for _, agent := range []wire.Side{rpc10, rest10, grpc10} {
			w.becomes(acme(agent))
			w.tells(oneTask)
			params := of(mine)
			if change.method == wire.ListTasks {
				params = `{"tenant":"acme"}`
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					list := bare(oneTask(words{r.side()}, mine)[0])
					stranger := bare(oneTask(words{r.side()}, "nobody's")[0])
					r.say(rw, `{"tasks":[`+stranger+`,`+list+`],"nextPageToken":"","pageSize":2,"totalSize":2}`)
				})
			}
			what := name + " " + agent.String()
			service.answers(func(c callout) string {
				if c.Phase == hook.Request || agent == grpc10 && name == "an error" {
					return "" // ProtoJSON has no room for one
				}
				return mutated(c, change.from, change.to)
			})
			got := w.utter(rpc10, change.method, params, asking(profile)...)
			if agent == grpc10 && name == "an error" {
				continue
			}
			got.told(t, what, wire.Internal)
			if strings.Contains(got.body, foreign) {
				t.Errorf("%s: %s", what, got.body)
			}
			// What a service may change is changed, though another's task was cut out.
			service.answers(func(c callout) string {
				if c.Phase == hook.Request {
					return ""
				}
				return mutated(c, `"hi"`, `"ho"`)
			})
			good := w.utter(rpc10, change.method, params, asking(profile)...).ok(t, what)
			if docs := strings.Join(good.docs, ""); !strings.Contains(docs, `"ho"`) || strings.Contains(docs, "nobody") {
				t.Errorf("%s: %s", what, docs)
			}
		}
	}
}

// TestA07_HooksMakeNothingElse: an answer stays the kind of answer that it was.
func TestA07_HooksMakeNothingElse(t *testing.T) {
	t.Parallel()
	service := newService(t)
	w := in(t, speaks(rest10), knows(service.hooked()))
	w.tells(func(s words, _ string) []string {
		return []string{`{"message":` + s.message("agent", s.text("hi", ""), "") + `}`}
	})
	for name, instead := range map[string]string{
		"an error": `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}`,
		"a task":   `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
		"nothing":  `{}`,
		"not A2A":  `{"message":{"messageId":"m"},"task":{"id":"t"}}`,
	} {
		for _, caller := range []wire.Side{rest10, rpc03} {
			service.answers(func(c callout) string {
				if c.Phase == hook.Request {
					return ""
				}
				return `{"action":"mutate","document":` + instead + `}`
			})
			w.utter(caller, wire.SendMessage, words{caller}.send("", "", ""), asking(profile)...).told(t, name+" "+caller.String(), wire.Internal)
		}
	}
}
