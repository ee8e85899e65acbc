package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Credentials counts credentials: those that callers present, and those that agents are shown.
type Credentials struct {
	sets    *labelSets
	metrics identityMetrics
}

// identityMetrics are about credentials: those of callers, and those that agents are shown.
type identityMetrics struct {
	Authn         counterVec `metric:"authn_total{provider,result=ok|refused|unavailable|other}" help:"Credentials looked at."`
	JWKSRefreshes counterVec `metric:"jwks_refreshes_total{result=ok|error}" help:"Fetches of issuers' keys."`
	// JWKSSkipped counts a key once, when a set first has it: of issuers and of those who
	// sign cards. It is other where it is for another use or algorithm.
	JWKSSkipped counterVec `metric:"jwks_keys_skipped_total{reason=other|malformed|weak|secret|excess}" help:"Keys of JWK sets that cannot be used."`
	// Throttled are refusals because too many came from one address.
	Throttled      prometheus.Counter `metric:"authn_throttled_total" help:"Refused credentials answered 429."`
	UpstreamTokens counterVec         `metric:"upstream_tokens_total{agent,kind=oauth2|exchange|actor|other,result=ok|declined|failed|other}" help:"Fetches of tokens to show to agents."`
}

// Presented counts one look at a credential; result is ok, refused or unavailable.
func (c *Credentials) Presented(provider, result string) {
	c.metrics.Authn.with(member(c.sets.Load().providers, provider), result).Inc()
}

// JWKSRefreshed counts one fetch of an issuer's keys.
func (c *Credentials) JWKSRefreshed(err error) {
	c.metrics.JWKSRefreshes.WithLabelValues(okOrError(err)).Inc()
}

// JWKSKeySkipped counts one key of a set that cannot be used; reason is one of jws.Reasons.
func (c *Credentials) JWKSKeySkipped(reason string) {
	c.metrics.JWKSSkipped.with(reason).Inc()
}

// Throttled counts a caller who presented too many bad credentials.
func (c *Credentials) Throttled() { c.metrics.Throttled.Inc() }

// UpstreamToken counts the fetch of a token to show to an agent.
func (c *Credentials) UpstreamToken(agent, kind, result string) {
	c.metrics.UpstreamTokens.with(c.sets.agent(agent), kind, result).Inc()
}
