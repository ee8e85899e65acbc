package exchange

import (
	"testing"
	"unsafe"
)

// TestSize: every call, and every open stream for as long as it is open, has one Exchange. Go's allocator rounds up
// to size classes, of which the one above this has 640 bytes more.
func TestSize(t *testing.T) {
	t.Parallel()
	const class = 3456
	if size := unsafe.Sizeof(Exchange{}); size > class {
		t.Errorf("an Exchange has %d bytes, which take 4096: let it have at most %d", size, class)
	}
}
