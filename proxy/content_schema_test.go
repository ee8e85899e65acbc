package proxy_test

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
)

// strict is an entry of profile with a schema of each kind. That of parts refuses the
// forms that they have before 1.0.
func strict(mode ext.Mode) ext.Entry {
	return ext.Entry{
		URI: profile, Metadata: []string{"p.*"}, Validation: mode,
		Schemas: ext.Schemas{
			Request:  inline(`{"required":["code"],"properties":{"code":{"type":"integer"}}}`),
			Metadata: map[string]schema.Source{"p.level": inline(`{"type":"integer"}`)},
			Message:  inline(`{"properties":{"metadata":{"properties":{"p.message":false}}}}`),
			Artifact: inline(`{"properties":{"metadata":{"properties":{"p.artifact":false}}}}`),
			Status:   inline(`{"properties":{"state":{"not":{"const":"TASK_STATE_FAILED"}}}}`),
			Part: inline(`{"not":{"anyOf":[{"required":["kind"]},{"required":["type"]}]},
				"properties":{"data":{"maxProperties":0},"metadata":{"properties":{"p.part":false}}}}`),
		},
	}
}

// asked are the requests of the tests, and where each breaks a schema, "" for nowhere:
// "parts" is what the side calls it.
var asked = []struct {
	name  string
	words func(words) string
	at    string
}{
	{"plain", func(s words) string { return s.send("", "", "") }, ""},
	{"good", func(s words) string {
		return s.send(s.text("hi", meta("p.level", "1")), meta("p.level", "2"), meta(profile, `{"code":4711}`))
	}, ""},
	{"request", func(s words) string { return s.send("", "", meta(profile, `{}`)) }, "/metadata/urn:declared: required"},
	{"in request", func(s words) string { return s.send("", "", meta(profile, `{"code":"secret"}`)) }, "/metadata/urn:declared/code: type"},
	{"key", func(s words) string { return s.send("", meta("p.level", `"secret"`), "") }, "/message/metadata/p.level: type"},
	{"key of the request", func(s words) string { return s.send("", "", meta("p.level", `"secret"`)) }, "/metadata/p.level: type"},
	{"key of a part", func(s words) string {
		return s.send(s.text("hi", "")+","+s.text("hi", meta("p.level", `null`)), "", "")
	}, "/message/PARTS/1/metadata/p.level: type"},
	{"message", func(s words) string { return s.send("", meta("p.message", "1"), "") }, "/message/metadata/p.message: schema"},
	{"part", func(s words) string { return s.send(s.text("hi", meta("p.part", "1")), "", "") }, "/message/parts/0/metadata/p.part: schema"},
	{"data", func(s words) string { return s.send(s.data(`{"a":1}`), "", "") }, "/message/parts/0/data: maxProperties"},
}

// TestSchemasOfRequests: what a caller says breaks the schemas of a profile, or does
// not, in the words of every side; the agent sees none that does.
func TestSchemasOfRequests(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), knows(strict("")))
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for j, tt := range asked {
			for _, caller := range callersOf(i, j) {
				what := fmt.Sprintf("%s to %s: %s", caller, agent, tt.name)
				for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
					got := w.utter(caller, method, tt.words(words{caller}), asking(profile)...)
					if tt.at == "" {
						got.ok(t, what)
						w.agent.one(t)
						continue
					}
					at := strings.Replace(tt.at, "PARTS", map[bool]string{false: "parts", true: "content"}[words{caller}.proto()], 1)
					if caller.Binding == wire.JSONRPC {
						at = "/params" + at
					}
					got.told(t, what, wire.InvalidParams, "Invalid parameters: "+at, "("+profile+")")
					if strings.Contains(got.body, "secret") {
						t.Errorf("%s: the value is repeated: %s", what, got.body)
					}
					w.agent.silent(t, what)
				}
			}
		}
	}
}

// answeredCase is an answer, or the events of a stream.
type answeredCase struct {
	name  string
	words func(s words, id string) []string
	at    string // where it breaks a schema, "" for nowhere
}

// check looks at what a caller heard, behind events that are good.
func (c answeredCase) check(t *testing.T, what string, caller wire.Side, got said, before int) {
	t.Helper()
	if c.at == "" {
		got.ok(t, what)
		return
	}
	got.told(t, what, badAnswer(caller), c.at, "("+profile+")")
	// In front of 1.0's callers the first update has a task before it.
	if n := len(got.docs); n < before || n > 2*before {
		t.Errorf("%s: %d documents before the error: %s", what, n, got.body)
	}
	if strings.Contains(got.body, "secret") {
		t.Errorf("%s: the value is repeated: %s", what, got.body)
	}
}

