package fold

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const begun = `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"}}}`

func updated(status string) string {
	return `{"statusUpdate":{"taskId":"T","contextId":"C","status":` + status + `}}`
}

func chunk(artifact, more string) string {
	return `{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":` + artifact + more + `}}`
}

func folded(t *testing.T, events ...string) *Task {
	t.Helper()
	task := &Task{}
	for _, event := range events {
		if err := task.Apply([]byte(event)); err != nil {
			t.Fatalf("%s: %v", event, err)
		}
	}
	return task
}

func snapshot(t *testing.T, task *Task) string {
	t.Helper()
	doc, err := task.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !jsontext.Value(doc).IsValid() {
		t.Fatalf("the snapshot is no JSON: %s", doc)
	}
	return string(doc)
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	const said = `{"state":"TASK_STATE_WORKING","message":{"messageId":"m1","parts":[{"text":"a"}]}}`
	for _, test := range []struct {
		name   string
		events []string
		want   string
	}{
		{"a task as it stands", []string{`{"task":{"x":{"y": 1.50},"id":"T","status":{"state":"S","z":null},"history":[],"artifacts":[],"n":9007199254740993}}`},
			`{"x":{"y": 1.50},"id":"T","status":{"state":"S","z":null},"history":[],"artifacts":[],"n":9007199254740993}`},
		{"snake case", []string{`{"task":{"id":"T","context_id":"C"}}`, `{"status_update":{"task_id":"T","status":{"state":"S"}}}`,
			`{"artifact_update":{"task_id":"T","artifact":{"artifact_id":"a","parts":[1]}}}`, chunk(`{"artifactId":"a","parts":[2]}`, `,"append":true`)},
			`{"id":"T","context_id":"C","status":{"state":"S"},"artifacts":[{"artifact_id":"a","parts":[1,2]}]}`},
		{"another status", []string{begun, updated(`{"state":"TASK_STATE_WORKING","timestamp":"t"}`)},
			`{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING","timestamp":"t"}}`},
		{"the old message becomes history", []string{begun, updated(said), updated(`{"state":"S"}`)},
			`{"id":"T","contextId":"C","status":{"state":"S"},"history":[{"messageId":"m1","parts":[{"text":"a"}]}]}`},
		{"but once", []string{`{"task":{"id":"T","status":` + said + `,"history":[{"message_id":"m1"}]}}`, updated(`{"state":"S"}`)},
			`{"id":"T","status":{"state":"S"},"history":[{"message_id":"m1"}],"contextId":"C"}`},
		{"a message without an id", []string{begun, updated(`{"state":"S","message":{}}`), updated(`{"state":"S"}`)},
			`{"id":"T","contextId":"C","status":{"state":"S"}}`},
		{"a message without an id in a history", []string{`{"task":{"id":"T","history":[]}}`, updated(`{"state":"S","message":{}}`), updated(`{"state":"S"}`)},
			`{"id":"T","history":[{}],"contextId":"C","status":{"state":"S"}}`},
		{"metadata of the task", []string{`{"task":{"id":"T","metadata":{"a":1,"b":2}}}`,
			`{"statusUpdate":{"taskId":"T","status":{"state":"S"},"metadata":{"b":{"c":3},"d":null}}}`},
			`{"id":"T","metadata":{"a":1,"b":{"c":3},"d":null},"status":{"state":"S"}}`},
		{"artifacts in order of appearance", []string{begun, chunk(`{"artifactId":"b","parts":[1]}`, ``), chunk(`{"artifactId":"a","parts":[2]}`, ``), chunk(`{"artifactId":"b","parts":[3]}`, `,"append":false`)},
			`{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"},"artifacts":[{"artifactId":"b","parts":[3]},{"artifactId":"a","parts":[2]}]}`},
		{"chunks", []string{begun, chunk(`{"x":0,"parts":[{"text":"a"}],"artifactId":"a","name":"n","metadata":{"k":1}}`, ``),
			chunk(`{"artifactId":"a","parts":[{"text":"b"},{"text":"c"}],"name":null,"y":[],"metadata":{"l":2}}`, `,"append":true,"lastChunk":true,"metadata":{"of":"the chunk"}`)},
			`{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"},"artifacts":[{"x":0,"parts":[{"text":"a"},{"text":"b"},{"text":"c"}],"artifactId":"a","name":"n","metadata":{"k":1,"l":2},"y":[]}]}`},
		{"a chunk of an unknown artifact", []string{begun, chunk(`{"artifactId":"a","parts":[1]}`, `,"append":true`), chunk(`{"artifactId":"a","parts":[2]}`, `,"append":true`)},
			`{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"},"artifacts":[{"artifactId":"a","parts":[1,2]}]}`},
		{"two of one id", []string{`{"task":{"id":"T","artifacts":[{"artifactId":"a","parts":[1]},{"artifactId":"a","parts":[2]}]}}`, chunk(`{"artifactId":"a","parts":[3]}`, `,"append":true`)},
			`{"id":"T","artifacts":[{"artifactId":"a","parts":[1,3]},{"artifactId":"a","parts":[2]}],"contextId":"C"}`},
		{"what is empty and how it is written", []string{
			`{"task":{ "metadata": {}, "id" :"T", "contextId": "", "status": {"state":"S", "metadata":{}}, "artifacts": [ {"artifactId": "a", "parts": [ {"text":"x"} , {"data":1.0}], "metadata": {}, "extensions": []} , {"artifactId":"b"}], "history": [ {"messageId":"m"}, {"messageId":"n"} ], "x-new": {"n":1.0,"e":{},"l":[],"z":null}}}`,
			`{"statusUpdate":{"taskId":"T","status":{"state":"W","message":{"messageId":"o"}},"metadata":{}}}`},
			`{ "metadata": {}, "id" :"T", "contextId": "", "status": {"state":"W","message":{"messageId":"o"}}, "artifacts": [ {"artifactId": "a", "parts": [ {"text":"x"} , {"data":1.0}], "metadata": {}, "extensions": []} , {"artifactId":"b"}], "history": [ {"messageId":"m"}, {"messageId":"n"} ], "x-new": {"n":1.0,"e":{},"l":[],"z":null}}`},
		{"nulls", []string{`{"task":{"id":"T","contextId":null,"artifacts":null,"history":null,"metadata":null,"status":null}}`, `{"statusUpdate":{"taskId":"T","metadata":{}}}`},
			`{"id":"T","contextId":null,"artifacts":null,"history":null,"metadata":null,"status":null}`},
		{"in the place of nulls", []string{`{"task":{"id":"T","contextId":null,"artifacts":null,"history":null,"metadata":null,"status":null,"x":0}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","metadata":{ "k": 1.0 },"status":{"state":"S","message":{"messageId":"m"}}}}`, updated(`{"state":"W"}`), chunk(`{"artifactId":"a","metadata":{}}`, ``)},
			`{"id":"T","contextId":"C","artifacts":[{"artifactId":"a","metadata":{}}],"history":[{"messageId":"m"}],"metadata":{"k":1.0},"status":{"state":"W"},"x":0}`},
		{"of what has changed, the rest", []string{
			`{"task":{"id": "T", "contextId": "C", "artifacts": [ {"metadata": {}, "artifactId": "a", "parts": [ {"n":1.0} , 2] }, {"artifactId":"b", "extensions": [] } ], "history": [ {"messageId": "m"} ], "metadata": {"k": 1.0, "l": {} }, "status": {"state": "S", "message": {"messageId": "n", "metadata": {}} } }}`,
			chunk(`{"artifactId":"a","parts":[ {"n":2.0}, 3 ]}`, `,"append":true`), `{"statusUpdate":{"taskId":"T","status":{"state":"W"},"metadata":{"k":2.0,"m":[]}}}`},
			`{"id": "T", "contextId": "C", "artifacts": [{"metadata": {}, "artifactId": "a", "parts": [ {"n":1.0} , 2,{"n":2.0},3]}, {"artifactId":"b", "extensions": [] }], "history": [ {"messageId": "m"},{"messageId": "n", "metadata": {}}], "metadata": {"k": 2.0, "l": {},"m":[]}, "status": {"state":"W"}}`},
		{"an artifact once more", []string{`{"task":{"id":"T","artifacts":[{"artifactId":"a"}, {"artifactId":"b", "metadata": {} }]}}`, chunk(`{"artifactId": "a", "parts": [], "metadata": {}}`, ``)},
			`{"id":"T","artifacts":[{"artifactId": "a", "parts": [], "metadata": {}}, {"artifactId":"b", "metadata": {} }],"contextId":"C"}`},
		{"another task in its place", []string{begun, chunk(`{"artifactId":"b","parts":[1]}`, ``), `{"task":{"id":"U"}}`}, `{"id":"U"}`},
		{"what shows no task", []string{begun, `{"message":{"messageId":"m"}}`, `{}`, `{"statusUpdate":null}`, `{"news":[]}`, `{"artifactUpdate":{"taskId":"T"}}`, `{"statusUpdate":{}}`},
			`{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"}}`},
		{"before the task is known", []string{updated(`{"state":"S"}`), chunk(`{"artifactId":"a","parts":[1]}`, ``)},
			`{"id":"T","contextId":"C","status":{"state":"S"},"artifacts":[{"artifactId":"a","parts":[1]}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			task := folded(t, test.events...)
			if got := snapshot(t, task); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if known := strings.Contains(test.events[0], `"task"`); task.Known() != known {
				t.Errorf("known: %v", task.Known())
			}
			missing, err := task.Missing([]byte(snapshot(t, task)))
			if err != nil || task.Known() && len(missing) > 0 {
				t.Errorf("missing of what it is: %s, %v", missing, err)
			}
		})
	}
}

// TestRefused: what cannot be applied changes nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, event := range []string{
		``, `7`, `[]`, `{`, begun + `{}`, `{"task":{"id":"T"},"statusUpdate":{}}`,
		`{"task":7}`, `{"task":{}}`, `{"task":{"id":7}}`, `{"task":{"id":"T","contextId":"C","context_id":"D"}}`,
		`{"task":{"id":"T","artifacts":{}}}`, `{"task":{"id":"T","artifacts":[7]}}`, `{"task":{"id":"T","history":7}}`,
		`{"task":{"id":"T","metadata":[]}}`, `{"task":{"id":"T","id":"U"}}`,
		`{"statusUpdate":{"taskId":"U","status":{"state":"S"}}}`, `{"statusUpdate":{"taskId":7}}`, `{"statusUpdate":[]}`,
		chunk(`{"artifactId":7}`, ``), chunk(`{"artifactId":"a","artifact_id":"b"}`, ``), chunk(`{"artifactId":"a","parts":{}}`, ``),
	} {
		task := folded(t, begun, chunk(`{"artifactId":"a","parts":[1]}`, ``))
		before := snapshot(t, task)
		if err := task.Apply([]byte(event)); err == nil {
			t.Errorf("%s was applied", event)
		}
		if after := snapshot(t, task); after != before {
			t.Errorf("%s made %s of %s", event, after, before)
		}
	}
	if doc, err := new(Task).Snapshot(nil); err == nil {
		t.Errorf("a snapshot of nothing: %s", doc)
	}
}

// TestOwns: what was applied may be overwritten.
func TestOwns(t *testing.T) {
	t.Parallel()
	task := &Task{}
	for _, event := range []string{
		begun, updated(`{"state":"S","message":{"messageId":"m"}}`), updated(`{"state":"S"}`),
		chunk(`{"artifactId":"a","parts":[{"text":"b"}]}`, ``), chunk(`{"artifactId":"a","parts":[{"text":"c"}],"metadata":{"k":"v"},"name":"n"}`, `,"append":true`),
	} {
		doc := []byte(event)
		if err := task.Apply(doc); err != nil {
			t.Fatal(err)
		}
		clear(doc)
	}
	const want = `{"id":"T","contextId":"C","status":{"state":"S"},"artifacts":[{"artifactId":"a","parts":[{"text":"b"},{"text":"c"}],"name":"n","metadata":{"k":"v"}}],` +
		`"history":[{"messageId":"m"}]}`
	if got := snapshot(t, task); !equal([]byte(got), []byte(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSize: a task is as large as what is left of its events.
func TestSize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	word := chunk(`{"artifactId":"a","parts":[{"text":"word "}]}`, `,"append":true`)
	words := make([]string, 1000)
	for i := range words {
		words[i] = word
	}
	status := updated(`{"state":"S","message":{"messageId":"m","parts":[{"text":"` + long + `"}]}}`)
	plain := updated(`{"state":"S","why":"` + long + `"}`)
	for name, test := range map[string]struct {
		events      []string
		least, most int
	}{
		"words":            {append([]string{begun}, words...), 1000 * len(`{"text":"word "}`), 1000 * 50},
		"a status":         {[]string{begun, plain}, 1000, 1300},
		"replaced":         {[]string{begun, plain, plain, plain}, 1000, 1300},
		"history":          {[]string{begun, status, updated(`{"state":"S"}`)}, 1000, 1500},
		"metadata":         {[]string{begun, `{"statusUpdate":{"taskId":"T","metadata":{"k":"` + long + `"}}}`, plain}, 2000, 2500},
		"shown once more":  {append(append([]string{begun}, words...), begun), len(begun), len(begun)},
		"another artifact": {[]string{begun, chunk(`{"artifactId":"b","parts":[{"text":"`+long+`"}]}`, ``)}, 1000, 1300},
	} {
		if size := folded(t, test.events...).Size(); size < test.least || size > test.most {
			t.Errorf("%s: %d, want %d to %d", name, size, test.least, test.most)
		}
	}
}
