package feature

import (
	"slices"
	"strings"
	"testing"
)

// TestNeed: what was registered is there, and what was not is named in the error and the list.
func TestNeed(t *testing.T) {
	Register(Kafka)
	t.Cleanup(func() { delete(linked, Kafka) })
	if err := Need(Kafka); err != nil {
		t.Error(err)
	}
	if err := Need(Redis); err == nil || !strings.Contains(err.Error(), "built without Redis") {
		t.Error(err)
	}
	if left := Absent(); slices.Contains(left, "Kafka") || !slices.Contains(left, "Redis") {
		t.Error(left)
	}
}

// TestAllIsSorted: `a2a-gateway version` lists them in this order.
func TestAllIsSorted(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(all, func(a, b Part) int { return strings.Compare(strings.ToLower(string(a)), strings.ToLower(string(b))) }) {
		t.Error(all)
	}
}