var answered = []answeredCase{
	{"plain", func(s words, id string) []string { return []string{s.task(id, "completed", "", "")} }, ""},
	{"good", func(s words, id string) []string {
		return []string{s.task(id, "completed", s.message("agent", s.text("hi", meta("p.level", "1")), ""), meta("p.level", "3"))}
	}, ""},
	{"old", func(s words, id string) []string {
		// History may be of calls in which the profile was not active.
		return []string{s.task(id, "completed", "", `,"history":[`+s.message("agent", s.text("hi", meta("p.part", "1")), meta("p.level", `"secret"`))+`]`)}
	}, ""},
	{"task", func(s words, id string) []string {
		return []string{s.task(id, "completed", "", meta("p.level", `"secret"`))}
	}, "/metadata/p.level: type"},
	{"key of a message", func(s words, id string) []string {
		return []string{s.task(id, "completed", s.message("agent", s.text("hi", ""), meta("p.level", `"secret"`)), "")}
	}, "/message/metadata/p.level: type"},
	{"message", func(s words, id string) []string {
		return []string{s.task(id, "completed", s.message("agent", s.text("hi", ""), meta("p.message", `"secret"`)), "")}
	}, "/status/message/metadata/p.message: schema"},
	{"status", func(s words, id string) []string { return []string{s.task(id, "failed", "", "")} }, "/status/state: not"},
	{"artifact", func(s words, id string) []string {
		return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(s.text("hi", ""), meta("p.artifact", "1"))+`]`)}
	}, "/artifacts/0/metadata/p.artifact: schema"},
	{"data", func(s words, id string) []string {
		return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(s.data(`{"a":1}`), "")+`]`)}
	}, "/artifacts/0/parts/0/data: maxProperties"},
	{"event with a status", func(s words, id string) []string {
		return []string{s.status(id, "working", ""), s.status(id, "failed", "")}
	}, "/status/state: not"},
	{"event with an artifact", func(s words, id string) []string {
		return []string{s.status(id, "working", ""), s.arrival(id, s.artifact(s.text("hi", meta("p.part", "1")), ""))}
	}, "/artifact/parts/0/metadata/p.part: schema"},
}

// TestSchemasOfAnswers: an answer that breaks a schema is withheld, in a stream with an
// error behind what came before.
func TestSchemasOfAnswers(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), knows(strict("")))
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for j, tt := range answered {
			if agent == rpc01 && tt.name == "artifact" {
				continue // 0.1's have no list of extensions, and the table's words no metadata
			}
			for _, caller := range callersOf(i, j) {
				what := fmt.Sprintf("%s to %s: %s", caller, agent, tt.name)
				if !strings.HasPrefix(tt.name, "event") && (agent != rpc01 || tt.name != "old") {
					w.tells(tt.words)
					tt.check(t, what, caller, w.utter(caller, wire.SendMessage, words{caller}.send("", "", ""), asking(profile)...), 0)
				}
				w.tells(func(s words, id string) []string {
					list := tt.words(s, id)
					if len(list) > 1 {
						return list
					}
					return append([]string{s.status(id, "working", "")}, list...)
				})
				if agent == rpc01 && !strings.HasPrefix(tt.name, "event") {
					continue // it streams no tasks
				}
				tt.check(t, what+" in a stream", caller, w.utter(caller, wire.SendStreamingMessage, words{caller}.send("", "", ""), asking(profile)...), 1)
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
		for _, agent := range []wire.Side{rpc10, rest10} {
			t.Run(name+" "+agent.String(), func(t *testing.T) {
				t.Parallel()
				w := in(t, speaks(agent), knows(strict(tt.mode)), func(s *setup) { s.agent.Extensions.Mode = tt.shadow })
				w.tells(func(s words, id string) []string {
					return []string{s.task(id, "failed", "", meta("p.level", `"x"`))}
				})
				s := words{rpc10}
				w.utter(rpc10, wire.SendMessage, s.send(s.data(`{"a":1}`), meta("p.level", `"x"`), ""), asking(profile)...).ok(t, name)
				want := strings.Join(tt.want, "\n")
				if agent == rest10 {
					want = strings.ReplaceAll(want, "/result", "")
				}
				if got := strings.Join(w.violations(1), "\n"); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// TestSchemasOfInactive: a profile that a call does not use has no say in it.
func TestSchemasOfInactive(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), knows(strict("")))
	w.tells(func(s words, id string) []string { return []string{s.task(id, "failed", "", meta("other", "1"))} })
	s := words{rpc10}
	w.utter(rpc10, wire.SendMessage, s.send(s.data(`{"a":1}`), "", "")).ok(t, "without the profile")
	if got := w.violations(1); got != nil {
		t.Errorf("%v", got)
	}
}

// TestSchemasOfInjected: who has not asked for a profile that is injected is not told
// its name.
func TestSchemasOfInjected(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), knows(strict("")), func(s *setup) { s.agent.Extensions.Inject = []string{profile} })
	s := words{rpc10}
	got := w.utter(rpc10, wire.SendMessage, s.send(s.data(`{"a":1}`), "", ""))
	got.told(t, "request", wire.InvalidParams, "/params/message/parts/0/data: maxProperties")
	w.tells(func(s words, id string) []string { return []string{s.task(id, "failed", "", "")} })
	for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		answer := w.utter(rpc10, method, s.send("", "", ""))
		answer.told(t, "answer", wire.BadAgentResponse, "the agent's answer: breaks the rules of an extension")
		if strings.Contains(got.body+answer.body, profile) {
			t.Errorf("the name is told: %s %s", got.body, answer.body)
		}
	}
}

