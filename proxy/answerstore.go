package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// answerStore remembers, encrypted, what became of messages, for callers who send them again.
type answerStore struct {
	Sealer    Sealer
	Telemetry *telemetry.Telemetry
	Values    state.Values
}
