package policy

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// TestPatternsMeanTheSame: rules compile their patterns, and mean by them what limits and
// authorizers do.
func TestPatternsMeanTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[ab*]{1,6}`), 1, 3).Draw(rt, "patterns")
		name := rapid.StringMatching(`[ab]{0,8}`).Draw(rt, "name")
		p := newPatterns(list)
		if got, want := p.match(name), pattern.Any(list, name); got != want {
			rt.Fatalf("%q: %q: %v, want %v", list, name, got, want)
		}
	})
}
