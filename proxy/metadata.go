package proxy

import (
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

const (
	jwksPath = "/.well-known/jwks.json"
)

// resource is what a request is about, as tokens are for: an agent, or what belongs to none,
// by the URL that was asked for and never by the configuration. An agent that does not exist
// is one as well.
func (rc *recorder) resource(x *exchange.Exchange) (origin, path string) {
	host, _ := server.CanonicalHost(x.Request.Host)
	agent := ""
	switch {
	case x.Site.Agent != "":
		agent = "/agents/" + x.Site.Agent
	case x.Site.Fixed == exchange.MetadataPath+exchange.AgentsPath:
		agent = "/agents" + x.Site.Rest
	}
	a := rc.hosts[host]
	_, shared := rc.self[host]
	switch {
	case a != nil && !shared:
		return rc.PublicURL.Scheme + "://" + host, ""
	case a != nil && agent == "":
		return rc.PublicURL.Scheme + "://" + host, rc.PublicURL.Path
	}
	return rc.PublicURL.Scheme + "://" + rc.PublicURL.Host, rc.PublicURL.Path + (&url.URL{Path: agent}).EscapedPath()
}

// metadataURL is where a refused caller can learn where tokens are to be had. It has the path
// of the resource behind its own (RFC 9728 §3.1).
func (rc *recorder) metadataURL(x *exchange.Exchange) string {
	origin, path := rc.resource(x)
	return origin + exchange.MetadataPath + path
}

// serveMetadata writes the document. One for an agent that does not exist is there as
// well.
func (ds *documents) serveMetadata(x *exchange.Exchange) error {
	if _, err := ds.screen(x); err != nil {
		return err
	}
	origin, path := ds.resource(x)
	body, err := json.Marshal(ds.About(origin + path))
	if err != nil {
		return err
	}
	return x.Publish("application/json", body)
}

// serveKeys writes the gateway's public keys. They are nobody's secret, and say nothing
// of who may call.
func (ds *documents) serveKeys(x *exchange.Exchange) error {
	if _, err := ds.screen(x); err != nil {
		return err
	}
	if ds.JWKS == nil {
		return ds.noRoute(x)
	}
	return x.Publish("application/jwk-set+json", ds.JWKS())
}
