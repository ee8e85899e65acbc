package jwt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/authn/dpop"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// Scheme accepts access tokens of several issuers. The headers they come in are a
// scheme each; what is known of issuers and tokens is common to them.
// last is the JOSE header of the latest good token: most tokens of an issuer have the same one,
// byte for byte, which need not be read again.
type Scheme struct {
	issuers map[string]*issuer // by issuer identifier
	names   []string           // of issuers, in the order of configuration
	headers []*tokens          // in the order of configuration
	cache   *cache
	last    atomic.Pointer[header] // of the token that was verified last
	prover  *dpop.Prover
	limits  func() authn.Limits
	source  func(*http.Request) string
	blame   *failures.Counter // nil: no limit
	now     func() time.Time
	observe func(provider, result string)
	where   func() string // Chain.where
}

// tokens is the scheme of one header that carries access tokens.
// The headers are told apart as authn.Carrier, so that a chain knows which credentials a request
// has.
type tokens struct {
	*Scheme

	header string  // canonical
	opaque *issuer // is asked about tokens that cannot be read here; nil: nobody is
	keys   bool    // API keys may come in this header: they are not ours

	keyHeader string // that carries API keys; "" where there are none
}

// New takes over from the previous chain what did not change: an issuer whole,
// or at least its keys when only the reading of its tokens is another one.
// ctx ends nothing by itself: what is shared with later chains ends by its lease.
func New(ctx context.Context, cfg *Config, o Options) *Scheme {
	o.defaults()
	b := &Scheme{issuers: make(map[string]*issuer, len(cfg.OIDC)), now: o.Now, observe: o.Observe, limits: o.Limits,
		source: o.Source, blame: o.Blame, where: o.Where}
	if b.limits == nil {
		limits := cfg.Limits
		b.limits = func() authn.Limits { return limits }
	}
	old := &Scheme{cache: new(cache)}
	if o.Previous != nil {
		old = o.Previous
	}
	b.cache = old.cache
	b.prover = dpop.New(cfg.DPoP, &dpop.Options{Scheme: o.Scheme, Proofs: o.Proofs, Nonces: o.Nonces, Now: o.Now}, old.prover)
	// An issuer is rebuilt when anything changes that its tokens are read by; its keys stay as
	// long as they are fetched from the same place.
	depth := cfg.Actors.depth()
	for i := range cfg.OIDC {
		is := &cfg.OIDC[i]
		was := old.issuers[is.Issuer]
		switch {
		case was == nil || !was.sameKeys(is) || !was.keys.lease.Share():
			b.issuers[is.Issuer] = newIssuer(*is, newKeySet(ctx, is, &o), depth, &o)
		case was.same(is, depth):
			b.issuers[is.Issuer] = was
		default:
			b.issuers[is.Issuer] = newIssuer(*is, was.keys, depth, &o)
		}
		b.carry(b.issuers[is.Issuer], cfg)
		b.names = append(b.names, is.Issuer)
	}
	return b
}

// carry enters an issuer with the header that its tokens come in.
func (b *Scheme) carry(is *issuer, cfg *Config) {
	name := is.header
	i := slices.IndexFunc(b.headers, func(t *tokens) bool { return t.header == name })
	if i < 0 {
		i = len(b.headers)
		b.headers = append(b.headers, &tokens{Scheme: b, header: name, keys: name == credential.Authorization && cfg.Keys, keyHeader: cfg.KeyHeader})
	}
	if is.cfg.Introspection != nil {
		b.headers[i].opaque = is
	}
}

// Authenticate verifies the token of a request that has one in this header, and that
// it is its sender's.
// The outcome is counted by issuer, or as unknown where the token names none that is configured.
func (t *tokens) Authenticate(r *http.Request) (*authn.Principal, error) {
	shown, ok := t.shown(r)
	if !ok {
		return nil, authn.ErrNoCredentials
	}
	if refused := t.misread(shown); refused != nil {
		t.observe(authn.ProviderUnknown, string(refused.Fault))
		return nil, t.blame(refused, shown)
	}
	provider, e, err := t.find(r, shown.Token)
	if err == nil {
		err = t.proved(r, shown, &e)
	}
	t.observe(provider, authn.Outcome(err))
	if err != nil {
		return nil, t.blame(err, shown)
	}
	return e.principal, nil
}

// shown is the token that a request has in this header, if it has one.
func (t *tokens) shown(r *http.Request) (credential.Presented, bool) {
	values := r.Header[t.header]
	if len(values) == 0 {
		return credential.Presented{}, false
	}
	shown, ok := credential.ReadToken(values[0], t.header != credential.Authorization)
	return shown, ok && (!t.keys || !strings.HasPrefix(shown.Token, credential.KeyPrefix))
}

