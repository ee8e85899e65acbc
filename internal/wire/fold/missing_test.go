package fold

import (
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	const (
		working = `"status":{"state":"TASK_STATE_WORKING"}`
		done    = `"status":{"state":"TASK_STATE_COMPLETED"}`
		ids     = `"taskId":"T","contextId":"C",`
	)
	task := func(rest string) string { return `{"id":"T","contextId":"C",` + rest + `}` }
	for _, test := range []struct {
		name, seen, now string
		want            []string
	}{
		{"nothing known", ``, task(working), []string{`{"task":` + task(working) + `}`}},
		{"nothing new", task(working + `,"artifacts":[{"artifactId":"a","parts":[{"text":"é\/","n":1}],"name":"x"}],"x":1`),
			task(`"artifacts" : [{"name":"x","parts":[{"n":1, "text":"\u00e9/"}],"artifactId":"\u0061"}],` + working), nil},
		{"history, metadata and strangers", task(working), task(working + `,"history":[{"messageId":"m"}],"metadata":{"a":1},"x":1`), nil},
		{"another status", task(working), task(done), []string{`{"statusUpdate":{` + ids + done + `}}`}},
		{"a large number", task(`"status":{"n":9007199254740992}`), task(`"status":{"n":9007199254740993}`),
			[]string{`{"statusUpdate":{` + ids + `"status":{"n":9007199254740993}}}`}},
		{"a new artifact", task(working), task(working + `,"artifacts":[{"artifactId":"a","parts":[1],"x":2}]`),
			[]string{`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"a","parts":[1],"x":2}}}`}},
		{"the end", task(working + `,"artifacts":[{"artifactId":"a","parts":[1]}]`),
			task(done + `,"artifacts":[{"artifactId":"a","parts":[1,2]},{"artifactId":"b","parts":[3]}]`),
			[]string{
				`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"a","parts":[2]},"append":true,"lastChunk":true}}`,
				`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"b","parts":[3]},"lastChunk":true}}`,
				`{"statusUpdate":{` + ids + done + `}}`,
			}},
		{"more parts", task(working + `,"artifacts":[{"artifactId":"a","parts":[1,{"a":1,"b":2}],"metadata":{"k":1}}]`),
			task(working + `,"artifacts":[{"artifactId":"a","parts":[1,{"b":2,"a":1},3,4],"metadata":{"k":1}}]`),
			[]string{`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"a","parts":[3,4]},"append":true}}`}},
		{"parts put together", task(working + `,"artifacts":[{"artifactId":"a","parts":[{"text":"a"},{"text":"b"}]}]`),
			task(working + `,"artifacts":[{"artifactId":"a","parts":[{"text":"ab"}]}]`),
			[]string{`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"a","parts":[{"text":"ab"}]}}}`}},
		{"more parts and another name", task(working + `,"artifacts":[{"artifactId":"a","parts":[1],"name":"n"}]`),
			task(working + `,"artifacts":[{"artifactId":"a","parts":[1,2],"name":"m"}]`),
			[]string{`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"a","parts":[1,2],"name":"m"}}}`}},
		{"less metadata", task(working + `,"artifacts":[{"artifactId":"a","parts":[1],"metadata":{"k":1}}]`),
			task(working + `,"artifacts":[{"artifactId":"a","parts":[1]}]`),
			[]string{`{"artifactUpdate":{` + ids + `"artifact":{"artifactId":"a","parts":[1]}}}`}},
		{"another order", task(working + `,"artifacts":[{"artifactId":"a","parts":[1]},{"artifactId":"b","parts":[1]}]`),
			task(working + `,"artifacts":[{"artifactId":"b","parts":[1]},{"artifactId":"a","parts":[1]}]`), nil},
		{"an artifact less", task(working + `,"artifacts":[{"artifactId":"a","parts":[1]}]`), task(working), []string{`{"task":` + task(working) + `}`}},
		{"another of one id", task(working + `,"artifacts":[{"artifactId":"a"},{"artifactId":"a","parts":[1]}]`),
			task(working + `,"artifacts":[{"artifactId":"a"},{"artifactId":"a","parts":[2]}]`),
			[]string{`{"task":` + task(working+`,"artifacts":[{"artifactId":"a"},{"artifactId":"a","parts":[2]}]`) + `}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := &Task{}
			if test.seen != "" {
				seen = folded(t, `{"task":`+test.seen+`}`)
			}
			missing, err := seen.Missing([]byte(test.now))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, event := range missing {
				got = append(got, string(event))
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
	for _, now := range []string{``, `null`, `{}`, `{"id":"U"}`, `{"id":"T"}{}`} {
		if missing, err := folded(t, begun).Missing([]byte(now)); err == nil {
			t.Errorf("%q: %s", now, missing)
		}
	}
}

// TestMissingOfAPart: chunks of an artifact whose beginning was not seen are not taken
// for its beginning.
func TestMissingOfAPart(t *testing.T) {
	t.Parallel()
	seen := folded(t, chunk(`{"artifactId":"a","parts":[{"text":"ha"}]}`, `,"append":true`))
	const now = `{"id":"T","artifacts":[{"artifactId":"a","parts":[{"text":"ha"},{"text":"ha"}]}]}`
	missing, err := seen.Missing([]byte(now))
	if err != nil || len(missing) != 1 || string(missing[0]) != `{"task":`+now+`}` {
		t.Errorf("%s, %v", missing, err)
	}
}
