package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// extensionRules applies the registry of extensions to calls: hooks, injected values, and the
// states that tasks are in.
type extensionRules struct {
	book    *ext.Book
	steps   state.Steps
	offered map[string]ext.Declared
	policy  *policy.Set
}
