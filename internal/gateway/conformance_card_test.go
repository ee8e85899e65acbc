package gateway_test

import (
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// fetched gets the agent's card, as a stranger of 1.0 does.
func (c *conversation) fetched(header ...string) (*http.Response, string) {
	stranger := *c
	stranger.base, stranger.tenant = c.site.url+"/agents/"+c.agent, ""
	return stranger.raw("GET", "/.well-known/agent-card.json", "", header...)
}

// cardRequirements are those of A2A 1.0 §3.1.11, §7 and §8.
var cardRequirements = []requirement{
	{"CARD-STRUCT-001", "must", "jsonrpc", func(c *conversation) {
		for _, w := range misshapen("AgentCard", "card", c.site.card(c.t, c.agent)) {
			c.errorf("%s", w)
		}
	}},
	{"CARD-PROTO-001", "must", "jsonrpc", func(c *conversation) {
		// What the card declares, answers: place takes every address from it.
		card := c.site.card(c.t, c.agent)
		for _, on := range []string{"jsonrpc", "http_json", "grpc"} {
			c.across(on).refused("GetTask", object{"id": nobodys}, taskNotFound)
		}
		c.want("streaming", at(card, "capabilities.streaming"), true)
		c.want("push notifications", at(card, "capabilities.pushNotifications"), true)
		for _, i := range list(card, "supportedInterfaces") {
			if v := text(i, "protocolVersion"); strings.Count(v, ".") != 1 {
				c.errorf("an interface of version %q", v)
			}
		}
	}},
	{"CARD-CACHE-001", "should", "jsonrpc", func(c *conversation) {
		resp, _ := c.fetched()
		if !strings.Contains(resp.Header.Get("Cache-Control"), "max-age=") || resp.Header.Get("Vary") == "" {
			c.errorf("headers %v", resp.Header)
		}
		if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			c.errorf("Content-Type %q", kind)
		}
	}},
	{"CARD-CACHE-002", "should", "jsonrpc", func(c *conversation) {
		resp, _ := c.fetched()
		tag := resp.Header.Get("ETag")
		again, body := c.fetched("If-None-Match: " + tag)
		if tag == "" || again.StatusCode != http.StatusNotModified || body != "" || again.Header.Get("ETag") != tag {
			c.errorf("ETag %q: %d %s", tag, again.StatusCode, body)
		}
		if other, _ := c.fetched(`If-None-Match: "other"`); other.StatusCode != http.StatusOK {
			c.errorf("another ETag: %d", other.StatusCode)
		}
	}},
	{"CARD-EXT-001", "must", "", func(c *conversation) {
		card := c.ok("GetExtendedAgentCard", object{})
		if !strings.HasSuffix(text(card, "description"), "Extended.") {
			c.errorf("the card is %v", card)
		}
		for _, i := range list(card, "supportedInterfaces") {
			if url := text(i, "url"); !strings.Contains(c.site.url, strings.SplitN(strings.TrimPrefix(url, "http://"), "/", 2)[0]) {
				c.errorf("an interface at %s", url)
			}
		}
	}},
	{"AUTH-SERVER-002", "must", "", func(c *conversation) {
		// Callers without a credential are let in, those with a bad one are not.
		if c.on == "grpc" {
			ctx := metadata.AppendToOutgoingContext(c.ctx, "a2a-version", "1.0", "x-api-key", "bad")
			if _, r, err := c.call(ctx, "GetTask", object{"id": nobodys}); r == nil || r.grpc != codes.Unauthenticated {
				c.errorf("a bad key: %v, %v", r, err)
			}
			return
		}
		for _, credential := range []string{"X-API-Key: bad", "Authorization: Bearer bad"} {
			resp, body := c.raw("GET", "/tasks/x", "", credential)
			if c.on == "jsonrpc" {
				resp, body = c.raw("POST", "", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, credential)
			}
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" {
				c.errorf("%s: %d %s", credential, resp.StatusCode, body)
			}
		}
	}},
}
