package fold

import "testing"

// TestAltered: which artifacts have another content than what was seen of them.
func TestAltered(t *testing.T) {
	t.Parallel()
	seen := []string{
		begun, chunk(`{"artifactId":"a","name":"n","parts":[{"text":"a b"}]}`, ``), chunk(`{"artifactId":"a","parts":[{"text":" c"},{"data":{"x":1,"y":2}}]}`, `,"append":true`),
	}
	for _, test := range []struct {
		name, parts string
		want        bool
	}{
		{"as it was", `[{"text":"a b"},{"text":" c"},{"data":{"x":1,"y":2}}]`, false},
		{"in one piece", `[{"text":"a b c"},{"data":{"y":2,"x":1}}]`, false},
		{"in other pieces", `[{"text":"a"},{"text":" b c","metadata":null},{"data":{"x":1,"y":2}}]`, false},
		{"escaped", `[{"text":"\u0061 b c"},{"data":{"x":1,"y":2}}]`, false},
		{"another word", `[{"text":"a b d"},{"data":{"x":1,"y":2}}]`, true},
		{"another value", `[{"text":"a b c"},{"data":{"x":1,"y":3}}]`, true},
		{"more", `[{"text":"a b c"},{"data":{"x":1,"y":2}},{"text":"d"}]`, true},
		{"less", `[{"text":"a b c"}]`, true},
		{"another order", `[{"data":{"x":1,"y":2}},{"text":"a b c"}]`, true},
		{"nothing", `[]`, true},
		{"another word, and half a character", `[{"text":"a b \ud83d"},{"data":{"x":1,"y":2}}]`, true},
		{"the same, and half a character", `[{"text":"a b c","metadata":null},{"data":{"x":1,"y":2}}],"metadata":{"m":"\ud83d"}`, false},
	} {
		task := folded(t, seen...)
		before := snapshot(t, task)
		got, err := task.Altered([]byte(`{"id":"T","status":{"state":"S"},"artifacts":[{"artifactId":"new","parts":[]},{"artifactId":"a","parts":` + test.parts + `}]}`))
		if err != nil || got != test.want {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
		by, err := task.AlteredBy([]byte(chunk(`{"artifactId":"a","parts":`+test.parts+`}`, ``)))
		if err != nil || by != test.want {
			t.Errorf("%s, by an update: %v, %v", test.name, by, err)
		}
		if after := snapshot(t, task); after != before {
			t.Errorf("%s: the task became %s", test.name, after)
		}
	}
	task := folded(t, seen...)
	for _, doc := range []string{`{"id":"T"}`, `{"id":"T","artifacts":[]}`, `{"id":"T","artifacts":[{"artifactId":"a","parts":[]},{"artifactId":"a"}]}`} {
		if got, err := task.Altered([]byte(doc)); got || err != nil {
			t.Errorf("%s: %v, %v", doc, got, err)
		}
	}
	for _, event := range []string{begun, updated(`{"state":"S"}`), chunk(`{"artifactId":"b","parts":[]}`, ``), chunk(`{"artifactId":"a","parts":[]}`, `,"append":true`)} {
		if got, err := task.AlteredBy([]byte(event)); got || err != nil {
			t.Errorf("%s: %v, %v", event, got, err)
		}
	}
	for _, doc := range []string{`{"id":"U"}`, `7`, `{`} {
		if got, err := task.Altered([]byte(doc)); got || err == nil {
			t.Errorf("%s: %v, %v", doc, got, err)
		}
	}
}
