package jwt

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"slices"
	"time"
)

// Shown is an issuer as it is configured, and how its keys stand.
type Shown struct {
	Issuer            string
	Header            string   // that its tokens come in, canonical
	Audiences         []string // of which its tokens need one
	Algorithms        []string
	Tenant            string
	SenderConstrained bool
	Introspection     bool // it is asked about tokens (RFC 7662)

	Keys  []ShownKey
	Asked time.Time // when its keys were fetched; zero for never
	Fresh time.Time // until when they may be used without asking again
	Err   error     // of the latest fetch; nil when it went well, or there was none
}

// ShownKey is a public key that an issuer signs with.
type ShownKey struct {
	ID        string // kid; may be empty
	Algorithm string // the only one it is for; "" for any that fits
	Kind      string // as in "RSA 2048"
}

// Shown is every issuer, in the order of configuration. Nothing is fetched for it: of
// an issuer whose tokens nobody has shown yet no keys need be known.
func (b *Scheme) Shown() []Shown {
	if b == nil {
		return []Shown{}
	}
	list := make([]Shown, 0, len(b.names))
	for _, name := range b.names {
		list = append(list, b.issuers[name].shown())
	}
	return list
}

func (is *issuer) shown() Shown {
	s := Shown{
		Issuer: is.cfg.Issuer, Header: is.cfg.HeaderName(), Audiences: slices.Clone(is.cfg.Audiences), Algorithms: slices.Clone(is.cfg.algs()),
		Tenant: is.cfg.Tenant, SenderConstrained: is.cfg.SenderConstrained, Introspection: is.cfg.Introspection != nil,
	}
	is.keys.mu.Lock()
	s.Err = is.keys.err
	is.keys.mu.Unlock()
	known := is.keys.current.Load()
	if known == nil {
		return s
	}
	s.Asked, s.Fresh = known.asked, known.fresh
	for _, k := range known.list {
		s.Keys = append(s.Keys, ShownKey{ID: k.ID, Algorithm: k.Algorithm, Kind: kindOf(k.Public)})
	}
	return s
}

// kindOf names a kind of key, with its size.
func kindOf(public any) string {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", k.N.BitLen())
	case *ecdsa.PublicKey:
		return "EC " + k.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return fmt.Sprintf("%T", public)
}
