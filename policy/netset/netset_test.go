package netset

import (
	"net/netip"
	"testing"
)

// FuzzSources: a list of sources has exactly the addresses that one of its entries has, by
// netip's word, however the entries are written, overlap and touch.
func FuzzSources(f *testing.F) {
	for _, seed := range [][3]string{
		{"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
		{"::ffff:192.0.2.0/120", "192.0.2.1/32", "192.0.3.0"},
		{"2001:db8::/127", "2001:db8::2", "2001:db8::3"},
		{"0.0.0.0/0", "255.255.255.255", "::"},
		{"fe80::1%eth0", "10.0.0.1/8", "::/0"},
		{"::ffff:0:0/95", "::fffe:ffff:ffff", "::1:0:0:0"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, a, b, address string) {
		if a == "" || b == "" {
			return // reported elsewhere
		}
		all, problems := Parse([]string{a, b})
		at, err := netip.ParseAddr(address)
		if err != nil || at.Zone() != "" {
			return
		}
		want, good := false, 0
		for _, text := range []string{a, b} {
			p, problem := parseSource(text)
			if problem == "" {
				want, good = want || p.Contains(at.Unmap()), good+1
			}
		}
		if got := all.Has(at.Unmap()); got != want || good+len(problems) != 2 {
			t.Errorf("%s is in %q and %q: %t, want %t; problems: %q", at, a, b, got, want, problems)
		}
	})
}
