package gateway

import (
	"maps"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// labels are the values that metrics may be labelled with. During a reload it is called
// with two configurations: what belongs to either may be counted then. Names that stand in
// both are there twice, which the metrics do not mind. The lists are the closed sets of
// telemetry/metrics: whatever is not in them is counted as "other".
func labels(cfgs ...*config.Config) metrics.Labels {
	l := metrics.Labels{
		Rules:     policy.Undecided(),
		Providers: append(schemes.Issuers(nil), authn.ProviderUnknown), URIs: slices.Collect(maps.Keys(provided.Providers())),
	}
	for _, cfg := range cfgs {
		l.Agents = append(l.Agents, cfg.AgentIDs()...)
		for _, r := range cfg.Policy.Rules {
			l.Rules = append(l.Rules, r.Name)
		}
		for i := range cfg.Policy.Limits.Each {
			l.Limits = append(l.Limits, cfg.Policy.Limits.Each[i].Name)
		}
		for i := range cfg.Policy.Authorizers {
			l.Authorizers = append(l.Authorizers, cfg.Policy.Authorizers[i].Name)
		}
		for i := range cfg.Policy.Guards {
			l.Guards = append(l.Guards, cfg.Policy.Guards[i].Name)
		}
		for _, e := range cfg.Extensions {
			l.URIs = append(l.URIs, e.URI)
			for _, m := range e.Methods {
				l.Methods = append(l.Methods, m.Name)
			}
		}
		if wanted := certificates.Section(&cfg.Server); wanted != nil {
			l.Domains = append(l.Domains, wanted.Domains...)
		}
		for _, i := range cfg.Authn.OIDC {
			l.Providers = append(l.Providers, i.Issuer)
		}
	}
	return l
}
