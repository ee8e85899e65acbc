package trust

import (
	"strings"
	"testing"
)

// FuzzParseDigest: there is one spelling of a digest behind all that are taken.
func FuzzParseDigest(f *testing.F) {
	f.Add("sha256:" + strings.Repeat("0a", 32))
	f.Add("SHA256:" + strings.Repeat("0A", 32))
	f.Add(strings.Repeat("0a", 32))
	f.Add("sha256:" + strings.Repeat("0a", 33))
	f.Add("sha256:K" + strings.Repeat("\u212a", 63))
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseDigest(s)
		if err != nil {
			return
		}
		again, err := parseDigest(strings.ToUpper(got))
		if err != nil || again != got || len(got) != len(digestPrefix)+64 || !strings.EqualFold(got, s) {
			t.Errorf("%q is %q, and that %q, %v", s, got, again, err)
		}
	})
}
