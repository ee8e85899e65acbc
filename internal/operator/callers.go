package operator

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/console/apikeys"
	"github.com/a2a-gateway/a2a-gateway/internal/console/identities"
	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Callers are those who may call, as the console sees them.
type Callers struct {
	// The configuration in force, for issuers and API keys.
	Current *snapshot.Current
	// The public listener, for the CAs of client certificates.
	Server *server.Server
	// Where revocations are written for other replicas.
	Values  state.Values
	Revoked func() map[string]time.Time // nil where nobody else can revoke keys
	// Is told of a key that was revoked and could not be taken out of its file.
	Log *slog.Logger
}

// Identities implements identities.Callers.
func (c Callers) Identities() identities.Identities {
	is := identities.Identities{Authorities: []identities.CA{}}
	for _, ca := range c.Server.Authorities() {
		is.Authorities = append(is.Authorities, authorityOf(ca))
	}
	s := c.Current.Load()
	if s == nil {
		return is
	}
	for _, i := range jwt.From(s.Chain).Shown() {
		is.Issuers = append(is.Issuers, issuerOf(&i))
	}
	cfg := &s.Config.Authn
	// Of API keys the page first shows the settings and how many there are. The keys
	// themselves come page by page from Keys, since a file may have tens of thousands.
	if keys := cfg.APIKeys; keys != nil {
		is.APIKeys = &identities.KeyRing{
			File: keys.File, Header: keys.HeaderName(), Bearer: keys.Bearer, API: keys.API, Shared: c.Revoked != nil, Keys: apikey.From(s.Chain).Count(),
		}
	}
	// Client certificates are known by their names or by a SPIFFE trust domain.
	if m := cfg.MTLS; m != nil {
		is.Certificates = &identities.ClientIdentity{Names: m.Kinds(), TrustDomains: m.TrustDomains, Identities: len(m.Identities)}
	}
	// A combination is a call with two credentials: one of the user, one of the client
	// software that acts for the user.
	for _, pair := range cfg.Combinations {
		is.Combinations = append(is.Combinations, identities.CredentialPair{User: pair.User, Client: pair.Client})
	}
	is.Anonymous = cfg.Anonymous
	return is
}

// authorityOf describes a CA.
func authorityOf(c *x509.Certificate) identities.CA {
	return identities.CA{Subject: c.Subject.String(), Serial: hex.EncodeToString(c.SerialNumber.Bytes()), NotAfter: c.NotAfter.UTC()}
}

// issuerOf describes an issuer of tokens: which tokens it is trusted for, and the keys of
// its JWK set (RFC 7517) as they were fetched last. A fetch that failed is shown with its
// reason beside the keys that are still used from the fetch before.
func issuerOf(i *jwt.Shown) identities.Issuer {
	one := identities.Issuer{
		Issuer: i.Issuer, Header: i.Header, Audiences: i.Audiences, Algorithms: i.Algorithms, Tenant: i.Tenant,
		SenderConstrained: i.SenderConstrained, Introspection: i.Introspection, Fetched: i.Asked.UTC(), Fresh: i.Fresh.UTC(),
	}
	if i.Err != nil {
		one.Failure = i.Err.Error()
	}
	for _, k := range i.Keys {
		one.Keys = append(one.Keys, identities.IssuerKey{ID: k.ID, Algorithm: k.Algorithm, Kind: k.Kind})
	}
	return one
}

// Keys implements apikeys.Keys. It lists API keys page by page: those whose id or subject
// contains part, from behind the id after, at most limit. The key itself is never in a
// list, since only its hash is stored.
func (c Callers) Keys(part, after string, limit int) []apikeys.APIKey {
	s := c.Current.Load()
	if s == nil {
		return nil
	}
	// A revocation is known from the state some seconds before the file of each replica is
	// read again. What the state says goes first, so that nobody sees a key as active that
	// is refused.
	var revoked map[string]time.Time
	if c.Revoked != nil {
		revoked = c.Revoked()
	}
	// One time for the whole page, so that no two keys with one expiry differ.
	now := time.Now()
	var list []apikeys.APIKey
	for _, k := range apikey.From(s.Chain).List(part, after, limit) {
		one := apikeys.APIKey{
			ID: k.ID, Subject: k.Subject, Groups: k.Groups, Scopes: k.Scopes, Agents: k.Agents, Bound: k.Agents != nil, Tenant: k.Tenant,
			Owner: k.Owner, Created: k.Created, Expires: k.Expires, Used: k.LastUsed, ReplacedBy: k.ReplacedBy, State: apikeys.KeyActive,
		}
		at, gone := revoked[k.ID]
		// The order is that of certainty: a revoked key stays revoked whatever its expiry
		// says, and a key that is being replaced (rotating) is of interest only while it
		// still works.
		switch {
		case gone:
			one.State, one.Revoked = apikeys.KeyRevoked, at
		case !k.Expires.IsZero() && !k.Expires.After(now):
			one.State = apikeys.KeyExpired
		case k.ReplacedBy != "":
			one.State = apikeys.KeyRotating
		}
		list = append(list, one)
	}
	return list
}

