package keys

import (
	"strings"
	"testing"
)

// BenchmarkSign signs a payload as large as that of an assertion.
func BenchmarkSign(b *testing.B) {
	payload := []byte(strings.Repeat("x", 600))
	for _, algorithm := range []string{es256, edDSA} {
		b.Run(algorithm, func(b *testing.B) {
			r := opened(b, Config{Dir: b.TempDir(), Algorithm: algorithm}, &journal{}, &clock{now: epoch})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Sign("JWT", payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRefresh looks at three keys that have not changed.
func BenchmarkRefresh(b *testing.B) {
	paths := []string{written(b, es256), written(b, es256), written(b, edDSA)}
	r := opened(b, Config{Signing: paths}, &journal{}, &clock{now: epoch})
	b.ReportAllocs()
	for b.Loop() {
		r.Refresh()
	}
}