// skilled has the skill read take and give orders.
func skilled(mode ext.Mode) func(*setup) {
	const order = `{"required":["sku"],"properties":{"sku":{"type":"string"}}}`
	return func(s *setup) {
		tied(s)
		s.agent.Skills = []agents.SkillConfig{
			{ID: "read", Input: inline(order), Output: inline(order), Schemas: mode},
			{ID: "write it"},
		}
	}
}

// TestSchemasOfSkills: data parts are what the skill takes and gives, in the words of
// every side.
func TestSchemasOfSkills(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), skilled(""))
	of := func(skill string) string { return meta(wire.SkillSelection, `"`+skill+`"`) }
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for _, caller := range callersOf(i, 0) {
			s, what := words{caller}, fmt.Sprintf("%s to %s", caller, agent)
			w.tells(func(s words, id string) []string {
				return []string{s.arrival(id, s.artifact(s.data(`{"sku":"a"}`), "")), s.status(id, "completed", "")}
			})
			send := func(part, skill string) said {
				return w.utter(caller, wire.SendStreamingMessage, s.send(part, "", of(skill)))
			}
			send(s.data(`{"sku":"a"}`), "read").ok(t, what)
			send(s.text("no data", ""), "read").ok(t, what)
			send(s.data(`{"sku":1}`), "write it").ok(t, what+": of another skill")
			at := "/message/parts/1/data"
			if s.proto() {
				at = "/message/content/1/data/data"
			}
			send(s.text("x", "")+","+s.data(`{"sku":1}`), "read").told(t, what, wire.InvalidParams, at+"/sku: type")
			w.tells(func(s words, id string) []string {
				return []string{s.status(id, "working", ""), s.arrival(id, s.artifact(s.data(`{"sku":1}`), ""))}
			})
			send(s.data(`{"sku":"a"}`), "write it").ok(t, what+": what another skill gives")
			got := send(s.data(`{"sku":"a"}`), "read")
			got.told(t, what, badAnswer(caller), "/sku: type")
			if len(got.docs) == 0 {
				t.Errorf("%s: what came before is lost: %s", what, got.body)
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
		"report": {speaks(rpc10), []agents.SkillConfig{
			{ID: "read", Input: inline(`{"required":["sku"]}`), Output: inline(`{"required":["sku"]}`), Schemas: ext.Report},
		}, found},
		"off":                     {speaks(rpc10), []agents.SkillConfig{{ID: "read", Input: inline(`{"required":["sku"]}`), Schemas: ext.Off}}, nil},
		"card":                    {legacy(speaks(rpc10)), nil, found},
		"card beside other words": {legacy(speaks(rpc10)), []agents.SkillConfig{{ID: "read", Hidden: true}}, found},
		"card switched off":       {legacy(speaks(rpc10)), []agents.SkillConfig{{ID: "read", Schemas: ext.Off}}, nil},
		"card overruled":          {legacy(speaks(rpc10)), []agents.SkillConfig{{ID: "read", Input: inline(`true`)}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := in(t, tt.card, tied, func(s *setup) { s.agent.Skills = tt.skills })
			w.tells(func(s words, id string) []string {
				return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(s.data(`{}`), "")+`]`)}
			})
			s := words{rpc10}
			w.utter(rpc10, wire.SendMessage, s.send(s.data(`{}`), "", meta(wire.SkillSelection, `"read"`))).ok(t, name)
			if got := w.violations(1); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestSchemasOfLists: a list is held to them, whether the agent made it or the gateway,
// for an agent that has none.
func TestSchemasOfLists(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, grpc10, rpc03, rest03, rpc01} {
		w := in(t, speaks(agent), knows(strict("")))
		w.tells(func(s words, id string) []string { return []string{s.task(id, "completed", "", "")} })
		id := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", ""), asking(profile)...).ok(t, agent.String()).task(t)
		list := func(level string) said {
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				task := bare(words{r.side()}.task(id, "completed", "", meta("p.level", level)))
				if r.method().Name == wire.ListTasks {
					task = `{"tasks":[` + task + `],"pageSize":50,"totalSize":1}`
				}
				r.say(rw, task)
			})
			return w.speak("tied", w.base, rpc10, ask{method: wire.ListTasks, header: asking(profile)})
		}
		if got := list("4711").ok(t, agent.String()); !strings.Contains(got.docs[0], "4711") {
			t.Errorf("%s: %s", agent, got.docs[0])
		}
		list(`"x"`).told(t, agent.String(), wire.BadAgentResponse, "/tasks/0/metadata/p.level: type", "("+profile+")")
	}
}
