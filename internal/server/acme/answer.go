//go:build !minimal

package acme

import (
	"crypto/tls"
	"net"
	"net/http"
)

// Status is how all names are doing, in the order of the configuration.
func (k *Keeper) Status() []Status {
	// Without server.tls.acme there is no Keeper, and nothing to tell.
	if k == nil {
		return nil
	}
	domains := k.current.Load().config.Domains
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]Status, len(domains))
	for i, domain := range domains {
		list[i] = Status{Domain: domain, Err: k.failing[domain]}
		if leaf := k.certs[domain].Leaf; leaf != nil {
			list[i].NotAfter = leaf.NotAfter
		}
	}
	return list
}

// Answer is the certificate for a CA's check of a name by tls-alpn-01.
func (k *Keeper) Answer(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.current.Load().magic.GetCertificate(hello)
}

// ServeHTTP answers checks by http-01, of configured names only, and nothing else.
func (k *Keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	// Whoever asks for another name learns nothing, not even that a check is under way.
	if now := k.current.Load(); !now.config.Has(host) || !now.issuer.HandleHTTPChallenge(w, r) {
		http.NotFound(w, r)
	}
}
