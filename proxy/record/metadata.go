package record

import (
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Resource is what a request is about, as tokens are for: an agent, or what belongs to none,
// by the URL that was asked for and never by the configuration. An agent that does not exist
// is one as well.
func (rc *Recorder) Resource(x *exchange.Exchange) (origin, path string) {
	host, _ := hostname.Canonical(x.Request.Host)
	agent := ""
	switch {
	case x.Site.Agent != "":
		agent = "/agents/" + x.Site.Agent
	case x.Site.Fixed == exchange.MetadataPath+exchange.AgentsPath:
		agent = "/agents" + x.Site.Rest
	case x.Site.Tools:
		agent = strings.TrimPrefix(x.Site.Fixed, exchange.MetadataPath)
	}
	a := rc.Hosts[host]
	_, shared := rc.Self[host]
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
func (rc *Recorder) metadataURL(x *exchange.Exchange) string {
	origin, path := rc.Resource(x)
	return origin + exchange.MetadataPath + path
}
