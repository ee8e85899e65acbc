package proxy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	var served string
	var at site
	by := func(name string) handler {
		return func(_ http.ResponseWriter, _ *http.Request, found site) { served, at = name, found }
	}
	main, hosted := newRoutes(by("lost")), newRoutes(by("lost"))
	main.mount(agentsPath+"{agent}", by("call"), by("card"))
	hosted.mount("", by("call"), by("card"))
	main.fix(jwksPath, by("keys"))
	main.fix("/agents", by("catalog"))
	main.fix(sharedPath, by("call"))
	main.below(sharedPath+"/", false, by("call"))
	main.below("/a.Service/", false, by("rpc"))
	main.below(metadataPath+agentsPath, true, by("metadata"))
	for _, tt := range []struct {
		routes             *routes
		path               string
		by                 string
		agent, skill, rest string
		pattern            string
		base               bool
	}{
		{main, "/agents/billing", "call", "billing", "", "", "/agents/{agent}", true},
		{main, "/agents/billing/", "call", "billing", "", "/", "/agents/{agent}/*", true},
		{main, "/agents/billing/v1/card", "call", "billing", "", "/v1/card", "/agents/{agent}/*", false},
		{main, "/agents/billing" + cardPath, "card", "billing", "", cardPath, "/agents/{agent}" + cardPath, false},
		{main, "/agents/billing/skills/pay", "call", "billing", "pay", "", "/agents/{agent}/skills/{skill}", true},
		{main, "/agents/billing/skills/pay/message:send", "call", "billing", "pay", "/message:send", "/agents/{agent}/skills/{skill}/*", false},
		{main, "/agents/billing/skills/pay" + legacyCardPath, "card", "billing", "pay", legacyCardPath, "/agents/{agent}/skills/{skill}" + legacyCardPath, false},
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
		{main, sharedPath, "call", "", "", "", sharedPath, true},
		{main, sharedPath + "/", "call", "", "", "/", sharedPath + "/*", true},
		{main, sharedPath + "/message:send", "call", "", "", "/message:send", sharedPath + "/*", false},
		{main, sharedPath + "x", "lost", "", "", "", "", false},
		{main, "/a.Service/Send", "rpc", "", "", "/Send", "/a.Service/*", false},
		{main, metadataPath + "/agents/billing", "metadata", "", "", "/billing", metadataPath + "/agents/{agent}", false},
		{main, metadataPath + "/agents/billing/more", "lost", "", "", "", "", false},
		{main, metadataPath + "/agents/", "lost", "", "", "", "", false},
		{hosted, "/", "call", "", "", "/", "/*", true},
		{hosted, "/message:send", "call", "", "", "/message:send", "/*", false},
		{hosted, "/skills/pay", "call", "", "pay", "", "/skills/{skill}", true},
		{hosted, cardPath, "card", "", "", cardPath, cardPath, false},
		{hosted, "/agents/billing", "call", "", "", "/agents/billing", "/*", false},
		{hosted, "*", "lost", "", "", "", "", false},
	} {
		u := &url.URL{Path: tt.path}
		if decoded, err := url.PathUnescape(tt.path); err == nil && decoded != tt.path {
			u.Path, u.RawPath = decoded, tt.path
		}
		for _, verb := range []string{http.MethodPost, http.MethodGet} { // the search has no short cut for GET
			r := (&http.Request{Method: verb, URL: u}).WithContext(t.Context())
			tt.routes.serve(httptest.NewRecorder(), r, written(r))
			by := tt.by
			if tt.base && by == "call" && at.fixed == "" && verb == http.MethodGet {
				by = "card" // which is at the base too
			}
			if served != by || at.agent != tt.agent || at.skill != tt.skill || at.rest != tt.rest ||
				at.pattern() != tt.pattern || at.base() != tt.base {
				t.Errorf("%s %s: served by %s at %+v, route %q, base %t; want %+v", verb, tt.path, served, at, at.pattern(), at.base(), tt)
			}
		}
	}
}