// keyFile is the file of API keys, which may be changed from the admin API. It gives
// apikeys.ErrKeysOff where no API keys are configured, or where authn.apiKeys.api is off
// and the file may be changed with the command line only.
func (c Callers) keyFile() (*apikey.File, error) {
	s := c.Current.Load()
	if s == nil || s.Config.Authn.APIKeys == nil || !s.Config.Authn.APIKeys.API {
		return nil, apikeys.ErrKeysOff
	}
	return apikey.Open(s.Config.Authn.APIKeys.File)
}

// MakeKey implements apikeys.Keys. The secret is in the answer and nowhere else: the file
// has its hash. A life of 0 makes a key that does not expire.
func (c Callers) MakeKey(_ context.Context, k *apikeys.NewKey, life time.Duration) (made apikeys.MadeKey, err error) {
	keys, err := c.keyFile()
	if err != nil {
		return made, err
	}
	spec := apikey.Spec{ID: k.ID, Subject: k.Subject, Groups: k.Groups, Scopes: k.Scopes, Agents: k.Agents, Tenant: k.Tenant, Owner: k.Owner}
	if life > 0 {
		spec.Expires = time.Now().Add(life)
	}
	made.ID, made.Key, err = keys.Create(spec)
	return made, keyFault(err)
}

// RotateKey implements apikeys.Keys. The old key keeps working for overlap, so that its
// owner can exchange it without an interruption; the answer names both.
func (c Callers) RotateKey(_ context.Context, id string, overlap time.Duration) (made apikeys.MadeKey, err error) {
	keys, err := c.keyFile()
	if err != nil {
		return made, err
	}
	made.Replaces = id
	made.ID, made.Key, err = keys.Rotate(id, overlap)
	return made, keyFault(err)
}

// RevokeKey implements apikeys.Keys. Where replicas share a state, the revocation is
// written there first, since that is what all of them look at within seconds; afterwards
// the key is taken out of the file of this gateway. Without a shared state the file alone
// decides, and an error of it is the answer. apikeys.ErrNoKey says that there is no such
// key.
func (c Callers) RevokeKey(ctx context.Context, id string) error {
	s := c.Current.Load()
	if s == nil {
		return snapshot.ErrClosed
	}
	keys, err := c.keyFile()
	if err != nil && (c.Revoked == nil || !errors.Is(err, apikeys.ErrKeysOff)) {
		return err
	}
	k, found := apikey.From(s.Chain).Find(id)
	if !found {
		return apikeys.ErrNoKey
	}
	if c.Revoked != nil {
		if err := revocation.Revoke(ctx, c.Values, &k); err != nil {
			return err
		}
	}
	// Keys come from a file that this API may not change; the state has the revocation.
	if keys == nil {
		return nil
	}
	err = keyFault(keys.Revoke(id))
	switch {
	case c.Revoked == nil:
		return err
	case err != nil && !errors.Is(err, apikeys.ErrNoKey): // it is refused everywhere all the same
		c.Log.Warn("revoked API key not taken out of its file", "key", id, "error", err)
	}
	return nil
}

// keyFault tells what the operator can mend from what the disk says. Errors of the file
// system are returned as they are: they become a 500 and are logged. A key that is not
// there becomes ErrNoKey, a 404. Anything else is about what was asked for, such as a
// malformed id, and becomes KeyInvalid, a 400 whose text says what to mend.
func keyFault(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path), errors.As(err, &link):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return apikeys.ErrNoKey
	}
	return apikeys.KeyInvalid{Err: err}
}
