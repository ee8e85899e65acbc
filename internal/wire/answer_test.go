package wire

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

const answersFile = "testdata/answers.txtar"

// answerCase is one body of testdata/answers.txtar.
type answerCase struct {
	name    string
	binding Binding
	version Version
	method  *Method // nil for "extension"
	body    []byte
}

// parseAnswerCase takes a body's name apart: binding, version, method, remark.
func parseAnswerCase(t testing.TB, f txtar.File) answerCase {
	t.Helper()
	c := answerCase{name: f.Name, body: f.Data}
	words := strings.Fields(f.Name)
	var okB, okM bool
	c.binding, okB = ParseBinding(words[0])
	c.version = Version(words[1])
	if c.method, okM = ByName(V10, words[2]); !okB || !okM && words[2] != "extension" {
		t.Fatalf("%s: no such binding or method", f.Name)
	}
	return c
}

func answerCases(t testing.TB) (*txtar.Archive, []answerCase) {
	t.Helper()
	archive, err := txtar.ParseFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []answerCase
	for _, f := range archive.Files {
		if !strings.HasSuffix(f.Name, ".read") {
			cases = append(cases, parseAnswerCase(t, f))
		}
	}
	return archive, cases
}

// describe prints the fields of an answer that are set.
func describe(a Answer) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("id", string(a.ID))
	if a.Error != 0 {
		line("error", strings.TrimSpace(fmt.Sprintf("%d %s", a.Error, a.Reason)))
	}
	line("kind", a.Kind)
	for _, t := range a.Tasks {
		text := fmt.Sprintf("%q in %q", t.ID, t.ContextID)
		if t.Span != [2]int{} {
			text += fmt.Sprintf(" at %d-%d", t.Span[0], t.Span[1])
		}
		line("task", text)
	}
	line("context", a.ContextID)
	line("state", a.State)
	if a.Final {
		line("final", "yes")
	}
	if a.Result != [2]int{} {
		line("result", fmt.Sprintf("at %d-%d", a.Result[0], a.Result[1]))
	}
	for _, x := range a.Extensions {
		line("extension", x)
	}
	return b.String()
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	archive, cases := answerCases(t)
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	rewritten := &txtar.Archive{Comment: archive.Comment}
	for _, c := range cases {
		a, err := ReadAnswer(c.binding, c.version, c.method, c.body, Limits{})
		if err != nil {
			t.Errorf("%s: %v: %v", c.name, err, errors.Unwrap(err))
			continue
		}
		got := describe(a)
		rewritten.Files = append(rewritten.Files,
			txtar.File{Name: c.name, Data: c.body}, txtar.File{Name: c.name + ".read", Data: []byte(got)})
		if diff := cmp.Diff(want[c.name+".read"], got); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(answersFile, txtar.Format(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadAnswerMeaning holds the forms of one answer together: what the version
// and the binding make of it must not change what is read.
func TestReadAnswerMeaning(t *testing.T) {
	t.Parallel()
	_, cases := answerCases(t)
	first := map[string]Answer{}
	forms := map[string]int{}
	for _, c := range cases {
		_, meaning, ok := strings.Cut(c.name, "= ")
		if !ok {
			continue
		}
		a, err := ReadAnswer(c.binding, c.version, c.method, c.body, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		a.ID, a.IDAt, a.MayCarry, a.MayFile, a.Chunk = nil, 0, false, false, chunk{} // see TestReadChunk
		forms[meaning]++
		if forms[meaning] == 1 {
			first[meaning] = a
		} else if diff := cmp.Diff(first[meaning], a); diff != "" {
			t.Errorf("%s (-first form +this form):\n%s", c.name, diff)
		}
	}
	for meaning, n := range forms {
		if n < 3 {
			t.Errorf("%q stands in %d forms only", meaning, n)
		}
	}
}

// TestReadAnswerVerbatim: the id is a piece of the body and nothing else keeps the
// body alive or is changed with it.
func TestReadAnswerVerbatim(t *testing.T) {
	t.Parallel()
	method, _ := ByName(V10, GetTask)
	body := []byte(`{"jsonrpc":"2.0","id":"i\u0064","result":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`)
	a, err := ReadAnswer(JSONRPC, V10, method, body, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if &a.ID[0] != &body[bytes.Index(body, []byte(`"i\u`))] || cap(a.ID) != len(a.ID) {
		t.Error("the id is not a closed piece of the body")
	}
	if a.IDAt != bytes.Index(body, a.ID) {
		t.Errorf("the id is said to begin at %d", a.IDAt)
	}
	a.ID, a.IDAt = nil, 0
	clear(body)
	want := Answer{
		Kind: "task", State: "TASK_STATE_WORKING", ContextID: "C",
		Tasks: []TaskRef{{ID: "T", ContextID: "C"}},
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("after the body was reused (-want +got):\n%s", diff)
	}
}

// TestL40_BrokenAnswers: what an agent must not answer, whatever the status.
func TestL40_BrokenAnswers(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	var uris []string
	for i := range manyExtensions + 1 {
		uris = append(uris, fmt.Sprintf(`"u%d"`, i))
	}
	for name, c := range map[string]struct {
		form   string // binding version method
		body   string
		reason string // part of the cause
	}{
		"html":                        {"JSONRPC 1.0 GetTask", `<html>`, "unexpected"},
		"empty":                       {"JSONRPC 1.0 GetTask", ``, "too early"},
		"nothing where a task is due": {"HTTP+JSON 1.0 GetTask", " \n", "too early"},
		"cut off":                     {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"result":{"id":"T"`, "too early"},
		"two documents":               {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"result":{}}{}`, "follows"},
		"batch":                       {"JSONRPC 1.0 GetTask", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "not an object"},
		"byte order mark":             {"HTTP+JSON 1.0 GetTask", "\ufeff{}", "byte order mark"},
		"wrong version":               {"JSONRPC 1.0 GetTask", `{"jsonrpc":"1.0","id":1,"result":{}}`, "2.0"},
		"version no string":           {"JSONRPC 1.0 GetTask", `{"jsonrpc":2.0,"id":1,"result":{}}`, "2.0"},
		"no version":                  {"JSONRPC 0.3 GetTask", `{"id":1,"result":{}}`, "2.0"},
		"id is an object":             {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":{},"result":{}}`, "response id"},
		"both":                        {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-1,"message":""}}`, "both"},
		"neither":                     {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1}`, "neither"},
		"neither, null":               {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"error":null}`, "neither"},
		"error is a string":           {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"error":"no"}`, "not an object"},
		"error without code":          {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}`, "code"},
		"error code 1.5":              {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5}}`, "code"},
		"error code string":           {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"error":{"code":"-32001"}}`, "code"},
		"result is a string":          {"JSONRPC 1.0 SendMessage", `{"jsonrpc":"2.0","id":1,"result":"ok"}`, "not an object"},
		"result is an array":          {"JSONRPC 1.0 ListTasks", `{"jsonrpc":"2.0","id":1,"result":[]}`, "not an object"},
		"two things":                  {"HTTP+JSON 1.0 SendStreamingMessage", `{"task":{"id":"T"},"statusUpdate":{"taskId":"U"}}`, "two things"},
		"both spellings":              {"HTTP+JSON 1.0 SendStreamingMessage", `{"task":{"id":"T"},"task":{"id":"U"}}`, "same name"},
		"two spellings":               {"HTTP+JSON 1.0 SendStreamingMessage", `{"statusUpdate":{"taskId":"T","task_id":"U"}}`, "two spellings"},
		"numeric task id":             {"HTTP+JSON 1.0 GetTask", `{"id":7,"status":{"state":"TASK_STATE_WORKING"}}`, "not a string"},
		"numeric list id":             {"HTTP+JSON 1.0 ListTasks", `{"tasks":[{"id":7}]}`, "not a string"},
		"list of ids":                 {"HTTP+JSON 1.0 ListTasks", `{"tasks":["T"]}`, "not an object"},
		"list is an object":           {"HTTP+JSON 1.0 ListTasks", `{"tasks":{"id":"T"}}`, "not an array"},
		"list under another name":     {"HTTP+JSON 1.0 ListTasks", `{"tasks":[],"Ta\u017fks":[{"id":"T"}]}`, "almost"},
		"duplicate names":             {"HTTP+JSON 1.0 GetTask", `{"id":"T","metadata":{"a":1,"\u0061":2}}`, "same name"},
		"duplicate ids":               {"JSONRPC 1.0 GetTask", `{"jsonrpc":"2.0","id":1,"result":{"id":"T","id":"U"}}`, "same name"},
		"invalid UTF-8":               {"JSONRPC 1.0 GetTask", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"\xff\"}}", "UTF-8"},
		"lone surrogate":              {"HTTP+JSON 1.0 GetTask", `{"id":"\ud800"}`, "surrogate"},
		"too deep":                    {"HTTP+JSON 1.0 GetTask", `{"id":"T","metadata":` + deep + `}`, "deep"},
		"65 extensions":               {"HTTP+JSON 1.0 SendMessage", `{"message":{"messageId":"m","extensions":[` + strings.Join(uris, ",") + `]}}`, "extensions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form := parseAnswerCase(t, txtar.File{Name: c.form})
			a, err := ReadAnswer(form.binding, form.version, form.method, []byte(c.body), Limits{})
			if err == nil {
				t.Fatalf("read as %+v", a)
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != BadAgentResponse || e.Text() != BadAgentResponse.Text {
				t.Errorf("error %v is not a bare BadAgentResponse", err)
			}
			if !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %q does not say %q", err, c.reason)
			}
			if diff := cmp.Diff(Answer{}, a); diff != "" {
				t.Errorf("a refused answer still says something:\n%s", diff)
			}
		})
	}
}

// TestReadAnswerLimits: the caller's limits hold in what is skipped, too.
func TestReadAnswerLimits(t *testing.T) {
	t.Parallel()
	method, _ := ByName(V10, GetTask)
	body := []byte(`{"id":"T","metadata":{"a":[[1]],"b":2,"c":3}}`)
	for name, c := range map[string]struct {
		lim Limits
		ok  bool
	}{
		"defaults":         {Limits{}, true},
		"just deep enough": {Limits{Depth: 4}, true},
		"too deep":         {Limits{Depth: 3}, false},
		"just few enough":  {Limits{Members: 3}, true},
		"too many":         {Limits{Members: 2}, false},
	} {
		if _, err := ReadAnswer(HTTPJSON, V10, method, body, c.lim); (err == nil) != c.ok {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestL40_AnswerIDs: an answer must carry the id of its call.
func TestL40_AnswerIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer, call string
		same         bool
	}{
		{`"a"`, `"a"`, true},
		{`"a/b"`, `"a\/b"`, true},
		{`"\u00e9"`, `"é"`, true},
		{`1`, `1`, true},
		{`1.0`, `1`, true},
		{`1.2345678901234567e+19`, `12345678901234567890`, true},
		{`"1"`, `1`, false},
		{`2`, `1`, false},
		{`"b"`, `"a"`, false},
		{`null`, `1`, false},
		{``, `1`, false},
		{`null`, `"null"`, false},
		{`null`, `null`, true},
		{``, `null`, true},
		{`"null"`, `null`, false},
		{`0`, `null`, false},
		{`""`, `null`, false},
		{`1.5`, `1.50`, true},
	} {
		a := Answer{ID: []byte(c.answer)}
		if got := a.Answers([]byte(c.call)); got != c.same {
			t.Errorf("answer %s to call %s: same %v, want %v", c.answer, c.call, got, c.same)
		}
	}
}

func TestStateNames(t *testing.T) {
	t.Parallel()
	spellings := [...][]string{
		{"unknown", "TASK_STATE_UNSPECIFIED"},
		{"submitted", "TASK_STATE_SUBMITTED"},
		{"working", "TASK_STATE_WORKING"},
		{"completed", "TASK_STATE_COMPLETED"},
		{"failed", "TASK_STATE_FAILED"},
		{"canceled", "cancelled", "TASK_STATE_CANCELED", "TASK_STATE_CANCELLED"},
		{"input-required", "TASK_STATE_INPUT_REQUIRED"},
		{"rejected", "TASK_STATE_REJECTED"},
		{"auth-required", "TASK_STATE_AUTH_REQUIRED"},
	}
	for n, names := range spellings {
		for _, name := range names {
			if got := taskstate.Named([]byte(name)); got != taskstate.Numbered(n) {
				t.Errorf("%s is %q, want %s, number %d", name, got, taskstate.Numbered(n), n)
			}
		}
		ends := n == 3 || n == 4 || n == 5 || n == 7 // protocol: completed, failed, canceled, rejected
		if taskstate.Terminal(taskstate.Numbered(n)) != ends {
			t.Errorf("%s terminal: %v, want %v", taskstate.Numbered(n), !ends, ends)
		}
	}
	for _, name := range []string{"", "WORKING", "Working", "TASK_STATE_", "done"} {
		if got := taskstate.Named([]byte(name)); got != "" {
			t.Errorf("%q is %s, want unknown", name, got)
		}
	}
}
