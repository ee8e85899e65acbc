package credentials

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// BenchmarkAuthorize measures what credentials cost a call: an exchange whose token is
// there, for a token of 1 KiB, and an assertion.
func BenchmarkAuthorize(b *testing.B) {
	s := newTokenServer(b)
	o, _ := signing(b)
	c := alice()
	c.Token, c.Target = strings.Repeat("t", 1<<10), &url.URL{Scheme: "https", Host: "agent.example"}
	for name, cred := range map[string]Credential{
		"exchange": exchangeAt(s, func(x *Exchange) {
			x.Permissions = &Permissions{Scopes: map[string][]string{"billing.read": {"r"}}, Always: []string{"openid"}}
		}),
		"assertion": {Assertion: &Assertion{}},
	} {
		b.Run(name, func(b *testing.B) {
			u, err := made([]Credential{cred}, o)
			must(b, err)
			b.Cleanup(u.Close)
			out := http.Header{}
			must(b, u.Authorize(b.Context(), out, c))
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				if err := u.Authorize(ctx, out, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
