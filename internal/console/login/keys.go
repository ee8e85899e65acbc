package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// profile has what ID tokens can be signed with. Algorithms with a shared secret (HS256)
// are not among them: the secret would be the client's, and whoever has that could sign in
// as anybody.
func profile() jws.Profile {
	return jws.Profile{Algorithms: []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.EdDSA}}
}

// keySet is the provider's key set, read as those of callers' tokens are: a key that cannot be
// used does not take the others away. It implements oidc.KeySet. ID tokens come from the
// provider itself, so that each may have the set fetched once.
type keySet struct {
	address string
	client  *http.Client
	skipped func(jws.Skipped)

	mu    sync.Mutex
	known jws.Set
	fresh time.Time // until when known may be used unasked
}

// VerifySignature implements oidc.KeySet. The keys that are known are tried first while
// they are fresh. Providers rotate keys without notice, so that a signature which fails
// with them is tried once more with keys that were just fetched; what fails then is an
// error.
func (s *keySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	t, err := dissect(raw)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.fresh) {
		if err = t.verify(s.known.Keys); err == nil {
			return t.payload, nil
		}
	}
	if err := s.fetch(ctx); err != nil {
		return nil, err
	}
	return t.payload, t.verify(s.known.Keys)
}

// fetch replaces the keys. s.mu is held.
func (s *keySet) fetch(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address, nil)
	if err != nil {
		return err
	}
	asked := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		return fmt.Errorf("fetch key set: %w", secret.URL(s.address).Hide(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("fetch key set: unexpected status %d", answer.StatusCode)
	}
	doc, err := io.ReadAll(answer.Body) // bounded: see newClient
	if err != nil {
		return fmt.Errorf("fetch key set: %w", err)
	}
	set, err := profile().Set(doc)
	if err != nil {
		return fmt.Errorf("read key set: %w", err)
	}
	for _, k := range jws.Newly(s.known.Skipped, set.Skipped) {
		s.skipped(k)
	}
	s.known, s.fresh = *set, asked.Add(jws.Lifetime(answer.Header))
	return nil
}

// token is a compact JWS (RFC 7515 §3.1). What it says is go-oidc's to judge.
type token struct {
	signed             string
	payload, signature []byte
	kid                string
	algorithm          jws.Algorithm
}

// dissect takes a token apart without believing any of it yet. An algorithm that is not in
// the profile is an error here, before a key is looked for: "none" is one of those.
func dissect(raw string) (*token, error) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, errors.New("the token has not three parts")
	}
	t := &token{signed: parts[0] + "." + parts[1]}
	head, err := jws.Decode(parts[0])
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	var h struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	ok := false
	if t.algorithm, ok = profile().Lookup(h.Algorithm); !ok {
		return nil, fmt.Errorf("alg %.20q", h.Algorithm)
	}
	t.kid = h.KeyID
	if t.payload, err = jws.Decode(parts[1]); err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	t.signature, err = jws.Decode(parts[2])
	return t, err
}

// verify tries the keys that the token may mean, a few at most. A token without a kid may
// mean any key of its algorithm. The bound keeps a set with hundreds of keys from costing
// as many verifications.
func (t *token) verify(keys []*jws.Key) error {
	tried := 0
	for _, k := range keys {
		if t.kid != "" && k.ID != t.kid || !k.Suits(t.algorithm) {
			continue
		}
		if t.algorithm.Verify(k.Public, []byte(t.signed), t.signature) == nil {
			return nil
		}
		if tried++; tried == jws.MaxSameID {
			break
		}
	}
	if tried == 0 {
		return fmt.Errorf("the provider has no key for %s with kid %.40q", t.algorithm.Name, t.kid)
	}
	return errors.New("the signature does not match")
}
