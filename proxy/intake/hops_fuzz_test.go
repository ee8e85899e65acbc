package intake_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// FuzzVia: whatever stands in Via, the next gateway reads everybody who was passed, this
// one last.
func FuzzVia(f *testing.F) {
	for _, seed := range []string{"", "1.1 a", "1.1 a (b, c), 2 d", "1.1 x(", "(", `1.1 x(\)`, "1.1\u00a0b, ,)", "a b (c (d), e"} {
		f.Add(seed)
	}
	fe := new(intake.Frontend)
	fe.Here[0] = []string{"1.1 gate-a"}
	f.Fuzz(func(t *testing.T, line string) {
		x := &exchange.Exchange{FromClient: exchange.FromClient{Request: &http.Request{ProtoMajor: 1}}}
		x.Rec.Hops = intake.Passed(http.Header{"Via": {line}})
		want := append(slices.Clone(x.Rec.Hops), "gate-a")
		if got := intake.Passed(http.Header{"Via": fe.Via(x)}); !slices.Equal(got, want) {
			t.Errorf("%q: the next reads %q, want %q", line, got, want)
		}
	})
}
