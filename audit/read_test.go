package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestCalls: what was recorded of calls can be read back, over segments and past what is
// torn.
func TestCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := telemetry.Exchange{
		Arrival:       telemetry.Arrival{Start: time.Date(2026, 11, 21, 8, 0, 0, 5, time.UTC)},
		Call:          telemetry.Call{Agent: "billing", Method: "SendMessage"},
		Caller:        telemetry.Caller{Principal: "al\u202eice\\\xff", Groups: []string{"finance", "a b"}},
		Authorization: telemetry.Authorization{Decision: "allow", Rule: "finance"},
		Answer:        telemetry.Answer{Status: 200},
	}
	var file strings.Builder
	var c chain.Chain
	record := func(add func(*telemetry.Line)) {
		var l telemetry.Line
		add(&l)
		file.Write(c.Assemble(nil, nil, l.Bytes(), nil))
	}
	record(func(l *telemetry.Line) { appendIntent(l, &e, e.Start) })
	record(func(l *telemetry.Line) { appendCall(l, &e, e.Start) })
	record(func(l *telemetry.Line) { appendEvent(l, "config.reload", nil, e.Start) })
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("audit-2026-11-21.jsonl", file.String()+`{"seq":4,"v":1,"type":"call","agent":"to`)
	file.Reset()
	e.Groups = make([]string, 70)
	record(func(l *telemetry.Line) { appendCall(l, &e, e.Start) })
	write("audit-2026-11-21_001.jsonl", file.String())
	var calls []*reader.Call
	for call, err := range (reader.Source{Path: dir}).Calls() {
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2", len(calls))
	}
	got := calls[0]
	if got.Seq != 2 || got.Principal != e.Principal || !slices.Equal(got.Groups, []string{"finance", "a b"}) ||
		!got.Start.Equal(e.Start) || got.Rule != "finance" || got.Cut {
		t.Errorf("got %+v", got)
	}
	if got = calls[1]; got.Seq != 4 || !got.Cut {
		t.Errorf("got %+v", got)
	}
}

// TestCallsOfOtherFiles: what is no audit log is said to be none.
func TestCallsOfOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"text.jsonl":  {"hello\n", "text.jsonl:1: it is no record of an audit log"},
		"json.jsonl":  {`{"seq":1,"v":1,"type":"call","agent":7}` + "\n", "json.jsonl:1: it is no record"},
		"newer.jsonl": {`{"seq":1,"v":2,"type":"call"}` + "\n", "newer.jsonl:1: its schema is version 2; 1 is known"},
		"long.jsonl":  {strings.Repeat("x", chain.LongestRecord+2) + "\n", "long.jsonl:1: "},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got error
		for _, err := range (reader.Source{Path: path}).Calls() {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, got, c.want)
		}
	}
	for _, path := range []string{filepath.Join(dir, "nowhere"), t.TempDir()} {
		for c, err := range (reader.Source{Path: path}).Calls() {
			if err == nil {
				t.Errorf("%s: got %v", path, c)
			}
		}
	}
}
