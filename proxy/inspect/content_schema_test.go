package inspect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// strict is an entry of profile with a schema of each kind. That of parts refuses the
// forms that they have before 1.0.
func strict(mode ext.Mode) ext.Entry {
	return ext.Entry{
		URI: proxytest.ExtensionURI, Metadata: []string{"p.*"}, Validation: mode,
		Schemas: ext.Schemas{
			Request:  proxytest.Inline(`{"required":["code"],"properties":{"code":{"type":"integer"}}}`),
			Metadata: map[string]schema.Source{"p.level": proxytest.Inline(`{"type":"integer"}`)},
			Message:  proxytest.Inline(`{"properties":{"metadata":{"properties":{"p.message":false}}}}`),
			Artifact: proxytest.Inline(`{"properties":{"metadata":{"properties":{"p.artifact":false}}}}`),
			Status:   proxytest.Inline(`{"properties":{"state":{"not":{"const":"TASK_STATE_FAILED"}}}}`),
			Part: proxytest.Inline(`{"not":{"anyOf":[{"required":["kind"]},{"required":["type"]}]},
				"properties":{"data":{"maxProperties":0},"metadata":{"properties":{"p.part":false}}}}`),
		},
	}
}

// asked are the requests of the tests, and where each breaks a schema, "" for nowhere:
// "parts" is what the side calls it.
var asked = []struct {
	name  string
	words func(proxytest.Words) string
	at    string
}{
	{"plain", func(s proxytest.Words) string { return s.Send("", "", "") }, ""},
	{"good", func(s proxytest.Words) string {
		return s.Send(s.Text("hi", proxytest.Meta("p.level", "1")), proxytest.Meta("p.level", "2"), proxytest.Meta(proxytest.ExtensionURI, `{"code":4711}`))
	}, ""},
	{"request", func(s proxytest.Words) string { return s.Send("", "", proxytest.Meta(proxytest.ExtensionURI, `{}`)) }, "/metadata/urn:declared: required"},
	{"in request", func(s proxytest.Words) string {
		return s.Send("", "", proxytest.Meta(proxytest.ExtensionURI, `{"code":"secret"}`))
	}, "/metadata/urn:declared/code: type"},
	{"key", func(s proxytest.Words) string { return s.Send("", proxytest.Meta("p.level", `"secret"`), "") }, "/message/metadata/p.level: type"},
	{"key of the request", func(s proxytest.Words) string { return s.Send("", "", proxytest.Meta("p.level", `"secret"`)) }, "/metadata/p.level: type"},
	{"key of a part", func(s proxytest.Words) string {
		return s.Send(s.Text("hi", "")+","+s.Text("hi", proxytest.Meta("p.level", `null`)), "", "")
	}, "/message/PARTS/1/metadata/p.level: type"},
	{"message", func(s proxytest.Words) string { return s.Send("", proxytest.Meta("p.message", "1"), "") }, "/message/metadata/p.message: schema"},
	{"part", func(s proxytest.Words) string { return s.Send(s.Text("hi", proxytest.Meta("p.part", "1")), "", "") }, "/message/parts/0/metadata/p.part: schema"},
	{"data", func(s proxytest.Words) string { return s.Send(s.Data(`{"a":1}`), "", "") }, "/message/parts/0/data: maxProperties"},
}

// TestSchemasOfRequests: what a caller says breaks the schemas of a profile, or does
// not, in the words of every side; the agent sees none that does.
func TestSchemasOfRequests(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(strict("")))
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for j, tt := range asked {
			for _, caller := range proxytest.CallersOf(i, j) {
				what := fmt.Sprintf("%s to %s: %s", caller, agent, tt.name)
				for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
					got := w.Utter(caller, method, tt.words(proxytest.Words{Side: caller}), asking(proxytest.ExtensionURI)...)
					if tt.at == "" {
						got.OK(t, what)
						w.Agent.One(t)
						continue
					}
					at := strings.Replace(tt.at, "PARTS", map[bool]string{false: "parts", true: "content"}[proxytest.Words{Side: caller}.Proto()], 1)
					if caller.Binding == wire.JSONRPC {
						at = "/params" + at
					}
					got.Told(t, what, wire.InvalidParams, "Invalid parameters: "+at, "("+proxytest.ExtensionURI+")")
					if strings.Contains(got.Body, "secret") {
						t.Errorf("%s: the value is repeated: %s", what, got.Body)
					}
					w.Agent.Silent(t, what)
				}
			}
		}
	}
}

