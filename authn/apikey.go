package authn

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// An API key reads a2a_<id>_<secret>. The prefix lets secret scanners and people
// recognise it, the id finds its record, the secret is 256 random bits in
// base64url, always 43 characters, so that ids may contain underscores too.
const (
	keyPrefix    = "a2a_"
	secretBytes  = 32
	secretLength = 43
	maxID        = 64
	maxKeyLength = len(keyPrefix) + maxID + 1 + secretLength
)

// apiKeys accepts the keys of a file.
type apiKeys struct {
	header  string // canonical
	bearer  bool   // also accepted as a bearer token
	file    *keyFile
	now     func() time.Time
	observe func(provider, result string)
}

// authenticate looks a key up if the request has one.
func (a *apiKeys) authenticate(r *http.Request) (*Principal, error) {
	key, scheme := a.presented(r)
	if scheme == "" {
		return nil, ErrNoCredentials
	}
	p, f := a.file.table.Load().verify(key, a.now())
	if p != nil {
		a.observe(issuerAPIKeys, resultOK)
		return p, nil
	}
	a.observe(issuerAPIKeys, string(f))
	// Whether the id is unknown, the secret wrong or the key malformed is the log's
	// business; the caller reads the same sentence for all three.
	reason := faultAPIKey.reason()
	if f == faultKeyExpired {
		reason = f.reason()
	}
	return nil, &Refused{Scheme: scheme, Code: "invalid_token", Reason: reason,
		Err: errors.New(string(f)), fault: f}
}

// presented is the key of the request and the scheme it came under, from the header
// of its own or, if that is configured, from Authorization. A bearer token without
// the prefix is for others.
func (a *apiKeys) presented(r *http.Request) (key, scheme string) {
	if v := r.Header[a.header]; len(v) > 0 {
		return v[0], schemeAPIKey
	}
	if !a.bearer {
		return "", ""
	}
	if token, ok := bearerToken(r); ok && strings.HasPrefix(token, keyPrefix) {
		return token, schemeBearer
	}
	return "", ""
}

// keyTable is an immutable snapshot of the key file, ready to verify.
type keyTable struct {
	byID map[string]*storedKey
	none storedKey // compared with when the id is unknown; its hash fits nothing
}

// storedKey is what is kept of a key: enough to recognise it, nothing to present.
type storedKey struct {
	hash      [sha256.Size]byte
	principal *Principal
}

// newKeyTable indexes records. The principal of a key is made once and shared by
// all its calls.
func newKeyTable(records []keyRecord) (*keyTable, error) {
	t := &keyTable{byID: make(map[string]*storedKey, len(records))}
	// A hash that nobody knows the key of; only its being compared matters.
	_, _ = rand.Read(t.none.hash[:]) // never fails
	for i := range records {
		r := &records[i]
		if err := r.validate(); err != nil {
			return nil, err
		}
		if t.byID[r.ID] != nil {
			return nil, fmt.Errorf("key %q is listed twice", r.ID)
		}
		t.byID[r.ID] = &storedKey{hash: r.Hash, principal: r.principal()}
	}
	return t, nil
}

// verify finds the principal of a key; nil with the fault otherwise. An unknown id
// costs the same hash and the same comparison as a known one, so that time does
// not tell which ids exist.
func (t *keyTable) verify(key string, now time.Time) (*Principal, fault) {
	id, ok := splitKey(key)
	if !ok {
		return nil, faultMalformed
	}
	sum := hashKey(key)
	k, known := t.byID[id]
	if !known {
		k = &t.none
	}
	match := subtle.ConstantTimeCompare(sum[:], k.hash[:]) == 1
	if !match || !known {
		return nil, faultAPIKey
	}
	if e := k.principal.Expires; !e.IsZero() && !now.Before(e) {
		return nil, faultKeyExpired
	}
	return k.principal, ""
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
	id, ok = strings.CutPrefix(key, keyPrefix)
	at := len(id) - secretLength - 1
	if !ok || at < 1 || id[at] != '_' {
		return "", false
	}
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

func alphanumeric(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// mintKey makes a new key for an id.
func mintKey(id string) string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: the runtime ends the process first
	return keyPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(secret[:])
}
