package jwt

import (
	"crypto"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// BenchmarkVerify is a token that is met for the first time. Beside each algorithm stands
// what the check of its signature alone takes.
func BenchmarkVerify(b *testing.B) {
	for _, bb := range []struct {
		alg, kid string
		key      any
	}{{"ES256", "ec", authntest.EcKey()}, {"RS256", "rsa", authntest.RsaKey()}, {"EdDSA", "ed", authntest.EdKey()}} {
		b.Run(bb.alg, func(b *testing.B) {
			c := openIssuer(b, authntest.Standard())
			r := authntest.BearerOf(authntest.BenchToken(b, bb.alg, bb.kid, bb.key))
			id := digest(r.Header.Get("Authorization")[len("Bearer "):])
			b.ReportAllocs()
			for b.Loop() {
				From(c).cache.shards[id[0]%memoryShards].forget(id)
				if _, err := c.Authenticate(r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bb.alg+"/signature", func(b *testing.B) {
			t, err := precheck(authntest.BenchToken(b, bb.alg, bb.kid, bb.key))
			if err != nil {
				b.Fatal(err)
			}
			alg, _ := authn.Signatures.Lookup(bb.alg)
			signer, _ := bb.key.(crypto.Signer)
			b.ReportAllocs()
			for b.Loop() {
				if err := alg.Verify(signer.Public(), []byte(t.signed), t.signature); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCached(b *testing.B) {
	c := openIssuer(b, authntest.Standard())
	r := authntest.BearerOf(authntest.BenchToken(b, "RS256", "rsa", authntest.RsaKey()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCachedParallel(b *testing.B) {
	c := openIssuer(b, authntest.Standard())
	token := authntest.BenchToken(b, "RS256", "rsa", authntest.RsaKey())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := authntest.BearerOf(token)
		for pb.Next() {
			if _, err := c.Authenticate(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPrecheck(b *testing.B) {
	token := authntest.BenchToken(b, "ES256", "ec", authntest.EcKey())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := precheck(token); err != nil {
			b.Fatal(err)
		}
	}
}
