package audit

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestIntentIsInCall: what an intent says of a call, the call record says too.
func TestIntentIsInCall(t *testing.T) {
	t.Parallel()
	members := func(put func(*telemetry.Line, *telemetry.Exchange, time.Time)) (all map[string]any) {
		var line, whole telemetry.Line
		put(&line, filled(), noon)
		whole.Object("of", &line)
		if err := json.Unmarshal(append(append([]byte("{"), whole.Bytes()[1:]...), '}'), &all); err != nil {
			t.Fatal(err)
		}
		all, _ = all["of"].(map[string]any)
		delete(all, "type")
		return all
	}
	intent, call := members(appendIntent), members(appendCall)
	maps.DeleteFunc(call, func(name string, _ any) bool { _, ok := intent[name]; return !ok })
	if diff := cmp.Diff(intent, call); diff != "" {
		t.Errorf("in intents (-) and not so in calls (+):\n%s", diff)
	}
}

// TestIntentsThatSaidMore verifies a log of when intents had all that was known of a call,
// and continues it.
func TestIntentsThatSaidMore(t *testing.T) {
	t.Parallel()
	from, dir := filepath.Join("testdata", "whole-intents"), t.TempDir()
	for _, file := range []string{"audit-2026-11-23.jsonl", chain.HeadFile} {
		content, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := verified(t, dir, Check{}); len(r.Findings) > 0 || r.Records != 3 || r.Signed != 2 {
		t.Errorf("%+v", r)
	}
	l, _ := signedLog(t, Config{Dir: dir}, newFakeDisk())
	e := forwarded()
	for _, err := range []error{l.Intent(e), l.Call(e), l.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var types []string
	for _, r := range read(t, dir, false) {
		types = append(types, r.Type)
	}
	if want := []string{typeIntent, typeCall, typeCheckpoint, typeIntent, typeCall, typeCheckpoint}; !slices.Equal(types, want) {
		t.Errorf("records are %q, want %q", types, want)
	}
	if r := verified(t, dir, Check{}); len(r.Findings) > 0 || r.Segments != 1 || r.Signed != 5 || len(r.Keys) != 2 {
		t.Errorf("continued: %+v", r)
	}
}
