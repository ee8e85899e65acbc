package ext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func inline(text string) schema.Source { return schema.Source{Inline: []byte(text)} }

// TestRegistryDefects: every error begins with the place and the key.
func TestRegistryDefects(t *testing.T) {
	t.Parallel()
	badStates := func(change func(*ext.StatesConfig)) *ext.StatesConfig {
		s := payment()
		change(s)
		return s
	}
	tests := []struct {
		name  string
		entry ext.Entry // the second; its URI is uriB unless it says otherwise
		want  string
	}{
		{"no URI", ext.Entry{URI: "b"}, `[1].uri: extension "b": not an absolute URI`},
		{"listed twice", ext.Entry{URI: uriA}, `[1].uri: extension "` + uriA + `" is listed twice`},
		{"kind", ext.Entry{Kind: "profiles"}, `[1].kind: "profiles" is none of data, profile, method, state`},
		{"status", ext.Entry{Status: "off"}, `[1].status: "off" is none of allowed, deprecated, blocked`},
		{"validation", ext.Entry{Validation: "on"}, `[1].validation: "on" is none of off, report, enforce`},
		{"sunset is no date", ext.Entry{Status: ext.Deprecated, Sunset: "2027-02-29"}, "[1].sunset: "},
		{"sunset of what is allowed", ext.Entry{Sunset: "2027-03-31"}, "[1].sunset: "},
		{"replacement is no URI", ext.Entry{Status: ext.Deprecated, Replacement: "x"}, "[1].replacement: "},
		{"replaced by itself", ext.Entry{Status: ext.Blocked, Replacement: uriB}, "[1].replacement: "},
		{"replacement of what is allowed", ext.Entry{Replacement: uriC}, "[1].replacement: "},
		{"digest", ext.Entry{Specification: "x", Digest: "sha256:AB"}, "[1].digest: "},
		{"digest of nothing", ext.Entry{Digest: "sha256:" + strings.Repeat("0", 64)}, "[1].digest: "},
		{"dependency", needing("c"), "[1].dependencies.required: "},
		{"dependency twice", needing(uriC, uriC), "[1].dependencies.required: "},
		{"itself", needing(uriB), "[1].dependencies.required: extensions that need each other: "},
		{"a cycle", needing(uriA), "[1].dependencies.required: extensions that need each other: " +
			strings.Join([]string{uriA, uriB, uriA}, ", ")},
		{"optional and required", ext.Entry{Dependencies: ext.Dependencies{
			Required: []string{uriC}, Optional: []string{uriC},
		}}, "[1].dependencies: "},
		{"optional itself", ext.Entry{Dependencies: ext.Dependencies{Optional: []string{uriB}}},
			"[1].dependencies.optional: "},
		{"every key", ext.Entry{Metadata: []string{"*"}}, "[1].metadata: "},
		{"a key twice", ext.Entry{Metadata: []string{"a", "a"}}, `[1].metadata: "a" is listed twice`},
		{"star in between", ext.Entry{Metadata: []string{"a*b"}}, "[1].metadata: "},
		{"data with methods", ext.Entry{Kind: ext.Data, Methods: []ext.MethodConfig{{}}}, "[1].methods: "},
		{"profile with methods", ext.Entry{Methods: []ext.MethodConfig{{}}}, "[1].methods: "},
		{"profile with states", ext.Entry{States: payment()}, "[1].states: "},
		{"data with schemas", ext.Entry{Kind: ext.Data, Schemas: ext.Schemas{Part: inline("{}")}}, "[1].schemas: "},
		{"data with defaults", ext.Entry{Kind: ext.Data, Defaults: map[string]secret.JSON{"a": nil}}, "[1].defaults: "},
		{"no key", withStates(badStates(func(s *ext.StatesConfig) { s.Key = "" })), "[1].states.key: "},
		{"no beginning", withStates(badStates(func(s *ext.StatesConfig) { s.Initial = nil })), "[1].states.initial: "},
		{"a nameless state", withStates(badStates(func(s *ext.StatesConfig) { s.Transitions[""] = nil })),
			"[1].states.transitions: "},
		{"within an unknown state", withStates(badStates(func(s *ext.StatesConfig) { s.Within["x"] = nil })),
			`[1].states.within: no task comes to state "x"`},
		{"within a 0.3 state", withStates(badStates(func(s *ext.StatesConfig) {
			s.Within["required"] = []string{"input-required"}
		})), "[1].states.within: "},
		{"hook", ext.Entry{Hooks: []hook.Config{{URL: "ftp://x"}}}, "[1].hooks[0]"},
		{"params schema", ext.Entry{Schemas: ext.Schemas{Params: inline(`{"type": 7}`)}}, "[1].schemas.params: "},
		{"metadata schema", ext.Entry{Schemas: ext.Schemas{Metadata: map[string]schema.Source{
			"k": inline(`{"type": 7}`),
		}}}, `[1].schemas.metadata: "k": `},
		{"about", withMethod(ext.MethodConfig{Name: "x/y", About: "agents"}), "[1].methods[0].about: "},
		{"core name", withMethod(ext.MethodConfig{Name: "message/send"}), "[1].methods[0]: "},
		{"verb", withMethod(ext.MethodConfig{Name: "x/y", Verb: "PUT", Path: "/x"}), "[1].methods[0]: "},
		{"verb alone", withMethod(ext.MethodConfig{Name: "x/y", Verb: "POST"}), "[1].methods[0]: "},
		{"another's name", withMethod(ext.MethodConfig{Name: "a/find"}), `method "a/find"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.entry.URI == "" {
				tt.entry.URI = uriB
			}
			first := needing(uriB)
			first.URI, first.Kind, first.Metadata = uriA, ext.Method, []string{"a.*"}
			first.Methods = []ext.MethodConfig{{Name: "a/find"}}
			book, err := ext.Registry{first, tt.entry}.Compile()
			if err == nil || book != nil {
				t.Fatalf("compiled, %v", err)
			}
			if !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool {
				return strings.HasPrefix(line, tt.want)
			}) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func needing(uris ...string) ext.Entry {
	return ext.Entry{Dependencies: ext.Dependencies{Required: uris}}
}

func withStates(s *ext.StatesConfig) ext.Entry { return ext.Entry{Kind: ext.States, States: s} }

func withMethod(m ext.MethodConfig) ext.Entry {
	return ext.Entry{Kind: ext.Method, Methods: []ext.MethodConfig{m}}
}

// TestEveryDefectIsNamed: not only the first.
func TestEveryDefectIsNamed(t *testing.T) {
	t.Parallel()
	err := ext.Registry{{URI: "x", Kind: "y"}, {URI: uriA, Status: "z"}}.Validate()
	for _, want := range []string{"[0].uri: ", "[0].kind: ", "[1].status: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	find := ext.MethodConfig{
		Name: "tasks/find", Verb: "POST", Path: "/tasks:find", About: "tasks", Skill: "search",
	}
	mark := ext.MethodConfig{
		Name: "tasks/mark", RPC: "/acme.v1.Marks/Mark", TaskTag: 2, About: "task", Task: "target", Writes: true,
	}
	book := compiled(t, ext.Registry{
		// A blocked extension's names are free for its successor's methods.
		{URI: uriC, Kind: ext.Method, Status: ext.Blocked, Methods: []ext.MethodConfig{find}},
		{URI: uriA, Kind: ext.Method, Methods: []ext.MethodConfig{find, mark}},
		{URI: uriB, Kind: ext.Method, Methods: []ext.MethodConfig{
			{Name: "talk/now", About: "message", Streaming: true}, {Name: "status/now"},
		}},
	})
	want := []wire.Method{
		{Name: "tasks/find", V03: "tasks/find", Extension: uriA, Subject: wire.OfCaller,
			Verbs: []string{"POST"}, Path: "/tasks:find"},
		{Name: "tasks/mark", V03: "tasks/mark", Extension: uriA, Subject: wire.OfTask, Writes: true,
			RPCPath: "/acme.v1.Marks/Mark", TaskTag: 2, TaskField: "target"},
		{Name: "talk/now", V03: "talk/now", Extension: uriB, Subject: wire.OfMessage, Streams: true},
		{Name: "status/now", V03: "status/now", Extension: uriB, Subject: wire.OfAgent},
	}
	methods := book.Extra().Methods()
	var got []wire.Method
	for _, m := range methods {
		got = append(got, *m)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if s := book.Skill(methods[0]); s != "search" {
		t.Errorf("tasks/find needs skill %q", s)
	}
	core, _ := wire.ByName(wire.V10, wire.SendMessage)
	if s := book.Skill(methods[1]) + book.Skill(core) + book.Skill(nil); s != "" {
		t.Errorf("a method without a skill needs %q", s)
	}
}

func TestTooManyMethods(t *testing.T) {
	t.Parallel()
	e := ext.Entry{URI: uriA, Kind: ext.Method}
	for i := range 50 {
		e.Methods = append(e.Methods, ext.MethodConfig{Name: fmt.Sprintf("acme/m%d", i)})
	}
	compiled(t, ext.Registry{e})
	e.Methods = append(e.Methods, ext.MethodConfig{Name: "acme/more"})
	if _, err := (ext.Registry{e}).Compile(); err == nil || !strings.Contains(err.Error(), "at most 50") {
		t.Errorf("err = %v", err)
	}
}

func TestRegistryFromYAML(t *testing.T) {
	t.Parallel()
	const in = `
- uri: ` + uriA + `
  kind: state
  status: deprecated
  replacement: ` + uriB + `
  sunset: 2027-03-31
  metadata: [pay.*]
  defaults: {pay.currency: EUR}
  schemas:
    request: {type: object}
    metadata: {pay.status: {type: string}}
  methods:
    - {name: pay/refund, verb: POST, path: "/tasks/{task}:refund", about: task, writes: true}
  states:
    key: pay.status
    initial: [required]
    transitions: {required: [paid]}
  validation: report
`
	var r ext.Registry
	if err := yaml.Load([]byte(in), &r, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	book := compiled(t, r)
	s := book.Schemas(uriA)
	if s == nil || s.Request == nil || s.Metadata["pay.status"] == nil || s.Message != nil {
		t.Fatalf("schemas %+v", s)
	}
	if err := s.Metadata["pay.status"].Check([]byte("7")); err == nil {
		t.Error("a number is a string")
	}
	e, ok := book.Entry(uriA)
	if !ok || e.Validation != ext.Report || string(e.Defaults["pay.currency"]) != `"EUR"` {
		t.Errorf("entry %+v", e)
	}
	if w := book.Warnings(); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
}
