package forward

import (
	"context"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// isOlder reports whether the interface's agent speaks a version before this one,
// which on the wire is called 0.3 all the same.
//
// 0.2 and 0.3 are one version on the wire (docs/versions.md); the card's protocolVersion tells
// them apart where a method came later.
func isOlder(x *exchange.Exchange, version string) bool {
	return x.Endpoint.Version == wire.V03 && x.View.Card.Predates(version)
}

// getOlderCard gets the extended card as 0.2 has it: a plain GET beside the URL that
// the agent is called at (A2A 0.2.6 §7.10).
func getOlderCard(x *exchange.Exchange) error {
	beside, err := x.Endpoint.URL.Parse("agent/authenticatedExtendedCard")
	if err != nil {
		return err
	}
	at := *x.Endpoint
	at.Binding, at.URL = wire.HTTPJSON, beside
	x.Upstream = &exchange.UpstreamCall{
		Endpoint: &at,
		Call:     &wire.Call{Version: at.Version, Binding: at.Binding, Method: x.Call.Method},
		Verb:     http.MethodGet,
		Retell:   &translate.Retelling{From: at.Side, Call: &x.Call},
	}
	return nil
}

// NameEndedTask gives the refusal of a message to a task that has ended the name that 1.0
// has for it (A2A 1.0 §3.1.1). Before, agents called such a message invalid, and
// a client could not tell that it should begin anew.
//
// It asks the agent for the task, at most once, and only for callers of 1.0: older ones know no
// other word than INVALID_PARAMS.
func (fw *Forwarder) NameEndedTask(ctx context.Context, x *exchange.Exchange, e *wire.Error) *wire.Error {
	invalid := e.Code == wire.InvalidParams.Code || e.Code == wire.InvalidRequest.Code
	if !invalid || x.Call.TaskID == "" || x.Call.Method.Subject != wire.OfMessage ||
		x.Call.Version != wire.V10 || x.Endpoint.Version == wire.V10 {
		return e
	}
	_, _, seen, err := fw.AskAboutTask(ctx, x, intake.Question(intake.GetTask, x.Call.TaskID, nil))
	if err != nil || !taskstate.Terminal(seen.State) {
		return e
	}
	return wire.Errorf(wire.Unsupported, "the task has ended; a message without its id begins another").Because(e)
}
