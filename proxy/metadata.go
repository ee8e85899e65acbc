package proxy

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// metadata is the RFC 9728 document.
type metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name"`
}

const (
	metadataPath = "/.well-known/oauth-protected-resource"
	jwksPath     = "/.well-known/jwks.json"
)

// ownHost is the URL of the host asked for, if an agent has it for itself.
func (p *Proxy) ownHost(r *http.Request) (string, bool) {
	host, _ := server.CanonicalHost(r.Host)
	if p.hosts[host] == nil {
		return "", false
	}
	return p.PublicURL.Scheme + "://" + host, true
}

// metadataURL is where a refused caller can learn where tokens are to be had. It
// follows the URL that was asked for, never the configuration: an agent that
// does not exist gets one as well.
func (p *Proxy) metadataURL(x *exchange) string {
	if own, ok := p.ownHost(x.r); ok {
		return own + metadataPath
	}
	path := strings.TrimPrefix(x.r.URL.EscapedPath(), "/agents/")
	if path == x.r.URL.EscapedPath() {
		return p.PublicURL.String() + metadataPath
	}
	id, _, _ := strings.Cut(path, "/")
	return p.PublicURL.String() + metadataPath + "/agents/" + id
}

// serveMetadata writes the document. It says nothing about which agents exist:
// one that does not is answered for as well.
func (p *Proxy) serveMetadata(x *exchange) error {
	if _, err := p.screen(x); err != nil {
		return err
	}
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		return notAllowed([]string{http.MethodGet, http.MethodHead})
	}
	resource := p.PublicURL.String()
	if own, ok := p.ownHost(x.r); ok {
		resource = own
	} else if _, id, ok := strings.Cut(x.r.URL.EscapedPath(), metadataPath+"/agents/"); ok {
		resource += "/agents/" + id
	}
	body, err := json.Marshal(metadata{
		Resource: resource, Servers: p.Authn.Issuers(), Methods: []string{"header"}, Name: "a2a-gateway",
	})
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Cache-Control", "public, max-age=300")
	_, err = x.w.Write(body)
	return err
}

// serveKeys writes the gateway's public keys. They are nobody's secret, and say nothing
// of who may call.
func (p *Proxy) serveKeys(x *exchange) error {
	if _, err := p.screen(x); err != nil {
		return err
	}
	switch {
	case p.JWKS == nil:
		return x.noRoute()
	case x.r.Method != http.MethodGet && x.r.Method != http.MethodHead:
		return notAllowed([]string{http.MethodGet, http.MethodHead})
	}
	x.w.Header().Set("Content-Type", "application/jwk-set+json")
	x.w.Header().Set("Cache-Control", "public, max-age=300")
	_, err := x.w.Write(p.JWKS())
	return err
}