// answeredCase is an answer, or the events of a stream.
type answeredCase struct {
	name  string
	words func(s proxytest.Words, id string) []string
	at    string // where it breaks a schema, "" for nowhere
}

// check looks at what a caller heard, behind events that are good.
func (c answeredCase) check(t *testing.T, what string, caller wire.Side, got proxytest.Reply, before int) {
	t.Helper()
	if c.at == "" {
		got.OK(t, what)
		return
	}
	got.Told(t, what, proxytest.BadAnswer(caller), c.at, "("+proxytest.ExtensionURI+")")
	// In front of 1.0's callers the first update has a task before it.
	if n := len(got.Docs); n < before || n > 2*before {
		t.Errorf("%s: %d documents before the error: %s", what, n, got.Body)
	}
	if strings.Contains(got.Body, "secret") {
		t.Errorf("%s: the value is repeated: %s", what, got.Body)
	}
}

var answered = []answeredCase{
	{"plain", func(s proxytest.Words, id string) []string { return []string{s.Task(id, "completed", "", "")} }, ""},
	{"good", func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "completed", s.Message("agent", s.Text("hi", proxytest.Meta("p.level", "1")), ""), proxytest.Meta("p.level", "3"))}
	}, ""},
	{"old", func(s proxytest.Words, id string) []string {
		// History may be of calls in which the profile was not active.
		return []string{s.Task(id, "completed", "", `,"history":[`+s.Message("agent", s.Text("hi", proxytest.Meta("p.part", "1")), proxytest.Meta("p.level", `"secret"`))+`]`)}
	}, ""},
	{"task", func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "completed", "", proxytest.Meta("p.level", `"secret"`))}
	}, "/metadata/p.level: type"},
	{"key of a message", func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "completed", s.Message("agent", s.Text("hi", ""), proxytest.Meta("p.level", `"secret"`)), "")}
	}, "/message/metadata/p.level: type"},
	{"message", func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "completed", s.Message("agent", s.Text("hi", ""), proxytest.Meta("p.message", `"secret"`)), "")}
	}, "/status/message/metadata/p.message: schema"},
	{"status", func(s proxytest.Words, id string) []string { return []string{s.Task(id, "failed", "", "")} }, "/status/state: not"},
	{"artifact", func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, s.Text("hi", ""), proxytest.Meta("p.artifact", "1"))+`]`)}
	}, "/artifacts/0/metadata/p.artifact: schema"},
	{"data", func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, s.Data(`{"a":1}`), "")+`]`)}
	}, "/artifacts/0/parts/0/data: maxProperties"},
	{"event with a status", func(s proxytest.Words, id string) []string {
		return []string{s.Status(id, "working", ""), s.Status(id, "failed", "")}
	}, "/status/state: not"},
	{"event with an artifact", func(s proxytest.Words, id string) []string {
		return []string{s.Status(id, "working", ""), arrival(s, id, artifact(s, s.Text("hi", proxytest.Meta("p.part", "1")), ""))}
	}, "/artifact/parts/0/metadata/p.part: schema"},
}

// TestSchemasOfAnswers: an answer that breaks a schema is withheld, in a stream with an
// error behind what came before.
func TestSchemasOfAnswers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(strict("")))
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for j, tt := range answered {
			if agent == proxytest.RPC01 && tt.name == "artifact" {
				continue // 0.1's have no list of extensions, and the table's words no metadata
			}
			for _, caller := range proxytest.CallersOf(i, j) {
				what := fmt.Sprintf("%s to %s: %s", caller, agent, tt.name)
				if !strings.HasPrefix(tt.name, "event") && (agent != proxytest.RPC01 || tt.name != "old") {
					w.AnswerIn(tt.words)
					tt.check(t, what, caller, w.Utter(caller, wire.SendMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...), 0)
				}
				w.AnswerIn(func(s proxytest.Words, id string) []string {
					list := tt.words(s, id)
					if len(list) > 1 {
						return list
					}
					return append([]string{s.Status(id, "working", "")}, list...)
				})
				if agent == proxytest.RPC01 && !strings.HasPrefix(tt.name, "event") {
					continue // it streams no tasks
				}
				tt.check(t, what+" in a stream", caller, w.Utter(caller, wire.SendStreamingMessage, proxytest.Words{Side: caller}.Send("", "", ""), asking(proxytest.ExtensionURI)...), 1)
			}
		}
	}
}

