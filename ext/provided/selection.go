package provided

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// selection is the gateway's own extension (docs/extensions/skill-selection.md). What
// it means is settled before extensions are negotiated, where a call's skill is: all
// that is left to do here is to be declared. Agents with several skills have it listed
// without being told to.
type selection struct{}

// Declared is how served cards list it.
func (selection) Declared() ext.Declared {
	return ext.Declared{
		URI:         wire.SkillSelection,
		Description: "Metadata under this URI names the skill that a message is for.",
	}
}

// Request leaves the call alone.
func (selection) Request(*ext.Facts, *wire.Carriers) error { return nil }

// Answer leaves the answer alone.
func (selection) Answer(*ext.Facts, *wire.Carriers) error { return nil }
