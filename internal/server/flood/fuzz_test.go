package flood

import (
	"bytes"
	"io"
	"testing"

	"golang.org/x/net/http2"
)

// FuzzConn: whatever comes, in whatever pieces, passes as it is as far as it passes, and no
// more weight than is allowed.
func FuzzConn(f *testing.F) {
	f.Add([]byte{}, 1)
	f.Add(pings(3), 7)
	f.Add(written(func(f *http2.Framer) { headers(f, 20); _ = f.WriteData(1, true, nil) }), 10)
	f.Add(written(func(f *http2.Framer) { _ = f.WriteDataPadded(1, false, nil, make([]byte, 9)) }), 2)
	f.Add(written(func(f *http2.Framer) { _ = f.WriteRSTStream(1, 5); _ = f.WriteRSTStream(3, 1) }), 11)
	f.Add(written(func(f *http2.Framer) { data(f, spareAnswer+6, 1) }), 1000)
	f.Add(written(func(f *http2.Framer) { data(f, 1, 40); data(f, spareAnswer+38, 1); data(f, 2, 3); data(f, 6, 0) }), 1000)
	f.Fuzz(func(t *testing.T, sent []byte, piece int) {
		piece = max(1, min(piece, 1<<16))
		in := append([]byte(preface), sent...)
		c := (&Rules{Allowance: 5, Head: 100}).Conn(&pieces{piece: piece, in: bytes.Clone(in)})
		got, err := io.ReadAll(c)
		if !bytes.HasPrefix(in, got) || err == nil && len(got) != len(in) {
			t.Fatalf("%x became %x, %v", in, got, err)
		}
		weight, spare := int64(0), int64(spareAnswer)
		for rest := sent; len(rest) >= headSize; {
			var one frame
			copy(one[:], rest)
			more := uint32(0) // that has to be there to weigh it
			switch {
			case one.kind() == typeReset:
				more = 4
			case one.kind() == typeData && one.flags()&flagPadded != 0:
				more = 1
			}
			if len(rest) < headSize+int(min(more, one.length())) {
				break
			}
			kind, w := c.rules.received(&one)
			switch n := int64(one.data()); {
			case kind != kindData:
			case n >= enough:
				spare = min(spare+n-enough, mostSpare)
			case n > 0 && spare > 0:
				spare, w = spare-1, 0
			}
			weight += w
			rest = rest[min(len(rest), headSize+int(one.length())):]
		}
		if c.over != (weight > 5) {
			t.Fatalf("%x: over %v, at a weight of %d", sent, c.over, weight)
		}
	})
}
