package config

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// checkIdentity reports what of identity only holds between sections: certificates that nobody asks
// clients for, tokens that are longer than a request head may be, headers that would hand an agent
// the caller's credential, and credentials that are made of tokens where no caller has one. Such a
// configuration would refuse every call it was written for, or show an agent what is not for it.
func (c *Config) checkIdentity() []error {
	var errs []error
	// TLS ends at the listener: without a handshake that asks for a certificate no scheme sees
	// one.
	asked := c.Server.TLS != nil && (c.Server.TLS.ClientAuth == "optional" || c.Server.TLS.ClientAuth == "require")
	for _, r := range schemes.Of(&c.Authn) {
		if r.Certificates && !asked {
			errs = append(errs, keypath.At(errors.New("needs server.tls.clientAuth to be optional or require, with a clientCA: "+
				"no certificate would ever be an identity"), "authn", r.Name))
		}
	}
	if most := c.Authn.Limits.Token; most >= c.Server.Limits.Header && c.Server.Limits.Header > 0 && most > 0 {
		errs = append(errs, keypath.At(fmt.Errorf("%s does not fit into a request head of server.limits.header, %s", most, c.Server.Limits.Header), "authn", "limits", "token"))
	}
	// These are kept from agents whatever headers are passed on, so that listing one would have no
	// effect but the belief that it had.
	carrying := c.Authn.CredentialHeaders()
	for i := range c.Agents {
		a := &c.Agents[i]
		for _, name := range a.Headers.Request {
			if slices.Contains(carrying, http.CanonicalHeaderKey(name)) {
				errs = append(errs, keypath.At(fmt.Errorf("%s carries credentials and cannot be listed", name), "agents", i, "headers"))
			}
		}
		for j, cred := range a.Credentials {
			needs := "" // the key that asks for a token of the caller's
			switch {
			case cred.Exchange != nil && cred.Exchange.Subject != "assertion":
				needs = "exchange"
			case cred.Passthrough && cred.Audience != "":
				needs = "audience"
			}
			if needs != "" && len(c.Authn.OIDC) == 0 {
				errs = append(errs, keypath.At(errors.New("needs callers with tokens, and authn.oidc has no issuer"),
					"agents", i, "credentials", j, needs))
			}
		}
	}
	return errs
}

// identities returns warnings about credentials that tell callers apart by names: what is
// one person's at one issuer may be another's at the next.
func (c *Config) identities() []string {
	// The fixed names count whether their scheme is configured or not: it may be in the next
	// configuration.
	known := append(schemes.Issuers(nil), authn.IssuerAnonymous)
	for _, issuer := range c.Authn.OIDC {
		known = append(known, issuer.Issuer)
	}
	var warnings []string
	for i := range c.Agents {
		for j, cred := range c.Agents[i].Credentials {
			mapped, key := &credentials.Identity{}, ""
			switch {
			case cred.Exchange != nil && cred.Exchange.Identity != nil:
				mapped, key = cred.Exchange.Identity, "exchange"
			case cred.Assertion != nil && cred.Assertion.Identity != nil:
				mapped, key = cred.Assertion.Identity, "assertion"
			}
			at := fmt.Sprintf("agents[%d].credentials[%d].%s.identity", i, j, key)
			if len(mapped.Subjects) > 0 && len(mapped.Issuers) == 0 && len(c.Authn.OIDC) > 1 {
				warnings = append(warnings, fmt.Sprintf("%s.subjects: holds for callers of every one of %d issuers, "+
					"who may have the same names: say whose it is by issuers", at, len(c.Authn.OIDC)))
			}
			for _, issuer := range mapped.Issuers {
				if !slices.Contains(known, issuer) {
					warnings = append(warnings, fmt.Sprintf("%s.issuers: no caller comes from %s", at, issuer))
				}
			}
		}
	}
	return warnings
}
