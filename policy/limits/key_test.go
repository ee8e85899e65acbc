package limits

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// cut reads strings from a fuzzer's bytes: a length, then so many bytes.
func cut(data []byte) (string, []byte) {
	if len(data) == 0 {
		return "", nil
	}
	n := min(int(data[0]), len(data)-1)
	return string(data[1 : 1+n]), data[1+n:]
}

// caller is somebody made of a fuzzer's bytes, and what of it counts.
func caller(data []byte) (who, map[string]string) {
	var s [8]string
	for i := range s {
		s[i], data = cut(data)
	}
	p := &authn.Principal{Subject: s[0], Issuer: s[1], Client: s[2], Tenant: s[3]}
	client := "none"
	switch {
	case s[6] != "":
		p.Workload = &authn.Principal{Subject: s[6], Issuer: s[1]}
		client = fmt.Sprintf("workload %q %q", s[1], s[6])
	case s[2] != "":
		client = fmt.Sprintf("client %q %q", s[1], s[2])
	}
	var addr netip.Addr
	source := "none"
	if len(s[7]) >= 4 {
		addr = netip.AddrFrom4([4]byte([]byte(s[7])[:4]))
		source = addr.String()
	}
	c := &Call{Agent: s[4], Skill: s[5], Source: addr}
	return callOf(c, p), map[string]string{
		partPrincipal: fmt.Sprintf("%q %q", s[0], s[1]), partClient: client, partTenant: s[3],
		partAgent: s[4], partSkill: s[5], partSource: source,
	}
}

// FuzzKey: two callers have the same values if and only if all parts are the same.
func FuzzKey(f *testing.F) {
	f.Add([]byte{0x3f}, []byte("\x01a\x01b"), []byte("\x00\x02ab"))
	f.Add([]byte{0x06}, []byte("\x00\x00\x031:a\x01b"), []byte("\x00\x00\x01a\x031:b"))
	f.Add([]byte{0x18}, []byte("\x00\x00\x00\x00\x02ab\x00"), []byte("\x00\x00\x00\x00\x01a\x01b"))
	f.Add([]byte{0x01}, []byte("\xff"+strings.Repeat("a", 255)), []byte("\xff"+strings.Repeat("a", 254)+"b"))
	f.Fuzz(func(t *testing.T, mask, one, two []byte) {
		var parts []string
		for i, p := range partNames() {
			if len(mask) > 0 && mask[0]>>i&1 == 1 {
				parts = append(parts, p)
			}
		}
		a, of := caller(one)
		b, and := caller(two)
		same := !slices.ContainsFunc(parts, func(p string) bool { return of[p] != and[p] })
		x, y := string(appendValues(nil, parts, &a)), string(appendValues(nil, parts, &b))
		if (x == y) != same {
			t.Errorf("%v of %v and %v: %q and %q", parts, of, and, x, y)
		}
		if len(x) > hashedFrom {
			t.Errorf("%d bytes", len(x))
		}
	})
}

// Holders are told apart like keys, whatever ids agents choose.
func TestHoldersApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	long := strings.Repeat("k", 400)
	for _, kind := range []string{byCall, byTask} {
		for _, ids := range [][]string{
			{"a", "b"}, {"ab", ""}, {"", "ab"}, {"1:a", "b"}, {"a", "1:b"}, {"a"}, {"a\x00", "b"}, {long, "a"}, {long + "a", ""}, {long, "b"}, {""},
		} {
			h := holder(kind, ids...)
			if was, ok := seen[h]; ok || len(h) > 200 {
				t.Errorf("%s%q and %s are both %q", kind, ids, was, h)
			}
			seen[h] = fmt.Sprintf("%s%q", kind, ids)
		}
	}
}

// The longest key fits into what stores take.
func TestKeyLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	p := &authn.Principal{Subject: long, Issuer: long, Client: long, Tenant: long}
	w := callOf(&Call{Agent: long, Skill: long, Source: netip.MustParseAddr("2001:db8::1")}, p)
	b := bound{of: &limit{parts: partNames()}, prefix: strings.Repeat("n", nameLength) + "/openTasks/" + strings.Join(partNames(), ",") + "/"}
	if key := b.key(&w); len(key) > 512 || !strings.Contains(key, "/#") {
		t.Errorf("a key of %d bytes: %s", len(key), key)
	}
}
