package agents

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

const plainBytes = "plain"

// Bytes is how the agent has files where it speaks 0.3's ProtoJSON. Nothing that it
// says of itself tells, so that the operator has to.
func (a *Agent) Bytes() translate.Bytes {
	if a.FileBytes == plainBytes {
		return translate.Plain
	}
	return translate.Doubled
}
