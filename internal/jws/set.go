package jws

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a key set. A large provider publishes about ten keys in twenty KiB.
const (
	MaxSet   = 256 << 10 // bytes of the document
	MaxKeys  = 50        // those that are skipped included
	MaxKeyID = 256       // bytes of a kid
)

// webKey is what is read of a JWK (RFC 7517 §4, RFC 7518 §6). Certificates are left
// out on purpose: trust comes from where the key was found.
type webKey struct {
	Type       string   `json:"kty"`
	Use        string   `json:"use,omitempty"`
	Operations []string `json:"key_ops,omitempty"`
	Algorithm  string   `json:"alg,omitempty"`
	ID         string   `json:"kid,omitempty"`
	Curve      string   `json:"crv,omitempty"`
	X          string   `json:"x,omitempty"`
	Y          string   `json:"y,omitempty"`
	N          string   `json:"n,omitempty"`
	E          string   `json:"e,omitempty"`

	// Never in public: a symmetric key, or the secret half. What the numbers of RSA are
	// called may mean something else in keys of kinds that are not known.
	K   jsontext.Value `json:"k,omitzero"`
	D   jsontext.Value `json:"d,omitzero"`
	P   jsontext.Value `json:"p,omitzero"`
	Q   jsontext.Value `json:"q,omitzero"`
	DP  jsontext.Value `json:"dp,omitzero"`
	DQ  jsontext.Value `json:"dq,omitzero"`
	QI  jsontext.Value `json:"qi,omitzero"`
	Oth jsontext.Value `json:"oth,omitzero"`
}

// dates are when a key of a Dated profile counts.
type dates struct {
	NotBefore int64          `json:"nbf"`
	Expires   int64          `json:"exp"`
	Revoked   jsontext.Value `json:"revoked"`
}

// Set reads a JWK set. Keys of kinds that are not taken, or for another use, are skipped
// as RFC 7517 §5 asks. What nobody sane publishes condemns the whole set: secrets, a kid
// twice, weak RSA keys, more keys than anybody needs. The caller then keeps the set it
// has.
func (p Profile) Set(doc []byte) ([]*Key, error) {
	if len(doc) > MaxSet {
		return nil, fmt.Errorf("more than %d bytes", MaxSet)
	}
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > MaxKeys {
		return nil, fmt.Errorf("%d keys, more than %d", len(set.Keys), MaxKeys)
	}
	var list []*Key
	seen := make(map[string]bool, len(set.Keys))
	for i, text := range set.Keys {
		k, err := p.member(text)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		if k == nil {
			continue
		}
		if seen[k.ID] && k.ID != "" {
			return nil, fmt.Errorf("key %d: kid %.40q twice", i, k.ID)
		}
		seen[k.ID] = true
		list = append(list, k)
	}
	if len(list) == 0 {
		return nil, errors.New("no key that can verify a signature")
	}
	return list, nil
}

// member reads one key of a set; nil without an error means that it is not for us.
func (p Profile) member(text jsontext.Value) (*Key, error) {
	var w webKey
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	k, err := p.public(&w)
	if err != nil || k == nil || !p.Dated {
		return k, err
	}
	var d dates
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if d.NotBefore != 0 {
		k.NotBefore = time.Unix(d.NotBefore, 0)
	}
	if d.Expires != 0 {
		k.NotAfter = time.Unix(d.Expires, 0)
	}
	if d.Revoked != nil && d.Revoked.Kind() != 'n' {
		k.NotAfter = time.Unix(0, 0)
	}
	return k, nil
}

// Key reads one JWK as its holder shows it, which is strict: its numbers have one
// spelling, and it has to be for a use and of a kind that is taken.
func (p Profile) Key(text jsontext.Value) (*Key, error) {
	var w webKey
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	for _, number := range []string{w.X, w.Y, w.N, w.E} {
		if _, err := Decode(number); err != nil {
			return nil, err
		}
	}
	k, err := p.public(&w)
	if err == nil && k == nil {
		err = errors.New("not a key that can verify a signature")
	}
	return k, err
}

// public converts a JWK; nil without an error means that it is not for us.
func (p Profile) public(w *webKey) (*Key, error) {
	switch {
	case w.Type == "oct" || w.K != nil:
		return nil, errors.New("a symmetric key")
	case w.D != nil:
		return nil, errors.New("a private key")
	case len(w.ID) > MaxKeyID:
		return nil, fmt.Errorf("a kid of more than %d bytes", MaxKeyID)
	case w.Use != "" && w.Use != "sig", len(w.Operations) > 0 && !slices.Contains(w.Operations, "verify"):
		return nil, nil
	case !p.some(w.isFor):
		return nil, nil
	case w.P != nil || w.Q != nil || w.DP != nil || w.DQ != nil || w.QI != nil || w.Oth != nil:
		return nil, errors.New("a private key")
	}
	doc, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	var j jose.JSONWebKey // checks that points are on their curve
	if err := j.UnmarshalJSON(doc); err != nil {
		return nil, err
	}
	k, err := p.Take(j.Key)
	if err != nil {
		return nil, err
	}
	k.ID, k.Algorithm = w.ID, w.Algorithm
	return k, nil
}

// isFor reports whether an algorithm can use such a key, going by what it says of itself.
func (w *webKey) isFor(a Algorithm) bool {
	if a.kty != w.Type || w.Algorithm != "" && w.Algorithm != a.Name {
		return false
	}
	switch w.Type {
	case "EC":
		return w.Curve == a.curve.Params().Name
	case "OKP":
		return w.Curve == "Ed25519"
	}
	return true
}
