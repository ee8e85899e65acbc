package proxy

import (
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// metadata is the RFC 9728 document. It has no jwks_uri: that is for keys that a
// resource signs its answers with, and the gateway's sign what it says to agents. It
// has no scopes_supported: they would tell strangers of rules.
type metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name"`

	// Absent means false.
	Certificates bool     `json:"tls_client_certificate_bound_access_tokens,omitzero"`
	Proofs       []string `json:"dpop_signing_alg_values_supported,omitempty"`
	NeedsProof   bool     `json:"dpop_bound_access_tokens_required,omitzero"`
}

const (
	jwksPath = "/.well-known/jwks.json"
)

// about is the document of a resource. How tokens are taken is the same everywhere, and
// says nothing about which agents exist.
func (au *authenticator) about(resource string) metadata {
	tokens := au.authn.Usage()
	m := metadata{Resource: resource, Servers: tokens.Issuers, Name: "a2a-gateway", Proofs: tokens.Proofs}
	if tokens.Bearer {
		m.Methods = []string{"header"}
	}
	m.Certificates = len(tokens.Issuers) > 0 && au.server.TLS != nil && au.server.TLS.AsksClients()
	m.NeedsProof = tokens.Bound && !m.Certificates // else a certificate would do
	return m
}

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
	body, err := json.Marshal(ds.about(origin + path))
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