// TestSchemasThatReport: what breaks a schema is only recorded, or not even that; the
// agent's extensions being in shadow mode has the same effect.
func TestSchemasThatReport(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode   ext.Mode
		shadow string
		want   []string
	}{
		"report": {ext.Report, "", []string{
			"schema /params/message/metadata/p.level false", "schema /params/message/parts/0/data false",
			"schema /result/task/metadata/p.level false", "schema /result/task/status/state false",
		}},
		"shadow": {"", "shadow", []string{
			"schema /params/message/metadata/p.level false", "schema /params/message/parts/0/data false",
			"schema /result/task/metadata/p.level false", "schema /result/task/status/state false",
		}},
		"off": {ext.Off, "", nil},
	} {
		for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10} {
			t.Run(name+" "+agent.String(), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithExtensions(strict(tt.mode)), func(s *proxytest.Setup) { s.Agent.Extensions.Mode = tt.shadow })
				w.AnswerIn(func(s proxytest.Words, id string) []string {
					return []string{s.Task(id, "failed", "", proxytest.Meta("p.level", `"x"`))}
				})
				s := proxytest.Words{Side: proxytest.RPC10}
				w.Utter(proxytest.RPC10, wire.SendMessage, s.Send(s.Data(`{"a":1}`), proxytest.Meta("p.level", `"x"`), ""), asking(proxytest.ExtensionURI)...).OK(t, name)
				want := strings.Join(tt.want, "\n")
				if agent == proxytest.REST10 {
					want = strings.ReplaceAll(want, "/result", "")
				}
				if got := strings.Join(violations(w, 1), "\n"); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// TestSchemasOfInactive: a profile that a call does not use has no say in it.
func TestSchemasOfInactive(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(strict("")))
	w.AnswerIn(func(s proxytest.Words, id string) []string {
		return []string{s.Task(id, "failed", "", proxytest.Meta("other", "1"))}
	})
	s := proxytest.Words{Side: proxytest.RPC10}
	w.Utter(proxytest.RPC10, wire.SendMessage, s.Send(s.Data(`{"a":1}`), "", "")).OK(t, "without the profile")
	if got := violations(w, 1); got != nil {
		t.Errorf("%v", got)
	}
}

// TestSchemasOfInjected: who has not asked for a profile that is injected is not told
// its name.
func TestSchemasOfInjected(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(strict("")), func(s *proxytest.Setup) { s.Agent.Extensions.Inject = []string{proxytest.ExtensionURI} })
	s := proxytest.Words{Side: proxytest.RPC10}
	got := w.Utter(proxytest.RPC10, wire.SendMessage, s.Send(s.Data(`{"a":1}`), "", ""))
	got.Told(t, "request", wire.InvalidParams, "/params/message/parts/0/data: maxProperties")
	w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "failed", "", "")} })
	for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		answer := w.Utter(proxytest.RPC10, method, s.Send("", "", ""))
		answer.Told(t, "answer", wire.BadAgentResponse, "the agent's answer: breaks the rules of an extension")
		if strings.Contains(got.Body+answer.Body, proxytest.ExtensionURI) {
			t.Errorf("the name is told: %s %s", got.Body, answer.Body)
		}
	}
}

// skilled has the skill read take and give orders.
func skilled(mode ext.Mode) func(*proxytest.Setup) {
	const order = `{"required":["sku"],"properties":{"sku":{"type":"string"}}}`
	return func(s *proxytest.Setup) {
		proxytest.WithTied(s)
		s.Agent.Skills = []agents.SkillConfig{
			{ID: "read", Input: proxytest.Inline(order), Output: proxytest.Inline(order), Schemas: mode},
			{ID: "write it"},
		}
	}
}

