package authn

import (
	"crypto"
	"testing"
)

// BenchmarkVerify is a token that is met for the first time. Beside each algorithm stands
// what the check of its signature alone takes.
func BenchmarkVerify(b *testing.B) {
	for _, bb := range []struct {
		alg, kid string
		key      any
	}{{"ES256", "ec", ecKey()}, {"RS256", "rsa", rsaKey()}, {"EdDSA", "ed", edKey()}} {
		b.Run(bb.alg, func(b *testing.B) {
			c := openIssuer(b, standard())
			r := bearerOf(benchToken(b, bb.alg, bb.kid, bb.key))
			id := digest(r.Header.Get("Authorization")[len("Bearer "):])
			b.ReportAllocs()
			for b.Loop() {
				TokensOf(c).cache.shards[id[0]%memoryShards].forget(id)
				if _, err := c.Authenticate(r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bb.alg+"/signature", func(b *testing.B) {
			t, err := precheck(benchToken(b, bb.alg, bb.kid, bb.key))
			if err != nil {
				b.Fatal(err)
			}
			alg, _ := profile.Lookup(bb.alg)
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
	c := openIssuer(b, standard())
	r := bearerOf(benchToken(b, "RS256", "rsa", rsaKey()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCachedParallel(b *testing.B) {
	c := openIssuer(b, standard())
	token := benchToken(b, "RS256", "rsa", rsaKey())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := bearerOf(token)
		for pb.Next() {
			if _, err := c.Authenticate(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPrecheck(b *testing.B) {
	token := benchToken(b, "ES256", "ec", ecKey())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := precheck(token); err != nil {
			b.Fatal(err)
		}
	}
}
