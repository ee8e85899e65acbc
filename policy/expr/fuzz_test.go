package expr

import (
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// FuzzCompile: whatever the text, there is either a program or a problem, and the program
// has a result or a reason.
func FuzzCompile(f *testing.F) {
	for _, text := range slices.Concat(holding, []string{
		"", "true", "1/0 == 1", "message.parts.all(p, message.parts.all(q, p == q))", `agent.matches("((a{30}){30}){30}")`,
		`"\xff" == agent`, "[[[[[[[[[[[[", "{'a': {'b': [1]}}.a.b[0] == 1", "wire.Part{kind: 'x'}.kind == 'x'", "!!!!!!!true",
	}) {
		f.Add(text)
	}
	env := environment(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, problems := env.Compile(text)
		if (p == nil) == (problems == nil) {
			t.Fatalf("%v, %q", p, problems)
		}
		if p == nil {
			return
		}
		for _, v := range []*Vars{call(), {}} {
			if got, err := p.Evaluate(v); got && err != nil {
				t.Fatalf("both %v and %v", got, err)
			} else if value, known := p.Constant(); known && err == nil && got != value {
				t.Fatalf("%v, and always %v", got, value)
			}
		}
	})
}

// FuzzEvaluate: whatever the message, expressions that look at all of it come to an end.
func FuzzEvaluate(f *testing.F) {
	f.Add("text", "hello", "key", 1.5, true)
	f.Add("", "\xff\x00", "", -0.0, false)
	f.Add("data", "2026-11-18T12:00:00Z", "::1", 1e300, true)
	env := environment(f)
	var programs []*Program
	for _, text := range append(slices.Clone(holding), faulty...) {
		programs = append(programs, program(f, env, text))
	}
	f.Fuzz(func(t *testing.T, kind, text, key string, number float64, nested bool) {
		var data any = map[string]any{key: number, "tags": []any{text, number, nil}}
		if nested {
			data = []any{data, map[string]any{"amount": data, "secret": text}}
		}
		object := map[string]any{key: data, "secret": text, "priority": number, "draft": data}
		for _, m := range []*wire.Message{
			{},
			{ID: text, Role: kind, Metadata: object, CallMetadata: object, Extensions: []string{text, key}},
			{Metadata: object, Parts: []wire.Part{
				{Kind: kind, Text: text, Bytes: int64(number), Metadata: object}, {URL: text, Name: key, MediaType: kind}, {Kind: kind, Data: data},
			}},
		} {
			v := call()
			v.Message = m
			for _, p := range programs {
				if got, err := p.Evaluate(v); got && err != nil {
					t.Fatalf("both %v and %v", got, err)
				}
			}
		}
	})
}
