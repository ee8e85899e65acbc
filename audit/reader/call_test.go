package reader

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// FuzzOriginal: a text comes back from a record as it was, as far as it was not cut; any
// other text gives some text and an end.
func FuzzOriginal(f *testing.F) {
	for _, seed := range []string{"plain", "a\\b\x00\u202e\xff", `\x`, `\u12`, `\Uffffffff`, `\…+7`, strings.Repeat("\n", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, whole := original(telemetry.Clean(text))
		if whole != (len(text) <= telemetry.MaxText) || !strings.HasPrefix(text, got) || whole && got != text {
			t.Errorf("%q is %q in a record, and comes back as %q, %t", text, telemetry.Clean(text), got, whole)
		}
		_, _ = original(text)
		_, _ = parseCall([]byte(text))
	})
}

// TestOriginal: cleaned text can be told from what it was, up to where it was cut.
func TestOriginal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "text"))
		got, whole := original(telemetry.Clean(text))
		switch {
		case whole && got != text:
			t.Fatalf("got %q, want %q", got, text)
		case whole != (len(text) <= telemetry.MaxText):
			t.Fatalf("%d bytes: whole is %t", len(text), whole)
		case !strings.HasPrefix(text, got):
			t.Fatalf("got %q of %q", got, text)
		}
	})
}
