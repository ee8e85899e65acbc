package state

import (
	"slices"
	"strings"
	"testing"
)

// TestUnpackAs: whatever list is at hand, what was packed comes back.
func TestUnpackAs(t *testing.T) {
	t.Parallel()
	lists := [][]string{
		nil, {}, {""}, {"a"}, {"b"}, {"a", "b"}, {"ab"}, {"a", ""}, {"", "a"}, {"b", "a"},
		{strings.Repeat("u", 200)}, {strings.Repeat("u", 200), "a"},
	}
	for _, packed := range lists {
		for _, at := range lists {
			got := unpackAs(pack(packed), at)
			if !slices.Equal(got, packed) || len(packed) == 0 && got != nil {
				t.Errorf("%q as %q is %q", packed, at, got)
			}
		}
	}
}
