package console

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

// TestRecordRefusal: a refused call has the stage, the rule with its place and the remedy; any other
// record is said to be none.
func TestRecordRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const call = `{"v":1,"seq":4,"type":"call","time":"2026-01-01T00:00:00Z","start":"2026-01-01T00:00:00Z",%s}`
	ask := func(members string) answer {
		w.ledger.calls = []reader.Entry{{Seq: 4, Line: fmt.Appendf(nil, call, members)}}
		return w.ask("GET", "/api/v1/audit/records/4/refusal", nil)
	}
	got := ask(`"decision":"deny","rule":"finance","reason":"UNAUTHORIZED","cause":"groups: has none of [finance]"`)
	want := `{"stage":"policy","rule":"finance","place":"config.yaml:12","cause":"groups: has none of [finance]","remedy":"if it should be allowed, change policy.rules","code":-31403}`
	if got.status != http.StatusOK || got.body != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := ask(`"decision":"deny","rule":"default","reason":"AGENT_NOT_FOUND"`); strings.Contains(got.body, "place") || !strings.Contains(got.body, `"rule":"default"`) {
		t.Errorf("no rule has a place: %s", got)
	}
	if got := ask(`"decision":"allow","rule":"finance"`); got.status != http.StatusNotFound || !strings.Contains(got.body, "NOT_REFUSED") {
		t.Error(got)
	}
}

// TestUIReasons writes what the pages know of reasons: the stage that refuses for it, the code of the
// JSON-RPC error, and whether a rule may be behind it; and which stages there are.
func TestUIReasons(t *testing.T) {
	t.Parallel()
	const file = "ui/src/parts/reasons.ts"
	var b strings.Builder
	b.WriteString("// Generated from the table of internal/refusal:\n" +
		"// go test ./internal/console -run TestUIReasons -update\n" +
		"export const reasons: Record<string, { stage: string; code: number; byRule: boolean }> = {\n")
	for _, r := range refusal.Reasons() {
		fmt.Fprintf(&b, "  %s: { stage: '%s', code: %d, byRule: %v },\n", r.Name, r.Stage, r.Code, refusal.ByRule(r.Stage))
	}
	b.WriteString("};\n\n// stages are those of the request path that can refuse a call, in their order.\nexport const stages = [")
	for i, s := range refusal.Stages() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("'" + s + "'")
	}
	b.WriteString("] as const;\n")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil { //nolint:gosec // it is a source
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("%s has another table (%v): go test ./internal/console -run TestUIReasons -update, and then make ui", file, err)
	}
}
