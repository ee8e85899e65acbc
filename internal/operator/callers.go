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
	Current *snapshot.Current
	Server  *server.Server
	Values  state.Values
	Revoked func() map[string]time.Time // nil where nobody else can revoke keys
	Log     *slog.Logger
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
	if keys := cfg.APIKeys; keys != nil {
		is.APIKeys = &identities.KeyRing{
			File: keys.File, Header: keys.HeaderName(), Bearer: keys.Bearer, API: keys.API, Shared: c.Revoked != nil, Keys: apikey.From(s.Chain).Count(),
		}
	}
	if m := cfg.MTLS; m != nil {
		is.Certificates = &identities.ClientIdentity{Names: m.Kinds(), TrustDomains: m.TrustDomains, Identities: len(m.Identities)}
	}
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

// Keys implements apikeys.Keys.
func (c Callers) Keys(part, after string, limit int) []apikeys.APIKey {
	s := c.Current.Load()
	if s == nil {
		return nil
	}
	var revoked map[string]time.Time
	if c.Revoked != nil {
		revoked = c.Revoked()
	}
	now := time.Now()
	var list []apikeys.APIKey
	for _, k := range apikey.From(s.Chain).List(part, after, limit) {
		one := apikeys.APIKey{
			ID: k.ID, Subject: k.Subject, Groups: k.Groups, Scopes: k.Scopes, Agents: k.Agents, Bound: k.Agents != nil, Tenant: k.Tenant,
			Owner: k.Owner, Created: k.Created, Expires: k.Expires, Used: k.LastUsed, ReplacedBy: k.ReplacedBy, State: apikeys.KeyActive,
		}
		at, gone := revoked[k.ID]
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

// keyFile is the file of API keys, which may be changed from the admin API.
func (c Callers) keyFile() (*apikey.File, error) {
	s := c.Current.Load()
	if s == nil || s.Config.Authn.APIKeys == nil || !s.Config.Authn.APIKeys.API {
		return nil, apikeys.ErrKeysOff
	}
	return apikey.Open(s.Config.Authn.APIKeys.File)
}

// MakeKey implements apikeys.Keys.
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

// RotateKey implements apikeys.Keys.
func (c Callers) RotateKey(_ context.Context, id string, overlap time.Duration) (made apikeys.MadeKey, err error) {
	keys, err := c.keyFile()
	if err != nil {
		return made, err
	}
	made.Replaces = id
	made.ID, made.Key, err = keys.Rotate(id, overlap)
	return made, keyFault(err)
}

// RevokeKey implements apikeys.Keys.
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

// keyFault tells what the operator can mend from what the disk says.
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
