package proxy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	var served string
	var at exchange.Site
	by := func(name string) record.Handler {
		return func(_ http.ResponseWriter, _ *http.Request, found exchange.Site) { served, at = name, found }
	}
	main, hosted := newRoutes(by("lost")), newRoutes(by("lost"))
	main.Mount(exchange.AgentsPath+"{agent}", by("call"), by("card"))
	hosted.Mount("", by("call"), by("card"))
	main.Fix(jwksPath, by("keys"))
	main.Fix("/agents", by("catalog"))
	main.Fix(exchange.SharedPath, by("call"))
	main.Below(exchange.SharedPath+"/", false, by("call"))
	main.Below("/a.Service/", false, by("rpc"))
	main.Below(exchange.MetadataPath+exchange.AgentsPath, true, by("metadata"))
	for _, tt := range []struct {
		routes             *intake.Routes
		path               string
		by                 string
		agent, skill, rest string
		pattern            string
		base               bool
	}{
		{main, "/agents/billing", "call", "billing", "", "", "/agents/{agent}", true},
		{main, "/agents/billing/", "call", "billing", "", "/", "/agents/{agent}/*", true},
		{main, "/agents/billing/v1/card", "call", "billing", "", "/v1/card", "/agents/{agent}/*", false},
		{main, "/agents/billing" + exchange.CardPath, "card", "billing", "", exchange.CardPath, "/agents/{agent}" + exchange.CardPath, false},
		{main, "/agents/billing/skills/pay", "call", "billing", "pay", "", "/agents/{agent}/skills/{skill}", true},
		{main, "/agents/billing/skills/pay/message:send", "call", "billing", "pay", "/message:send", "/agents/{agent}/skills/{skill}/*", false},
		{main, "/agents/billing/skills/pay" + exchange.LegacyCardPath, "card", "billing", "pay", exchange.LegacyCardPath, "/agents/{agent}/skills/{skill}" + exchange.LegacyCardPath, false},
		{main, "/agents/billing/skills/", "call", "billing", "", "/skills/", "/agents/{agent}/*", false},
		{main, "/agents/billing/skills", "call", "billing", "", "/skills", "/agents/{agent}/*", false},
		{main, "/agents/bill%2Fing", "call", "bill%2Fing", "", "", "/agents/{agent}", true},
		{main, "/agents//", "call", "", "", "/", "/*", true},
		{main, "/agents/", "lost", "", "", "", "", false},
		{main, "/agents", "catalog", "", "", "", "/agents", false},
		{main, "/agentsx/billing", "lost", "", "", "", "", false},
		{main, "/", "lost", "", "", "", "", false},
		{main, "*", "lost", "", "", "", "", false},
		{main, "", "lost", "", "", "", "", false},
		{main, jwksPath, "keys", "", "", "", jwksPath, false},
		{main, exchange.SharedPath, "call", "", "", "", exchange.SharedPath, true},
		{main, exchange.SharedPath + "/", "call", "", "", "/", exchange.SharedPath + "/*", true},
		{main, exchange.SharedPath + "/message:send", "call", "", "", "/message:send", exchange.SharedPath + "/*", false},
		{main, exchange.SharedPath + "x", "lost", "", "", "", "", false},
		{main, "/a.Service/Send", "rpc", "", "", "/Send", "/a.Service/*", false},
		{main, exchange.MetadataPath + "/agents/billing", "metadata", "", "", "/billing", exchange.MetadataPath + "/agents/{agent}", false},
		{main, exchange.MetadataPath + "/agents/billing/more", "lost", "", "", "", "", false},
		{main, exchange.MetadataPath + "/agents/", "lost", "", "", "", "", false},
		{hosted, "/", "call", "", "", "/", "/*", true},
		{hosted, "/message:send", "call", "", "", "/message:send", "/*", false},
		{hosted, "/skills/pay", "call", "", "pay", "", "/skills/{skill}", true},
		{hosted, exchange.CardPath, "card", "", "", exchange.CardPath, exchange.CardPath, false},
		{hosted, "/agents/billing", "call", "", "", "/agents/billing", "/*", false},
		{hosted, "*", "lost", "", "", "", "", false},
	} {
		u := &url.URL{Path: tt.path}
		if decoded, err := url.PathUnescape(tt.path); err == nil && decoded != tt.path {
			u.Path, u.RawPath = decoded, tt.path
		}
		for _, verb := range []string{http.MethodPost, http.MethodGet} { // the search has no short cut for GET
			r := (&http.Request{Method: verb, URL: u}).WithContext(t.Context())
			tt.routes.Serve(httptest.NewRecorder(), r, intake.Written(r))
			by := tt.by
			if tt.base && by == "call" && at.Fixed == "" && verb == http.MethodGet {
				by = "card" // which is at the base too
			}
			if served != by || at.Agent != tt.agent || at.Skill != tt.skill || at.Rest != tt.rest ||
				at.Pattern() != tt.pattern || at.Base() != tt.base {
				t.Errorf("%s %s: served by %s at %+v, route %q, base %t; want %+v", verb, tt.path, served, at, at.Pattern(), at.Base(), tt)
			}
		}
	}
}
