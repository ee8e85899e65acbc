package proxy

import (
	"context"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// What agents of older versions do not have, or say in other words.

// isOlder reports whether the interface's agent speaks a version before this one,
// which on the wire is called 0.3 all the same.
func (x *exchange) isOlder(version string) bool {
	return x.endpoint.Version == wire.V03 && x.view.Card.Predates(version)
}

// laterPush are the methods that came with 0.2.5.
var laterPush = map[string]bool{
	"ListTaskPushNotificationConfigs":  true,
	"DeleteTaskPushNotificationConfig": true,
}

// olderCard gets the extended card as 0.2 has it: a plain GET beside the URL that
// the agent is called at (A2A 0.2.6 §7.10).
func (x *exchange) olderCard() error {
	beside, err := x.endpoint.URL.Parse("agent/authenticatedExtendedCard")
	if err != nil {
		return err
	}
	at := *x.endpoint
	at.Binding, at.URL = wire.HTTPJSON, beside
	x.upstream = &upstreamCall{
		Endpoint: &at,
		call:     &wire.Call{Version: at.Version, Binding: at.Binding, Method: x.call.Method},
		verb:     http.MethodGet,
		retell:   &translate.Retelling{From: at.Side, Call: &x.call},
	}
	return nil
}

// ended gives the refusal of a message to a task that has ended the name that 1.0
// has for it (A2A 1.0 §3.1.1). Before, agents called such a message invalid, and
// a client could not tell that it should begin anew.
func (fw *forwarder) ended(ctx context.Context, x *exchange, e *wire.Error) *wire.Error {
	invalid := e.Code == wire.InvalidParams.Code || e.Code == wire.InvalidRequest.Code
	if !invalid || x.call.TaskID == "" || x.call.Method.Subject != wire.OfMessage ||
		x.call.Version != wire.V10 || x.endpoint.Version == wire.V10 {
		return e
	}
	_, _, seen, err := fw.ask(ctx, x, question(getTask, x.call.TaskID, nil))
	if err != nil || !terminal(seen.State) {
		return e
	}
	return wire.Errorf(wire.Unsupported, "the task has ended; a message without its id begins another").Because(e)
}
