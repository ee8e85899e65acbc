package egress

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// TestL41_Addresses judges addresses as they are dialled, whatever wrote them.
func TestL41_Addresses(t *testing.T) {
	t.Parallel()
	g := newGuard(false)
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700:4700::1111": true, "2a00:1450:4001:830::200e": true, "100.63.255.255": true,
		"100.128.0.1": true, "172.15.0.1": true, "172.32.0.1": true, "192.167.0.1": true, "169.253.0.1": true, "11.0.0.1": true,
		"223.255.255.254": true, "2003::1": true, "2001:4860:4860::8888": true,
		"127.0.0.1": false, "10.0.0.1": false, "0.0.0.0": false, "100.64.0.1": false, "169.254.169.254": false, "172.16.0.1": false,
		"192.168.0.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::ffff:8.8.8.8": false, "::8.8.8.8": false, "64:ff9b::808:808": false, "64:ff9b:1::808:808": false,
		"2002:808:808::1": false, "2001:0:1::1": false, "fc00::1": false, "fe80::1": false, "fec0::1": false, "ff02::1": false,
		"fe80::1%lo": false, "2606:4700:4700::1111%lo": false, "2606:4700::5efe:808:808": false, "2606:4700::200:5efe:808:808": false,
	} {
		if got := g.permits(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700:4700::1111]:443": true, "127.0.0.1:443": false, "[::1]:443": false, "localhost:443": false, "": false,
		"[fe80::1%lo]:443": false,
	} {
		if err := g.control("tcp4", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if g.control("unix", "8.8.8.8:443", nil) == nil || g.control("udp4", "8.8.8.8:443", nil) == nil {
		t.Error("other networks are allowed")
	}
}

// TestGuardAgreesWithTheStandardLibrary: what that calls private is never permitted.
func TestGuardAgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	g, open := newGuard(false), newGuard(true)
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")
		if rapid.Bool().Draw(t, "long") {
			bytes = append(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0x20, 0x64, 0xfc, 0xfe, 0xff, 0x80, 1}), 12, 12).Draw(t, "front"), bytes...)
		}
		ip, _ := netip.AddrFromSlice(bytes)
		if g.permits(ip) && (!ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Is4In6() || !open.permits(ip)) {
			t.Fatalf("%s is permitted", ip)
		}
	})
}
