package index

import (
	"slices"
	"testing"
)

// TestHas: what a record can be found by is what it has, also where guards found several things.
func TestHas(t *testing.T) {
	t.Parallel()
	var h Head
	err := h.Read([]byte(`{"seq":1,"type":"call","time":"2026-11-22T13:00:00Z","agent":"billing","approval":"a-1",` +
		`"guards":[{"guard":"keys","kind":"token"},{"guard":"keys","kind":"key"},{"guard":"accounts","kind":"iban"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"agent": {"billing"}, "skill": nil, "approval": {"a-1"}, "guard": {"accounts", "keys"}, "finding": {"iban", "key", "token"},
	} {
		if got := h.Has(name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
