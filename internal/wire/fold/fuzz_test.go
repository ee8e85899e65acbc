package fold

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzFold: of any three lines as events, what is applied gives a snapshot that is
// JSON and reads as the same task, and what is missing of it leads to it.
func FuzzFold(f *testing.F) {
	for _, lines := range [][3]string{
		{begun, updated(`{"state":"TASK_STATE_WORKING","message":{"messageId":"m"}}`), updated(`{"state":"TASK_STATE_COMPLETED"}`)},
		{begun, chunk(`{"artifactId":"a","parts":[{"text":"a"}],"metadata":{"k":1}}`, ``), chunk(`{"artifactId":"a","parts":[{"text":"b"}],"name":"n"}`, `,"append":true`)},
		{chunk(`{"artifactId":"a","parts":[1]}`, `,"append":true`), begun, chunk(`{"artifactId":"a","parts":[1]}`, ``)},
		{`{"task":{"id":"T","artifacts":[{"artifactId":"a"},{"artifactId":"a","parts":[1]}]}}`, `{"task":{"id":"T"}}`, `{"task":{"id":"U"}}`},
		{`{"task":{"id":"T","context_id":"\u00e9","metadata":{"a":1e400,"\n":-0}}}`, `{"status_update":{"task_id":"T","metadata":{"a":null}}}`, `{"message":{}}`},
		{begun, chunk(`{"artifactId":"a","parts":[{"text":"nice \ud83d"}]}`, ``), chunk(`{"artifactId":"a","parts":[{"text":"\ude00 day"}]}`, `,"append":true`)},
	} {
		f.Add([]byte(lines[0]), []byte(lines[1]), []byte(lines[2]))
	}
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var seen, all Task
		_ = seen.Apply(a)
		for _, event := range [][]byte{a, b, c} {
			before, errBefore := all.Snapshot(nil)
			if err := all.Apply(event); err == nil {
				continue
			}
			if after, err := all.Snapshot(nil); (err == nil) != (errBefore == nil) || !bytes.Equal(before, after) {
				t.Fatalf("a refused event made %s of %s", after, before)
			}
		}
		now, err := all.Snapshot(nil)
		if err != nil {
			return
		}
		if !jsontext.Value(now).IsValid() {
			t.Fatalf("the snapshot is no JSON: %s", now)
		}
		for _, task := range []*Task{&all, &seen} {
			missing, err := task.Missing(now)
			if err != nil && (task.id == "" || task.id == all.id) {
				t.Fatalf("missing of %s: %v", now, err)
			}
			for _, event := range missing {
				if err := task.Apply(event); err != nil {
					t.Fatalf("%s: %v", event, err)
				}
			}
			if err == nil && all.status != nil {
				if left, err := task.Missing(now); err != nil || len(left) > 0 {
					t.Fatalf("%s is still missing of %s: %v", left, now, err)
				}
			}
		}
	})
}
