package gatewaytest

import (
	"net"
	"testing"
)

// TestFreeAddress takes the addresses of two processes, of which none may be given twice:
// some servers listen where another of theirs does.
func TestFreeAddress(t *testing.T) {
	given := map[string]bool{}
	for range 2 {
		process := new(block)
		t.Cleanup(func() {
			if process.claim != nil {
				_ = process.claim.Close()
			}
		})
		for range blockPorts / 2 {
			address := process.free()
			if address == "" || given[address] {
				t.Fatalf("after %d addresses: got %q", len(given), address)
			}
			given[address] = true
		}
	}
}

// TestFreeAddressPasses is about an address at which somebody listens when it is its turn.
func TestFreeAddressPasses(t *testing.T) {
	process := new(block)
	first := process.free()
	defer func() { _ = process.claim.Close() }()
	l, err := net.Listen("tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for range 2 * blockPorts {
		if got := process.free(); got == first || got == "" {
			t.Fatalf("got %q, where somebody listens", got)
		}
	}
}
