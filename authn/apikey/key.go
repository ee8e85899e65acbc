package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// An API key reads a2a_<id>_<secret>. The id finds its record, the secret is 256 random bits in
// base64url, always 43 characters, so that ids may contain underscores too.
// maxKeyLength bounds what is hashed: a longer text is no key.
const (
	secretBytes  = 32
	secretLength = 43
	maxID        = 64
	maxKeyLength = len(credential.KeyPrefix) + maxID + 1 + secretLength
)

// Authenticate looks a key up if the request has one.
func (a *Scheme) Authenticate(r *http.Request) (*authn.Principal, error) {
	key, carrier := a.presented(r)
	if carrier == "" {
		return nil, authn.ErrNoCredentials
	}
	// One table for the whole call: a reload in between changes nothing of it.
	table := a.file.table.Load()
	now := a.now()
	index, f := table.verify(key, now)
	if f == "" {
		var err error
		// A good key may have been revoked through another replica a moment ago; a wrong one is
		// not asked about.
		if f, err = a.elsewhere(table.keys[index].id()); err != nil {
			a.observe(Issuer, authn.Outcome(err))
			return nil, err
		}
	}
	if f == "" {
		a.observe(Issuer, authn.Outcome(nil))
		// Only keys that are accepted count as used.
		if a.file.usage != nil {
			a.file.used(table, index, now)
		}
		return table.principal(index, carrier), nil
	}
	a.observe(Issuer, string(f))
	// Whether the id is unknown, the secret wrong or the key malformed is the log's
	// business; the caller reads the same sentence for all three.
	reason := reasonAPIKey
	if f == faultKeyExpired {
		reason = reasonKeyExpired
	}
	scheme := schemeAPIKey
	if carrier == credential.Authorization {
		scheme = credential.SchemeBearer
	}
	refused := refuseKey(f, errors.New(string(f)))
	refused.Scheme, refused.Reason, refused.Hint = scheme, reason, a.misread(key)
	return nil, refused
}

// Stands reports whether a principal of an API key is still what its key stands for.
// It is asked of principals of open streams, again and again: nil as long as the key is in the
// file with the same rights.
func (a *Scheme) Stands(p *authn.Principal) error {
	if !a.takes(p.Carrier) {
		return authn.Unconfigured()
	}
	f := a.file.table.Load().stands(p, a.now())
	if f == "" {
		var err error
		if f, err = a.elsewhere(p.KeyID); err != nil {
			return err
		}
	}
	if f != "" {
		return refuseKey(f, nil)
	}
	return nil
}

// elsewhere judges a good key of the file by what is known about its id elsewhere. To
// callers a key that was revoked there is one that was taken out of the file.
func (a *Scheme) elsewhere(id string) (authn.Fault, error) {
	if a.revoked == nil {
		return "", nil
	}
	revoked, err := a.revoked(id)
	switch {
	// Where the state cannot be asked the key is neither good nor bad: the call is answered 503.
	case err != nil:
		return "", fmt.Errorf("%w: %w", authn.ErrUnavailable, err)
	case revoked:
		return faultAPIKey, nil
	}
	return "", nil
}

// presented is the key of the request and the header it came in: one of its own or,
// if that is configured, Authorization. A bearer token without the prefix is for
// others.
func (a *Scheme) presented(r *http.Request) (key, carrier string) {
	if v := r.Header[a.header]; len(v) > 0 {
		return v[0], a.header
	}
	if !a.bearer {
		return "", ""
	}
	if token, ok := credential.BearerToken(r); ok && strings.HasPrefix(token, credential.KeyPrefix) {
		return token, credential.Authorization
	}
	return "", ""
}

// hashKey is the stored form of a key: SHA-256 over all of it, so that not one
// character can be cut off, added or changed, and an id cannot be swapped for
// another one's. No salt, pepper or slow hash: those protect secrets that can be
// guessed, and there are 2^256 of these.
func hashKey(key string) [sha256.Size]byte {
	var buf [maxKeyLength]byte // on the stack: splitKey bounds the length
	return sha256.Sum256(append(buf[:0], key...))
}

// splitKey checks the form of a key and returns its id.
func splitKey(key string) (id string, ok bool) {
	id, ok = strings.CutPrefix(key, credential.KeyPrefix)
	at := len(id) - secretLength - 1
	if !ok || at < 1 || id[at] != '_' {
		return "", false
	}
	// The secret is at the end and of one length, so that the id may have underscores.
	secret := id[at+1:]
	for i := range len(secret) {
		if c := secret[i]; !alphanumeric(c) && c != '-' && c != '_' {
			return "", false
		}
	}
	return id[:at], validID(id[:at])
}

// validID admits what needs no quoting in a header, a path, YAML or a shell.
func validID(id string) bool {
	if id == "" || len(id) > maxID || !alphanumeric(id[0]) {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// alphanumeric reports an ASCII letter or digit; setting the bit 0x20 makes a capital letter a
// small one.
func alphanumeric(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// mintKey makes a new key for an id.
func mintKey(id string) string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: the runtime ends the process first
	return credential.KeyPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(secret[:])
}
