package exchange

import (
	"errors"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// ErrAgentBroke is wrapped by what ends a call whose connection to the agent failed.
var ErrAgentBroke = errors.New("the agent's connection broke")

// ErrAgentSaid is wrapped by errors that are the agent's own answer, passed on as such.
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

// NotAllowed is the refusal of an HTTP method, with the Allow field that RFC 9110 §15.5.6 asks for.
func NotAllowed(verbs []string) *wire.Error {
	e := wire.Errorf(wire.VerbNotAllowed, "use %s here", strings.Join(verbs, " or "))
	e.Header = http.Header{"Allow": {strings.Join(verbs, ", ")}}
	return e
}
