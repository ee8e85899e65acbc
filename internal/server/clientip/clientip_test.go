package clientip

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func networks(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

func TestL04_ClientIP(t *testing.T) {
	t.Parallel()
	trusted := networks("10.0.0.0/8", "fd00::/8")
	tests := []struct {
		name, peer string
		xff        []string
		trusted    []netip.Prefix
		want       string
	}{
		{"nobody is trusted", "192.0.2.1:1", []string{"1.1.1.1"}, nil, "192.0.2.1"},
		{"peer is not trusted", "192.0.2.1:1", []string{"1.1.1.1"}, trusted, "192.0.2.1"},
		{"peer is trusted", "10.0.0.1:1", []string{"1.1.1.1"}, trusted, "1.1.1.1"},
		{"right-most counts", "10.0.0.1:1", []string{"6.6.6.6, 1.1.1.1"}, trusted, "1.1.1.1"},
		{"right-most line counts", "10.0.0.1:1", []string{"6.6.6.6", "1.1.1.1"}, trusted, "1.1.1.1"},
		{"trusted hops are passed over", "10.0.0.1:1", []string{"6.6.6.6, 1.1.1.1, 10.0.0.2",
			"10.0.0.3,10.0.0.4"}, trusted, "1.1.1.1"},
		{"all trusted", "10.0.0.1:1", []string{"10.0.0.2, 10.0.0.3"}, trusted, "10.0.0.2"},
		{"no field", "10.0.0.1:1", nil, trusted, "10.0.0.1"},
		{"empty field", "10.0.0.1:1", []string{""}, trusted, "10.0.0.1"},
		{"garbage stops", "10.0.0.1:1", []string{"1.1.1.1, unknown, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"empty entry stops", "10.0.0.1:1", []string{"1.1.1.1, "}, trusted, "10.0.0.1"},
		{"quotes are garbage", "10.0.0.1:1", []string{`"1.1.1.1"`}, trusted, "10.0.0.1"},
		{"port", "10.0.0.1:1", []string{"1.1.1.1:5678"}, trusted, "1.1.1.1"},
		{"IPv6", "[fd00::1]:1", []string{"2001:db8::1"}, trusted, "2001:db8::1"},
		{"IPv6 in brackets", "[fd00::1]:1", []string{"[2001:db8::1]"}, trusted, "2001:db8::1"},
		{"IPv6 with port", "[fd00::1]:1", []string{"[2001:db8::1]:5"}, trusted, "2001:db8::1"},
		{"IPv4 in brackets", "10.0.0.1:1", []string{"[1.1.1.1]"}, trusted, "10.0.0.1"},
		{"zone is dropped", "10.0.0.1:1", []string{"fe80::1%eth0"}, trusted, "fe80::1"},
		{"mapped peer", "[::ffff:10.0.0.1]:1", []string{"::ffff:1.1.1.1"}, trusted, "1.1.1.1"},
		{"mapped hop", "10.0.0.1:1", []string{"1.1.1.1, ::ffff:10.0.0.2"}, trusted, "1.1.1.1"},
		{"1000 entries", "10.0.0.1:1", []string{"1.1.1.1" + strings.Repeat(", 10.0.0.2", 1000)}, trusted,
			"10.0.0.2"},
		{"no IP peer", "@", []string{"1.1.1.1"}, trusted, "invalid IP"},
	}
	for _, tt := range tests {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.xff}}
		r.Header.Set("Forwarded", "for=6.6.6.6")
		r.Header.Set("X-Real-Ip", "6.6.6.6")
		if got := Of(r, tt.trusted).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzClientIP: an untrusted peer is itself whatever it says; behind a trusted
// one, what is appended on the right decides.
func FuzzClientIP(f *testing.F) {
	for _, s := range []string{"1.1.1.1", "a, b", "[::1]:5", "fe80::1%x", "\"1.1.1.1\"", ",,,", "10.0.0.1"} {
		f.Add(s)
	}
	trusted := networks("10.0.0.0/8")
	f.Fuzz(func(t *testing.T, xff string) {
		r := &http.Request{RemoteAddr: "192.0.2.1:1", Header: http.Header{"X-Forwarded-For": {xff}}}
		if got := Of(r, trusted).String(); got != "192.0.2.1" {
			t.Fatalf("untrusted peer became %s", got)
		}
		r.RemoteAddr = "10.0.0.1:1"
		r.Header["X-Forwarded-For"] = []string{xff + ",192.0.2.9"}
		if got := Of(r, trusted).String(); got != "192.0.2.9" {
			t.Fatalf("%q moved the client to %s", xff, got)
		}
		r.Header["X-Forwarded-For"] = []string{xff}
		if got := Of(r, trusted); !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Fatalf("%q gives %s", xff, got)
		}
	})
}

func BenchmarkClientIP(b *testing.B) {
	trusted := networks("10.0.0.0/8")
	r := &http.Request{RemoteAddr: "10.0.0.1:1234",
		Header: http.Header{"X-Forwarded-For": {"192.0.2.1, 10.0.0.2"}}}
	b.ReportAllocs()
	for b.Loop() {
		if Of(r, trusted) != netip.AddrFrom4([4]byte{192, 0, 2, 1}) {
			b.Fatal("wrong client")
		}
	}
}

func TestAddrText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ addr, remote string }{
		{"192.0.2.1", "192.0.2.1:80"}, {"192.0.2.1", "[::ffff:192.0.2.1]:80"}, {"192.0.2.1", "198.51.100.1:80"},
		{"2001:db8::1", "[2001:db8::1]:80"}, {"fe80::1%eth0", "[fe80::1%eth0]:80"}, {"fe80::1", "[fe80::1%eth0]:80"},
		{"", "pipe"}, {"", ""}, {"192.0.2.1", "@"}, {"::", "[::]:0"},
	} {
		addr, _ := netip.ParseAddr(tt.addr)
		if got := Text(addr, tt.remote); got != addr.String() {
			t.Errorf("%s of %s: %q", addr, tt.remote, got)
		}
	}
}
