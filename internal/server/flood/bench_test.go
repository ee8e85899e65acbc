package flood

import (
	"testing"

	"golang.org/x/net/http2"
)

// endless is a connection on which the same bytes come again and again.
type endless struct {
	pieces
	all []byte
	at  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.all[e.at:])
	e.at = (e.at + n) % len(e.all)
	return n, nil
}

// BenchmarkCall is a call's frames, read as net/http does, head by head, and those of its
// answer; all that this package adds to what reading and writing cost.
func BenchmarkCall(b *testing.B) {
	call := written(func(f *http2.Framer) { headers(f, 80); _ = f.WriteData(1, true, make([]byte, 700)) })
	answer := written(func(f *http2.Framer) { headers(f, 60); _ = f.WriteData(1, true, make([]byte, 600)) })
	c := (&Rules{Allowance: 400, Head: 16 << 10}).Conn(&endless{all: []byte(preface)})
	buf := make([]byte, 16<<10)
	_, _ = c.Read(buf)
	e := &endless{all: call}
	e.blocked = true
	c.Conn = e
	b.ReportAllocs()
	for b.Loop() {
		for _, n := range []int{9, 80, 9, 700} {
			if _, err := c.Read(buf[:n]); err != nil {
				b.Fatal(err)
			}
		}
		_, _ = c.Write(answer)
		c.Answered()
	}
}
