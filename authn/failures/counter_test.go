package failures

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"
)

// A flood from ever new addresses takes no more than its share of memory, and what
// those refused last have used up is not forgotten.
func TestL31_FloodFromManyAddresses(t *testing.T) { //nolint:paralleltest // it looks at the heap
	b := New(Config{Burst: 1}, nil)
	now := time.Now()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const flood = 300_000
	address := func(i int) netip.Addr {
		return AddressBlock(fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff))
	}
	for i := range flood {
		if wait := b.Charge(address(i), now); wait != 0 {
			t.Fatalf("address %d waits %v for the first", i, wait)
		}
	}
	known := 0
	for i := range b.shards {
		known += len(b.shards[i].known)
		if b.shards[i].order.Len() != len(b.shards[i].known) {
			t.Errorf("shard %d: %d in order, %d known", i, b.shards[i].order.Len(), len(b.shards[i].known))
		}
	}
	if most := failureShards * failuresEach; known > most {
		t.Errorf("%d addresses, more than %d", known, most)
	}
	// Without bound it would be over 60 MiB.
	if grown := int64(heap()) - int64(before); grown > 24<<20 { // far below the limit
		t.Errorf("%d MiB for %d addresses", grown>>20, known)
	}
	for i := flood - 1000; i < flood; i++ {
		if b.Charge(address(i), now) == 0 {
			t.Errorf("address %d, refused a moment ago, has a new bucket", i)
		}
	}
	runtime.KeepAlive(b)
}
