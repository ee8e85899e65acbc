package jws

import (
	"crypto"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

	private
}

// private is never in public: a symmetric key, or the secret half. What the numbers of RSA
// are called may mean something else in keys of kinds that are not known.
type private struct {
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

// member reads one key of a set. id is its kid, as far as it can be read.
func (p Profile) member(text jsontext.Value) (k *Key, id string, err error) {
	var w webKey
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, "", err
	}
	k, err = p.public(&w)
	if err != nil || !p.Dated {
		return k, w.ID, err
	}
	var d dates
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, w.ID, err
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
	return k, w.ID, nil
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
	return p.public(&w)
}

var errOther = unusable{error: errors.New("not a key that can verify a signature"), reason: reasonOther}

// public converts a JWK. The error is an unusable where its reason is known.
func (p Profile) public(w *webKey) (*Key, error) {
	switch {
	case w.Type == "oct" || w.K != nil:
		return nil, unfit(reasonSecret, "a symmetric key")
	case w.D != nil:
		return nil, w.disclosed()
	case len(w.ID) > MaxKeyID:
		return nil, unfit(reasonExcess, "a kid of more than %d bytes", MaxKeyID)
	case w.Use != "" && w.Use != "sig", len(w.Operations) > 0 && !slices.Contains(w.Operations, "verify"):
		return nil, errOther
	case !p.some(w.isFor):
		return nil, errOther
	case w.P != nil || w.Q != nil || w.DP != nil || w.DQ != nil || w.QI != nil || w.Oth != nil:
		return nil, w.disclosed()
	}
	j, err := w.read()
	if err != nil {
		return nil, err
	}
	k, err := p.Take(j.Key)
	if err != nil {
		return nil, err
	}
	k.ID, k.Algorithm = w.ID, w.Algorithm
	return k, nil
}

// read checks the numbers, and that points are on their curve.
func (w *webKey) read() (*jose.JSONWebKey, error) {
	doc, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	j := new(jose.JSONWebKey)
	return j, j.UnmarshalJSON(doc)
}

// disclosed is a key whose private half, or a part of it, comes along.
func (w *webKey) disclosed() error {
	err := unusable{error: errors.New("a private key"), reason: reasonSecret}
	half := *w
	half.private = private{}
	if j, unread := half.read(); unread == nil {
		if sum, unknown := j.Thumbprint(crypto.SHA256); unknown == nil {
			print := thumbprint(sum)
			err.leaked = &print
		}
	}
	return err
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
