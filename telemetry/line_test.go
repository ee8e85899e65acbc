package telemetry

import (
	"strings"
	"testing"
	"time"
)

// TestLineTimes writes times by one line, whose seconds it remembers.
func TestLineTimes(t *testing.T) {
	t.Parallel()
	var line Line
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{
		{}, noon, noon, noon.Add(1), noon.Add(time.Second - 1), noon.Add(time.Second), noon.Add(-1), time.Unix(0, 0),
		noon.In(time.FixedZone("east", 3600)), noon.Add(12 * time.Hour), time.Unix(0, 0), {},
	} {
		line.Reset()
		line.Time("time", at)
		want := `,"time":"` + at.UTC().Format("2006-01-02T15:04:05.000000000Z") + `"`
		if got := string(line.Bytes()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestLineMembers puts texts of all lengths, plain and not, behind members that stay as they are.
func TestLineMembers(t *testing.T) {
	t.Parallel()
	var line Line
	want := ""
	for length := range MaxText + 2 {
		text := strings.Repeat("é", length%3) + strings.Repeat("x", length)
		line.Str("a", text)
		line.Strs("b", []string{text, "y"})
		if text != "" {
			want += `,"a":"` + Clean(text) + `"`
		}
		want += `,"b":["` + Clean(text) + `","y"]`
		if got := string(line.Bytes()); got != strings.ReplaceAll(want, `\…`, `\\…`) { // as JSON has it
			t.Fatalf("of %d bytes: %s", length, got)
		}
	}
}
