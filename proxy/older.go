package proxy

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// What agents of 0.2 do not have of what is otherwise 0.3.

// isOlder reports whether the interface's agent speaks a version before this one,
// which on the wire is called 0.3 all the same.
func (x *exchange) isOlder(version string) bool {
	return x.endpoint.Version == wire.V03 && x.view.card.Predates(version)
}

// laterPush are the methods that came with 0.2.5.
var laterPush = map[string]bool{
	"ListTaskPushNotificationConfigs":  true,
	"DeleteTaskPushNotificationConfig": true,
}

// olderCard gets the extended card as 0.2 has it: a plain GET beside the URL that
// the agent is called at (A2A 0.2.6 §7.10).
func (x *exchange) olderCard() error {
	beside, err := x.endpoint.url.Parse("agent/authenticatedExtendedCard")
	if err != nil {
		return err
	}
	at := *x.endpoint
	at.Binding, at.url = wire.HTTPJSON, beside
	x.leg = &leg{
		endpoint: &at,
		call:     &wire.Call{Version: at.Version, Binding: at.Binding, Method: x.call.Method},
		verb:     http.MethodGet,
		retell:   &translate.Retelling{From: at.Side, Call: &x.call},
	}
	return nil
}
