//go:build !minimal

package pdp

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// BenchmarkAsk is one call and one authorizer on loopback.
func BenchmarkAsk(b *testing.B) {
	p := newPoint(b, `{"decision": true}`)
	s := newService(b, nil, always(code(codes.OK, ""), nil))
	other := Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Agents: []string{"weather"}}
	for _, bench := range []struct {
		name string
		a    Authorizer
	}{
		{"unconcerned", other},
		{"authzen", Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL)}},
		{"authzen cached", Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Cache: quantity.Duration(time.Minute)}},
		{"ext_authz", s.authorizer()},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bench.a.Timeout = quantity.Duration(10 * time.Second)
			panel, q := newPanel(b, bench.a), newQuestion(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := panel.Ask(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
