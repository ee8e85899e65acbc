package apikey

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// Options are what API keys need besides their configuration, as in Options.
type Options struct {
	Logger   *slog.Logger
	Previous *Scheme // of the chain before a reload; nil for none
	// Revoked asks the shared state whether a key was revoked by another replica; nil where
	// nothing is shared. Usage is the path of the file in which the last uses are kept; "" for
	// none. Observe counts outcomes by issuer.
	Revoked func(id string) (bool, error)
	Usage   string
	Where   func() string // Chain.where
	Observe func(provider, result string)
	Now     func() time.Time
}

// defaults stand in for what tests and verbs leave out.
func (o *Options) defaults() {
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

// Name is the name of the scheme in the configuration.
const Name = "apiKeys"

// schemeAPIKey is the challenge scheme of API keys. It is not a registered HTTP authentication
// scheme; it is what gateways commonly say, and tells a person which header to set.
const schemeAPIKey = "ApiKey"

// From is the scheme of API keys in a chain; nil where those are not accepted.
func From(c *authn.Chain) *Scheme {
	a, _ := c.Scheme(Name).(*Scheme)
	return a
}

// Scheme accepts the keys of a file.
type Scheme struct {
	header  string // canonical
	bearer  bool   // also accepted as a bearer token
	file    *keyFile
	revoked func(id string) (bool, error) // keyOptions.Revoked
	now     func() time.Time
	observe func(provider, result string)
	where   func() string // Chain.where
}

// How the principal of an API key was proved, and its issuer. It cannot be configured as
// an issuer, which is always an address.
const (
	Method = "api-key"
	Issuer = "api-keys"
)

// New reads the file of keys, or shares that of the chain before a reload.
func New(cfg *Config, o Options) (*Scheme, error) {
	o.defaults()
	file, err := takeKeyFile(cfg.File, &o)
	if err != nil {
		return nil, err
	}
	return &Scheme{header: cfg.HeaderName(), bearer: cfg.Bearer, file: file, revoked: o.Revoked, now: o.Now, observe: o.Observe,
		where: o.Where}, nil
}

// takeKeyFile shares the previous chain's file, or opens one.
// Sharing keeps the table, the watch and the uses that are noted through a reload.
func takeKeyFile(path string, o *Options) (*keyFile, error) {
	if p := o.Previous; p != nil && p.file.serves(path, o) && p.file.lease.Share() {
		return p.file, nil
	}
	return openKeyFile(path, o)
}

// Close gives up the share of the file.
func (a *Scheme) Close() { a.file.lease.Release() }

// Name implements Scheme.
func (a *Scheme) Name() string { return Name }

// Carriers implements Scheme: a key is found in one of two headers, and looked for once.
func (a *Scheme) Carriers() []authn.Carrier { return []authn.Carrier{a} }

// Header implements Carrier.
func (a *Scheme) Header() string { return a.header }

// Only implements Scheme.
func (a *Scheme) Only(r *http.Request) (*authn.Principal, error) {
	if a.twice(r) {
		return nil, authn.ErrAmbiguous
	}
	return a.Authenticate(r)
}

// twice reports whether a request has a key in both places.
func (a *Scheme) twice(r *http.Request) bool {
	token, ok := credential.BearerToken(r)
	// Two keys are ambiguous even where they are the same: which one counts must not depend on the
	// gateway.
	return a.bearer && ok && strings.HasPrefix(token, credential.KeyPrefix) && len(r.Header[a.header]) > 0
}

// Owns implements Scheme.
func (a *Scheme) Owns(p *authn.Principal) bool { return p.Issuer == Issuer }

// takes reports whether keys may come in this header.
func (a *Scheme) takes(header string) bool {
	return header == a.header || a.bearer && header == credential.Authorization
}

// Bearer implements Scheme.
func (a *Scheme) Bearer() bool { return a.bearer }

// Challenges implements Scheme.
func (a *Scheme) Challenges(d *authn.Demand) []string {
	ch := authn.NewChallenge(schemeAPIKey, d.Realm)
	ch.Param("header", a.header)
	ch.Explain(schemeAPIKey, "", d.Err)
	return []string{ch.String()}
}

// Challenger implements Scheme.
func (a *Scheme) Challenger(name string) (scheme, header string, ok bool) {
	return schemeAPIKey, "", name == Name
}

// Ways implements Scheme.
func (a *Scheme) Ways() []string { return []string{a.header + " with an API key"} }

// misread is what to tell who has sent something else than a key where keys alone are; "" for
// what may be one.
func (a *Scheme) misread(value string) string {
	_, schemed := credential.ReadToken(value, false)
	switch {
	case strings.HasPrefix(value, credential.KeyPrefix):
		return ""
	case value == "":
		return a.header + " is empty: " + a.where()
	case schemed:
		return a.header + " has no scheme in front of the API key: " + a.where()
	}
	return credential.NotAKey + a.where()
}

// Recall is what the key of an earlier principal stands for now.
// It is asked where a principal was stored, as with a push notification config, and its call is
// long over. The error is as of Stands.
func (a *Scheme) Recall(p *authn.Principal) (*authn.Principal, error) {
	if !a.Owns(p) || !a.takes(p.Carrier) {
		return nil, authn.ErrNoCredentials
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
func (t *keyTable) recall(p *authn.Principal, now time.Time) (*authn.Principal, authn.Fault) {
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
	faultAPIKey     authn.Fault = "unknown-api-key"
	faultKeyExpired authn.Fault = "api-key-expired"
)

const (
	reasonAPIKey     = "the API key is not known" //nolint:gosec // a sentence, not a credential
	reasonKeyExpired = "the API key has expired"
)

// refuseKey makes the refusal of an API key.
func refuseKey(f authn.Fault, err error) *authn.Refused {
	reason := reasonAPIKey
	switch f {
	case authn.FaultMalformed:
		reason = authn.ReasonMalformed
	// Only who holds the key can have it expired: saying so gives nothing away.
	case faultKeyExpired:
		reason = reasonKeyExpired
	}
	refused := authn.Refuse(f, reason, err)
	refused.Scheme = schemeAPIKey
	return refused
}
