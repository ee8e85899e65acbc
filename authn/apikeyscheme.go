package authn

import (
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// keyOptions are what API keys need besides their configuration, as in Options.
type keyOptions struct {
	Logger   *slog.Logger
	Previous *apiKeys // of the chain before a reload; nil for none
	Revoked  func(id string) (bool, error)
	Usage    string
	Where    func() string // Chain.where
	Observe  func(provider, result string)
	Now      func() time.Time
}

func (o *keyOptions) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// schemeAPIKey is the challenge scheme of API keys. It is not a registered HTTP authentication
// scheme; it is what gateways commonly say, and tells a person which header to set.
const schemeAPIKey = "ApiKey"

// KeysOf is the scheme of API keys in a chain; nil where those are not accepted.
func KeysOf(c *Chain) *apiKeys {
	a, _ := c.Scheme(namedAPIKeys).(*apiKeys)
	return a
}

// Name implements Scheme.
func (a *apiKeys) Name() string { return namedAPIKeys }

// Carriers implements Scheme: a key is found in one of two headers, and looked for once.
func (a *apiKeys) Carriers() []Carrier { return []Carrier{a} }

// Header implements Carrier.
func (a *apiKeys) Header() string { return a.header }

// Only implements Scheme.
func (a *apiKeys) Only(r *http.Request) (*Principal, error) {
	if a.twice(r) {
		return nil, ErrAmbiguous
	}
	return a.Authenticate(r)
}

// twice reports whether a request has a key in both places.
func (a *apiKeys) twice(r *http.Request) bool {
	token, ok := bearerToken(r)
	return a.bearer && ok && strings.HasPrefix(token, keyPrefix) && len(r.Header[a.header]) > 0
}

// Owns implements Scheme.
func (a *apiKeys) Owns(p *Principal) bool { return p.Issuer == issuerAPIKeys }

// takes reports whether keys may come in this header.
func (a *apiKeys) takes(header string) bool {
	return header == a.header || a.bearer && header == authorization
}

// Bearer implements Scheme.
func (a *apiKeys) Bearer() bool { return a.bearer }

// Challenges implements Scheme.
func (a *apiKeys) Challenges(d *Demand) []string {
	ch := newChallenge(schemeAPIKey, d.Realm)
	ch.param("header", a.header)
	ch.explain(schemeAPIKey, "", d.Err)
	return []string{ch.String()}
}

// Challenger implements Scheme.
func (a *apiKeys) Challenger(name string) (scheme, header string, ok bool) {
	return schemeAPIKey, "", name == namedAPIKeys
}

// Ways implements Scheme.
func (a *apiKeys) Ways() []string { return []string{a.header + " with an API key"} }

// misread is what to tell who has sent something else than a key where keys alone are; "" for
// what may be one.
func (a *apiKeys) misread(value string) string {
	_, schemed := readToken(value, false)
	switch {
	case strings.HasPrefix(value, keyPrefix):
		return ""
	case value == "":
		return a.header + " is empty: " + a.where()
	case schemed:
		return a.header + " has no scheme in front of the API key: " + a.where()
	}
	return noKey + a.where()
}

// Recall is what the key of an earlier principal stands for now.
func (a *apiKeys) Recall(p *Principal) (*Principal, error) {
	if !a.Owns(p) || !a.takes(p.Carrier) {
		return nil, ErrNoCredentials
	}
	now, f := a.file.table.Load().recall(p, a.now())
	if f == "" {
		var err error
		if f, err = a.elsewhere(p.KeyID); err != nil {
			return nil, err
		}
	}
	if f != "" {
		return nil, refuseKey(f, nil)
	}
	return now, nil
}

// recall finds the key of an earlier principal. Its subject is the same: another's tasks
// are not what the key may learn of.
func (t *keyTable) recall(p *Principal, now time.Time) (*Principal, fault) {
	hash := p.Hash()
	index, found := t.index[beginning(&hash)]
	if !found || t.keys[index].hash != hash || t.keys[index].id() != p.KeyID {
		return nil, faultAPIKey
	}
	if t.keys[index].expired(now) {
		return nil, faultKeyExpired
	}
	again := t.principal(index, p.Carrier)
	if again.Subject != p.Subject {
		return nil, faultAPIKey
	}
	return again, ""
}

// Faults of API keys. Like the others they are metric labels and sentences.
const (
	faultAPIKey     fault = "unknown-api-key"
	faultKeyExpired fault = "api-key-expired"
)

const (
	reasonAPIKey     = "the API key is not known"
	reasonKeyExpired = "the API key has expired"
)

// refuseKey makes the refusal of an API key.
func refuseKey(f fault, err error) *Refused {
	reason := reasonAPIKey
	switch f {
	case faultMalformed:
		reason = reasonMalformed
	case faultKeyExpired:
		reason = reasonKeyExpired
	}
	refused := newRefused(f, reason, err)
	refused.Scheme = schemeAPIKey
	return refused
}
