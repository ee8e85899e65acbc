package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// filterList reads body as a ListTasks answer and keeps the named tasks.
func filterList(t *testing.T, b Binding, body string, keep ...string) (out []byte, a Answer) {
	t.Helper()
	method, _ := ByName(V10, ListTasks)
	a, err := ReadAnswer(b, V10, method, []byte(body), Limits{})
	if err != nil {
		t.Fatalf("read %s: %v", body, err)
	}
	out, err = FilterTasks(b, V10, []byte(body), a, func(ref TaskRef) bool {
		for _, id := range keep {
			if ref.ID == id {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("filter %s: %v", body, err)
	}
	return out, a
}

// TestA02_ForeignTasksAreCut: an agent that lists everybody's tasks shows a caller
// only the caller's, and not how many others there are.
func TestA02_ForeignTasksAreCut(t *testing.T) {
	t.Parallel()
	const rpc = `{"jsonrpc":"2.0","id":1,"result":`
	for name, c := range map[string]struct {
		binding    Binding
		body, want string
		keep       []string
	}{
		"all kept": {
			HTTPJSON, `{"tasks":[{"id":"a"},{"id":"b"}],"totalSize":9}`,
			`{"tasks":[{"id":"a"},{"id":"b"}],"totalSize":9}`, []string{"a", "b"},
		},
		"none kept": {
			HTTPJSON, `{"tasks":[{"id":"a"}, {"id":"b"} ],"totalSize":2,"nextPageToken":""}`,
			`{"tasks":[ ],"totalSize":0,"nextPageToken":""}`, nil,
		},
		"first cut": {
			HTTPJSON, `{"tasks":[ {"id":"a"} , {"id":"b"} , {"id":"c"} ]}`,
			`{"tasks":[ {"id":"b"} , {"id":"c"} ]}`, []string{"b", "c"},
		},
		"middle cut": {
			HTTPJSON, `{"tasks":[{"id":"a"} , {"id":"b"} , {"id":"c"}]}`,
			`{"tasks":[{"id":"a"} , {"id":"c"}]}`, []string{"a", "c"},
		},
		"last cut": {
			HTTPJSON, `{"tasks":[{"id":"a"},{"id":"b"},` + "\n" + `{"id":"c"}]}`,
			`{"tasks":[{"id":"a"}]}`, []string{"a"},
		},
		"only the middle kept": {
			HTTPJSON, `{"tasks":[{"id":"a"},{"id":"b"},{"id":"c"}]}`,
			`{"tasks":[{"id":"b"}]}`, []string{"b"},
		},
		"total before the tasks": {
			JSONRPC, rpc + `{"totalSize": 41 ,"tasks":[{"id":"a","metadata":{"totalSize":7}},{"id":"b"}],"pageSize":50}}`,
			rpc + `{"totalSize": 1 ,"tasks":[{"id":"a","metadata":{"totalSize":7}}],"pageSize":50}}`, []string{"a"},
		},
		"total in snake case, as a string": {
			JSONRPC, rpc + `{"tasks":[{"id":"a"}],"total_size":"41"},"totalSize":3}`,
			rpc + `{"tasks":[],"total_size":0},"totalSize":3}`, nil,
		},
		"total in both spellings": {
			HTTPJSON, `{"total_size":5,"tasks":[{"id":"a"},{"id":"b"}],"totalSize":5}`,
			`{"total_size":1,"tasks":[{"id":"b"}],"totalSize":1}`, []string{"b"},
		},
		"entry without an id": {
			HTTPJSON, `{"tasks":[{"ID":"a"},{"id":"a"},{"id":null}]}`,
			`{"tasks":[{"id":"a"}]}`, []string{"a"},
		},
		"unknown members and big numbers stay": {
			HTTPJSON, `{"x":1e400,"tasks":[{"id":"a","y":123456789012345678901},{"id":"b"}],"é":"\u00e9"}`,
			`{"x":1e400,"tasks":[{"id":"a","y":123456789012345678901}],"é":"\u00e9"}`, []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := filterList(t, c.binding, c.body, c.keep...)
			if string(got) != c.want {
				t.Errorf("filtered to\n %s\nwant\n %s", got, c.want)
			}
		})
	}
}

// TestFilterTasksKeepsTheBody: what needs no cut is not copied, what is cut leaves
// the original alone.
func TestFilterTasksKeepsTheBody(t *testing.T) {
	t.Parallel()
	method, _ := ByName(V10, ListTasks)
	body := []byte(`{"tasks":[{"id":"a"},{"id":"b"}],"totalSize":2}`)
	before := bytes.Clone(body)
	a, err := ReadAnswer(HTTPJSON, V10, method, body, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := FilterTasks(HTTPJSON, V10, body, a, func(TaskRef) bool { return true })
	if err != nil || &all[0] != &body[0] || len(all) != len(body) {
		t.Errorf("with nothing to cut the body was copied (%v)", err)
	}
	if _, err = FilterTasks(HTTPJSON, V10, body, a, func(TaskRef) bool { return false }); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(body, before) {
		t.Errorf("the body became %s", body)
	}
}

// TestFilterTasksMisuse: a body and an answer that do not belong together are an
// error, never a panic and never an unfiltered list.
func TestFilterTasksMisuse(t *testing.T) {
	t.Parallel()
	span := func(start, end int) TaskRef { return TaskRef{ID: "a", Span: [2]int{start, end}} }
	for name, a := range map[string]Answer{
		"not a list":   {Kind: "task", Tasks: []TaskRef{span(0, 1)}},
		"no span":      {Kind: "list", Tasks: []TaskRef{{ID: "a"}}},
		"beyond":       {Kind: "list", Tasks: []TaskRef{span(0, 100)}},
		"backwards":    {Kind: "list", Tasks: []TaskRef{span(5, 6), span(1, 2)}},
		"inside out":   {Kind: "list", Tasks: []TaskRef{span(6, 5)}},
		"another body": {Kind: "list", Tasks: []TaskRef{span(0, 5)}},
	} {
		out, err := FilterTasks(HTTPJSON, V10, []byte(`{"a":"b"`), a, func(TaskRef) bool { return false })
		var e *Error
		if out != nil || !errors.As(err, &e) || e.Kind != BadAgentResponse {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

// TestA02_FilterProperty: whatever the list and whoever asks, what comes out is
// JSON, holds exactly the tasks kept, in order, and reads like a list again.
func TestA02_FilterProperty(t *testing.T) {
	t.Parallel()
	method, _ := ByName(V10, ListTasks)
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		ids := rapid.SliceOfN(rapid.StringMatching(`[a-c]{1,2}|\\u0061"?`), 0, 8).Draw(t, "ids")
		var list strings.Builder
		for i, id := range ids {
			if i > 0 {
				list.WriteString(space.Draw(t, "before") + "," + space.Draw(t, "after"))
			}
			quoted, _ := json.Marshal(id)
			fmt.Fprintf(&list, `{"x":[{"id":"a"}],"id":%s}`, quoted)
		}
		body := fmt.Appendf(nil, `{"tasks":[%s%s],"totalSize":%d}`, list.String(), space.Draw(t, "end"), len(ids)+3)
		a, err := ReadAnswer(HTTPJSON, V10, method, body, Limits{})
		if err != nil {
			t.Fatalf("read %s: %v", body, err)
		}
		mine := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "ab"}), rapid.ID).Draw(t, "mine")
		keep := func(ref TaskRef) bool { return strings.Contains(strings.Join(mine, " "), ref.ID) }
		out, err := FilterTasks(HTTPJSON, V10, body, a, keep)
		if err != nil {
			t.Fatalf("filter %s: %v", body, err)
		}
		var got struct {
			Tasks     []struct{ ID string }
			TotalSize int
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s became %s: %v", body, out, err)
		}
		var want []string
		for _, id := range ids {
			if keep(TaskRef{ID: id}) {
				want = append(want, id)
			}
		}
		if len(got.Tasks) != len(want) {
			t.Fatalf("%s became %s, want %q", body, out, want)
		}
		for i := range want {
			if got.Tasks[i].ID != want[i] {
				t.Fatalf("%s became %s, want %q", body, out, want)
			}
		}
		if len(want) < len(ids) && got.TotalSize != len(want) {
			t.Fatalf("%s became %s: total %d tells of more than %d", body, out, got.TotalSize, len(want))
		}
	})
}
