package buffers

import (
	"io"
	"strings"
	"sync"
	"testing"
)

// TestBodyIsNotReadAfterClose: HTTP/2 closes a body that is being read; from then
// on its bytes may be another call's.
func TestBodyIsNotReadAfterClose(t *testing.T) {
	t.Parallel()
	for range 200 {
		b := New()
		b.b.WriteString(strings.Repeat("a", 32<<10))
		r := b.Reader(b.Bytes())
		var both sync.WaitGroup
		both.Go(func() {
			p := make([]byte, 512)
			for {
				n, err := r.Read(p)
				if strings.Trim(string(p[:n]), "a") != "" {
					t.Error("read another call's body")
				}
				if err != nil {
					return
				}
			}
		})
		both.Go(func() {
			b.Release() // the exchange ends
			_ = r.Close()
			_ = r.Close()
			other := New()
			other.b.WriteString(strings.Repeat("b", 32<<10))
			other.Release()
		})
		both.Wait()
		if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Fatal("a closed body was read")
		}
		if n, err := r.(io.WriterTo).WriteTo(io.Discard); n != 0 || err == nil {
			t.Fatal("a closed body was written")
		}
	}
}

// TestSmallBodiesInSmallBuffers: what a stream may hold for hours has no more room than it needs.
func TestSmallBodiesInSmallBuffers(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{-1, 0, 1, pooledMax, pooledMax + 1, 1 << 20} {
		large := NewFor(1 << 20)
		large.b.Grow(1 << 20)
		large.Release()
		b := NewFor(length)
		if length <= pooledMax && b.b.Cap() > pooledMax {
			t.Errorf("a body of %d bytes has room for %d", length, b.b.Cap())
		}
		b.b.Grow(largeMax + 1)
		b.Release()
	}
}

func TestBufferUses(t *testing.T) {
	t.Parallel()
	b := New()
	r := b.Reader(nil)
	b.Release()
	if got := b.uses.Load(); got != 1 {
		t.Errorf("%d uses while the transport has it", got)
	}
	_ = r.Close()
	_ = r.Close()
	if got := b.uses.Load(); got != 0 {
		t.Errorf("%d uses at the end", got)
	}
	var none *Buffer
	none.Release()
	if none.Bytes() != nil {
		t.Error("no buffer has bytes")
	}
}
