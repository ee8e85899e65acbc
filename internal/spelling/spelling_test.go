package spelling

import (
	"fmt"
	"strings"
	"testing"
)

// TestMeant: a slip or two are found, another word is not.
func TestMeant(t *testing.T) {
	t.Parallel()
	known := []string{"weather", "billing", "a", "bills"}
	for word, want := range map[string]string{
		"biling": "billing", "Weather": "weather", "wether": "weather", "bill": "bills", "billig": "billing",
		"travel": "", "b": "", "": "", strings.Repeat("billing", 40): "",
	} {
		if got := Meant(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Meant("bat", []string{"cat", "rat", "bar", "hat"}); got != "bar" {
		t.Errorf("of several that are as near: %q", got)
	}
	if got, want := Hint("biling", known), `, did you mean "billing"?`; got != want {
		t.Errorf("hint: %q, want %q", got, want)
	}
	if got := Hint("travel", known); got != "" {
		t.Errorf("hint for another word: %q", got)
	}
}

// BenchmarkMeant looks for a name among those of a large fleet, as each rule does that names a skill nobody has.
func BenchmarkMeant(b *testing.B) {
	known := make([]string, 10_000)
	for i := range known {
		known[i] = fmt.Sprintf("skill-%d-of-a-fleet", i)
	}
	for b.Loop() {
		if got := Meant("invoices", known); got != "" {
			b.Fatal(got)
		}
	}
}
