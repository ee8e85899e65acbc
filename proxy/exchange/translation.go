package exchange

import (
	"net/http"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// Translated retells c, which is the caller's call or made like one, for the agent's
// interface, and its answers for whoever made as.
func (x *Exchange) Translated(c *wire.Call, query url.Values, as *wire.Call) (*UpstreamCall, error) {
	to := x.TranslationTarget(c)
	if c.Extra == nil { // a question of the gateway's own: paths are read as the caller's are
		again := *c
		again.Extra = x.Call.Extra
		c = &again
	}
	return x.TranslatedAs(c, query, as, to)
}

// TranslationTarget is the side that a call is retold for.
func (x *Exchange) TranslationTarget(c *wire.Call) translate.To {
	to := translate.To{
		Side: x.Endpoint.Side, Tenant: x.Endpoint.Tenant, ID: x.idFor(c),
		Bytes: x.Agent.Bytes(), CallerBytes: x.CallerBytes(),
	}
	if to.Side == (wire.Side{Version: wire.V03, Binding: wire.JSONRPC}) {
		to.OutputModes = x.View.OutputModes
	}
	return to
}

// TranslatedAs retells c for the side that to names. Where versions of an interface differ in the wild,
// the call has an Other: a subscription with the other verb, a push config in the other form. It is
// asked when the first is refused with a status that says "not so".
func (x *Exchange) TranslatedAs(c *wire.Call, query url.Values, as *wire.Call, to translate.To) (*UpstreamCall, error) {
	out, e := translate.Request(c, query, to)
	if e != nil {
		return nil, e
	}
	call := out.Call // and not out itself, which has the body
	l := &UpstreamCall{
		Endpoint: x.Endpoint, Call: &call,
		Verb: out.Verb, Path: out.Path, Query: out.Query, Body: out.Body, Wait: out.Wait,
		Retell: &translate.Retelling{
			From: x.Endpoint.Side, Call: as, History: out.History,
			Bytes: to.Bytes, CallerBytes: to.CallerBytes, Told: x.TaskTold,
		},
	}
	switch {
	case to.Binding != wire.HTTPJSON || to.Alternative:
	case out.Call.Method.Name == wire.SubscribeToTask:
		// 1.0's text says POST and its proto GET, 0.3 the other way round.
		l.Other = func() (*UpstreamCall, error) {
			again := *l
			again.Verb, again.Body, again.Other = otherVerb(l.Verb), nil, nil // a GET has none, and a POST needs none
			return &again, nil
		}
	case out.Call.Method.Name == wire.CreatePushConfig && to.Version == wire.V03:
		l.Other = func() (*UpstreamCall, error) {
			to.Alternative, to.Room = true, nil // the first may be on its way still
			return x.TranslatedAs(c, query, as, to)
		}
	}
	return l, nil
}

func otherVerb(verb string) string {
	if verb == http.MethodGet {
		return http.MethodPost
	}
	return http.MethodGet
}
