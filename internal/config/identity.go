package config

import (
	"errors"
	"fmt"
)

// checkIdentity reports what of identity only holds between sections.
func (c *Config) checkIdentity() []error {
	var errs []error
	asked := c.Server.TLS != nil && (c.Server.TLS.ClientAuth == "optional" || c.Server.TLS.ClientAuth == "require")
	if c.Authn.MTLS != nil && !asked {
		errs = append(errs, at(errors.New("needs server.tls.clientAuth to be optional or require, with a clientCA: "+
			"no certificate would ever be an identity"), "authn", "mtls"))
	}
	for i := range c.Agents {
		a := &c.Agents[i]
		for j, cred := range a.Credentials {
			needs := ""
			switch {
			case cred.Exchange != nil && cred.Exchange.Subject != "assertion":
				needs = "exchange"
			case cred.Passthrough && cred.Audience != "":
				needs = "audience"
			}
			if needs != "" && len(c.Authn.OIDC) == 0 {
				errs = append(errs, at(fmt.Errorf("%s: needs callers with tokens, and authn.oidc has no issuer", needs),
					"agents", fmt.Sprint(i), "credentials", fmt.Sprint(j)))
			}
		}
	}
	return errs
}