// blame says in a refusal which challenge it belongs to.
func (t *tokens) blame(err error, shown credential.Presented) error {
	refused, ok := err.(*authn.Refused) //nolint:errorlint // others are no challenge's business
	if !ok {
		return err
	}
	// A copy is changed: the same refusal is handed to all who show the same token.
	r := *refused // it may be remembered, and shared
	if shown.Scheme == credential.SchemeDPoP {
		r.Scheme = credential.SchemeDPoP
	}
	if t.header != credential.Authorization {
		r.Header = t.header
	}
	if r.AudienceAlone && shown.Scheme != credential.SchemeDPoP { // which a token that is bound to nobody is refused with
		r.Hint = otherAudience
	}
	return &r
}

// find knows a token from a moment ago, or verifies it. provider names the configured
// issuer, or is a fixed word: it becomes a metric label, and callers must not be able
// to make one.
func (t *tokens) find(r *http.Request, raw string) (provider string, e entry, err error) {
	ctx := r.Context()
	if err := admit(t.limits(), raw); err != nil {
		return authn.ProviderUnknown, entry{}, err
	}
	now, id := t.now(), digest(raw)
	from := func() netip.Addr { return failures.AddressBlock(t.source(r)) }
	e, ok := t.cached(id, now)
	switch {
	case ok && e.issuer.header == t.header:
		provider = e.principal.Issuer
	case t.opaque != nil && opaque(raw):
		e.principal, e.bound, err = t.opaque.introspect(ctx, raw, func() asker { return asker{from: from(), blame: t.Scheme.blame} })
		return t.opaque.cfg.Issuer, e, err
	default:
		provider, e, err = t.verify(ctx, id, raw, from)
	}
	// introspection.always asks about JWTs, too, which their issuer may have revoked before they
	// end.
	if err == nil && e.issuer.cfg.Introspection != nil && e.issuer.cfg.Introspection.Always {
		err = e.issuer.active(ctx, raw, e.principal, func() asker { return asker{from: from(), known: true} })
	}
	return provider, e, err
}

// cached finds a token that was verified a moment ago. What has changed since makes
// it unverified again: the issuer's configuration, or a key that the issuer withdrew.
// Expiry is looked at by the cache itself.
func (b *Scheme) cached(id [32]byte, now time.Time) (entry, bool) {
	e, ok := b.cache.find(id, now)
	if !ok || b.issuers[e.principal.Issuer] != e.issuer || e.lost != e.issuer.keys.lost.Load() {
		return entry{}, false
	}
	e.issuer.keys.touch()
	return e, true
}

// verify checks a token in full, but for its sender, and remembers it.
func (t *tokens) verify(ctx context.Context, id [32]byte, raw string, from func() netip.Addr) (provider string, e entry, _ error) {
	known := t.last.Load()
	parsed, err := precheckLike(raw, known)
	if err != nil {
		return authn.ProviderUnknown, entry{}, err
	}
	// The unverified iss only chooses among configured issuers; the chosen one then
	// demands that very iss under its own keys.
	name, _ := parsed.claims["iss"].(string)
	is := t.issuers[name]
	if is == nil {
		return authn.ProviderUnknown, entry{}, refuse(faultIssuer, fmt.Errorf("iss is %.200q", name))
	}
	if is.header != t.header {
		// What a header means is the configuration's word, not the caller's.
		return name, entry{}, refuse(faultIssuer, errors.New("tokens of this issuer come in another header"))
	}
	now := t.now()
	lost := is.keys.lost.Load() // before the key is chosen, lest a withdrawal be missed
	p, bound, err := is.verify(ctx, parsed, now, from)
	if err != nil {
		return name, entry{}, err
	}
	if known == nil || known.part != parsed.part {
		t.last.Store(parsed.remember()) // verified: strangers cannot push it out
	}
	if o, ok := p.Evidence().(*origin); ok {
		o.id = id
	}
	e = entry{principal: p, bound: bound, issuer: is, lost: lost}
	e.until = earlier(is.keys.bound(now.Add(maxRemembered), now), p.Expires)
	t.cache.add(id, e, now)
	return name, e, nil
}

// earlier is the first of two moments.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// admit refuses a token that is too long. Its sender may know: how long it is they know, and
// the limit is nobody's secret.
func admit(l authn.Limits, raw string) error {
	most := l.TokenBytes()
	if len(raw) <= int(most) {
		return nil
	}
	r := refuse(faultLong, fmt.Errorf("%d bytes, the limit is %s", len(raw), most))
	r.Hint = fmt.Sprintf("the token has %d bytes, more than authn.limits.token permits (%s)", len(raw), most)
	return r
}