// TestSchemasOfSkills: data parts are what the skill takes and gives, in the words of
// every side.
func TestSchemasOfSkills(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), skilled(""))
	of := func(skill string) string { return proxytest.Meta(wire.SkillSelection, `"`+skill+`"`) }
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, caller := range proxytest.CallersOf(i, 0) {
			s, what := proxytest.Words{Side: caller}, fmt.Sprintf("%s to %s", caller, agent)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{arrival(s, id, artifact(s, s.Data(`{"sku":"a"}`), "")), s.Status(id, "completed", "")}
			})
			send := func(part, skill string) proxytest.Reply {
				return w.Utter(caller, wire.SendStreamingMessage, s.Send(part, "", of(skill)))
			}
			send(s.Data(`{"sku":"a"}`), "read").OK(t, what)
			send(s.Text("no data", ""), "read").OK(t, what)
			send(s.Data(`{"sku":1}`), "write it").OK(t, what+": of another skill")
			at := "/message/parts/1/data"
			if s.Proto() {
				at = "/message/content/1/data/data"
			}
			send(s.Text("x", "")+","+s.Data(`{"sku":1}`), "read").Told(t, what, wire.InvalidParams, at+"/sku: type")
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Status(id, "working", ""), arrival(s, id, artifact(s, s.Data(`{"sku":1}`), ""))}
			})
			send(s.Data(`{"sku":"a"}`), "write it").OK(t, what+": what another skill gives")
			got := send(s.Data(`{"sku":"a"}`), "read")
			got.Told(t, what, proxytest.BadAnswer(caller), "/sku: type")
			if len(got.Docs) == 0 {
				t.Errorf("%s: what came before is lost: %s", what, got.Body)
			}
		}
	}
}

// TestSchemasOfSkillsInModes: configured schemas may only report, or hide the card's.
func TestSchemasOfSkillsInModes(t *testing.T) {
	t.Parallel()
	legacy := func(doc func(string) string) func(string) string {
		return func(base string) string {
			return strings.Replace(doc(base), `{"id":"read",`,
				`{"id":"read","inputSchema":{"required":["sku"]},"outputSchema":{"required":["sku"]},`, 1)
		}
	}
	found := []string{"schema /params/message/parts/0/data false", "schema /result/task/artifacts/0/parts/0/data false"}
	tests := map[string]struct {
		card   func(string) string
		skills []agents.SkillConfig
		want   []string
	}{
		"report": {proxytest.CardFor(proxytest.RPC10), []agents.SkillConfig{
			{ID: "read", Input: proxytest.Inline(`{"required":["sku"]}`), Output: proxytest.Inline(`{"required":["sku"]}`), Schemas: ext.Report},
		}, found},
		"off":                     {proxytest.CardFor(proxytest.RPC10), []agents.SkillConfig{{ID: "read", Input: proxytest.Inline(`{"required":["sku"]}`), Schemas: ext.Off}}, nil},
		"card":                    {legacy(proxytest.CardFor(proxytest.RPC10)), nil, found},
		"card beside other words": {legacy(proxytest.CardFor(proxytest.RPC10)), []agents.SkillConfig{{ID: "read", Hidden: true}}, found},
		"card switched off":       {legacy(proxytest.CardFor(proxytest.RPC10)), []agents.SkillConfig{{ID: "read", Schemas: ext.Off}}, nil},
		"card overruled":          {legacy(proxytest.CardFor(proxytest.RPC10)), []agents.SkillConfig{{ID: "read", Input: proxytest.Inline(`true`)}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, tt.card, proxytest.WithTied, func(s *proxytest.Setup) { s.Agent.Skills = tt.skills })
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, s.Data(`{}`), "")+`]`)}
			})
			s := proxytest.Words{Side: proxytest.RPC10}
			w.Utter(proxytest.RPC10, wire.SendMessage, s.Send(s.Data(`{}`), "", proxytest.Meta(wire.SkillSelection, `"read"`))).OK(t, name)
			if got := violations(w, 1); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestSchemasOfLists: a list is held to them, whether the agent made it or the gateway,
// for an agent that has none.
func TestSchemasOfLists(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03, proxytest.RPC01} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithExtensions(strict("")))
		w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "completed", "", "")} })
		id := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(proxytest.ExtensionURI)...).OK(t, agent.String()), t)
		list := func(level string) proxytest.Reply {
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				task := proxytest.BareTask(proxytest.Words{Side: r.Side()}.Task(id, "completed", "", proxytest.Meta("p.level", level)))
				if r.Called().Name == wire.ListTasks {
					task = `{"tasks":[` + task + `],"pageSize":50,"totalSize":1}`
				}
				r.Say(rw, task)
			})
			return w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.ListTasks, Header: asking(proxytest.ExtensionURI)})
		}
		if got := list("4711").OK(t, agent.String()); !strings.Contains(got.Docs[0], "4711") {
			t.Errorf("%s: %s", agent, got.Docs[0])
		}
		list(`"x"`).Told(t, agent.String(), wire.BadAgentResponse, "/tasks/0/metadata/p.level: type", "("+proxytest.ExtensionURI+")")
	}
}
