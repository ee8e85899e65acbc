package exchange

import (
	"errors"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var ErrAgentBroke = errors.New("the agent's connection broke")

var ErrAgentSaid = errors.New("agent answered")

// Said is a kind as the agent's own word. JSON-RPC has it under status 200, as the
// agent would: a2a-go's client reads no body under another. What HTTP itself must
// say keeps its status.
func Said(k *wire.Kind) *wire.Kind {
	if k != wire.Internal && k != wire.BadAgentResponse {
		return k
	}
	own := *k
	own.RPC = http.StatusOK
	return &own
}

// RetryLater is a refusal that asks to come back.
func RetryLater(seconds, text string) *wire.Error {
	e := wire.Errorf(wire.Unavailable, "%s", text)
	e.Header = http.Header{"Retry-After": {seconds}}
	return e
}

func NotAllowed(verbs []string) *wire.Error {
	e := wire.Errorf(wire.VerbNotAllowed, "use %s here", strings.Join(verbs, " or "))
	e.Header = http.Header{"Allow": {strings.Join(verbs, ", ")}}
	return e
}
