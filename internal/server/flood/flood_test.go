package flood

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"pgregory.net/rapid"
)

// TestWeights: what each frame takes of an allowance of 100, of a client's and the gateway's.
func TestWeights(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in, out func(*http2.Framer)
		want    int64
		unread  int64
	}{
		"head":          {in: func(f *http2.Framer) { headers(f, 100) }, want: 1},
		"half a head":   {in: func(f *http2.Framer) { headers(f, 500) }, want: 3},
		"a whole one":   {in: func(f *http2.Framer) { headers(f, 1000) }, want: 6},
		"continuation":  {in: func(f *http2.Framer) { _ = f.WriteContinuation(1, true, make([]byte, 400)) }, want: 3},
		"data":          {in: func(f *http2.Framer) { _ = f.WriteData(1, false, make([]byte, 16)) }},
		"no data":       {in: func(f *http2.Framer) { _ = f.WriteData(1, false, nil) }, want: 1},
		"little data":   {in: func(f *http2.Framer) { data(f, spareAnswer, 1) }},
		"too little":    {in: func(f *http2.Framer) { data(f, spareAnswer+3, 1) }, want: 3},
		"enough data":   {in: func(f *http2.Framer) { data(f, spareAnswer+3, 1); data(f, 999, enough) }, want: 3},
		"enough before": {in: func(f *http2.Framer) { data(f, 1, 7); data(f, spareAnswer+8, 1) }, want: 3},
		"end of data":   {in: func(f *http2.Framer) { _ = f.WriteData(1, true, nil) }},
		"padded data":   {in: func(f *http2.Framer) { _ = f.WriteDataPadded(1, false, make([]byte, 16), make([]byte, 99)) }},
		"padding":       {in: func(f *http2.Framer) { _ = f.WriteDataPadded(1, false, nil, make([]byte, 99)) }, want: 1},
		"bad padding":   {in: func(f *http2.Framer) { _ = f.WriteRawFrame(0, http2.FlagDataPadded, 1, []byte{255, 1}) }, want: 1},
		"no padding":    {in: func(f *http2.Framer) { _ = f.WriteRawFrame(0, http2.FlagDataPadded, 1, nil) }, want: 1},
		"reset":         {in: func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeCancel) }, want: 2},
		"ping":          {in: func(f *http2.Framer) { _ = f.WritePing(false, [8]byte{}) }, want: 1},
		"settings":      {in: func(f *http2.Framer) { _ = f.WriteSettings() }, want: 1},
		"priority":      {in: func(f *http2.Framer) { _ = f.WritePriority(1, http2.PriorityParam{}) }, want: 1},
		"window":        {in: func(f *http2.Framer) { _ = f.WriteWindowUpdate(0, 1) }, want: 1},
		"farewell":      {in: func(f *http2.Framer) { _ = f.WriteGoAway(0, 0, nil) }, want: 1},
		"unknown":       {in: func(f *http2.Framer) { _ = f.WriteRawFrame(99, 0, 0, nil) }, want: 1},
		"sent data":     {out: func(f *http2.Framer) { _ = f.WriteData(1, false, make([]byte, 16)) }, unread: 3},
		"little of it":  {out: func(f *http2.Framer) { _ = f.WriteData(1, false, make([]byte, 15)) }},
		"error":         {out: func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeProtocol) }, want: 5},
		"closed":        {out: func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeStreamClosed) }, want: 1},
		"read no more":  {out: func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeNo) }},
		"panic":         {out: func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeInternal) }},
		"answered ping": {out: func(f *http2.Framer) { _ = f.WritePing(true, [8]byte{}) }},
		"window after data": {
			in:  func(f *http2.Framer) { _ = f.WriteWindowUpdate(0, 1); _ = f.WritePing(false, [8]byte{}) },
			out: func(f *http2.Framer) { _ = f.WriteData(1, false, make([]byte, 16)) }, unread: 1,
		},
		"reset after data": {
			in:  func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeCancel) },
			out: func(f *http2.Framer) { _ = f.WriteData(1, false, make([]byte, 16)) }, want: 2, unread: 3,
		},
	} {
		for _, piece := range []int{1, 9, 1 << 20} {
			p := &pieces{piece: piece, in: []byte(preface)}
			if test.in != nil {
				p.in = append(p.in, written(test.in)...)
			}
			c := (&Rules{Allowance: 100, Head: 1000}).Conn(p)
			if test.out != nil {
				for out := written(test.out); len(out) > 0; out = out[min(piece, len(out)):] {
					_, _ = c.Write(out[:min(piece, len(out))])
				}
			}
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := 100 - c.left.Load(); got != test.want || c.unread.Load() != test.unread {
				t.Errorf("%s, %d bytes at a time: it takes %d, want %d; %d may follow, want %d",
					name, piece, got, test.want, c.unread.Load(), test.unread)
			}
		}
	}
}

func data(f *http2.Framer, frames, size int) {
	for range frames {
		_ = f.WriteData(1, false, make([]byte, size))
	}
}

func headers(f *http2.Framer, n int) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, n), EndHeaders: true})
}

// TestEnd: a connection ends with the frame that is too much, is told why where the gateway
// is not in the middle of a frame, and says what it was ended for.
func TestEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent    []byte
		blocked bool
		want    bool
	}{
		"nothing sent":             {nil, false, true},
		"a whole frame":            {pings(1), false, true},
		"a part of a frame":        {pings(1)[:12], false, false},
		"a part of a head":         {pings(1)[:3], false, false},
		"a client that is no more": {nil, true, false},
	} {
		var told []string
		r := &Rules{Allowance: 10, Exceeded: func(kind string) { told = append(told, kind) }}
		p := &pieces{piece: 1 << 20, in: append([]byte(preface), written(func(f *http2.Framer) { headers(f, 0) })...)}
		p.in = append(p.in, pings(500)...)
		c := r.Conn(p)
		_, _ = c.Write(test.sent)
		p.out.Reset()
		p.blocked = test.blocked
		if n, err := c.Read(make([]byte, 1<<20)); n != 0 || !errors.Is(err, errFlood) {
			t.Errorf("%s: read %d bytes, %v", name, n, err)
		}
		if _, err := c.Read(make([]byte, 10)); !errors.Is(err, errFlood) {
			t.Errorf("%s: it goes on: %v", name, err)
		}
		if len(told) != 1 || told[0] != "ping" {
			t.Errorf("%s: told of %v", name, told)
		}
		if !test.want {
			if p.out.Len() > 0 {
				t.Errorf("%s: %x was sent", name, p.out.Bytes())
			}
			continue
		}
		f, err := http2.NewFramer(nil, &p.out).ReadFrame()
		if away, ok := f.(*http2.GoAwayFrame); !ok || away.ErrCode != http2.ErrCodeEnhanceYourCalm || away.LastStreamID != 1 {
			t.Errorf("%s: it was sent %v, %v", name, f, err)
		}
	}
}

// TestRefill: half a minute later all of it may be sent again, and not more however long it
// was; answers bring it back at once.
func TestRefill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &pieces{piece: 1 << 20, in: []byte(preface)}
		c := (&Rules{Allowance: 30}).Conn(p)
		send := func(n int) error {
			p.in = append(p.in, pings(n)...)
			_, err := c.Read(make([]byte, 1<<20))
			return err
		}
		step := func(what string, err error) {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		step("all of it", send(30))
		time.Sleep(10 * time.Second)
		step("a third, after a third of the time", send(10))
		for range 5 {
			c.Answered()
		}
		step("after five answers", send(30))
		for range 100 {
			c.Answered()
		}
		step("after a hundred", send(30))
		time.Sleep(time.Hour)
		step("after an hour", send(30))
		if err := send(2); err == nil {
			t.Error("more than all of it, and one on account")
		}
	})
}

// TestOther: what does not begin like HTTP/2 is passed on as it is, or ends.
func TestOther(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"GET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nXX", "PRI", "", preface[:len(preface)-1] + "x"} {
		for _, piece := range []int{1, 5, 1 << 10} {
			text := text + strings.Repeat("x", 100)
			c := (&Rules{Allowance: 1}).Any(&pieces{piece: piece, in: []byte(text)})
			if got, err := io.ReadAll(c); string(got) != text || err != nil {
				t.Errorf("%q in pieces of %d became %q, %v", text, piece, got, err)
			}
			p := &pieces{piece: piece, in: []byte(text)}
			c = (&Rules{Allowance: 1}).Conn(p)
			if got, err := io.ReadAll(c); !p.closed || err != nil || !strings.HasPrefix(preface, string(got)) {
				t.Errorf("%q in pieces of %d: %q passed, %v, closed %v", text, piece, got, err, p.closed)
			}
		}
	}
}

// TestPieces: frames are found in whatever pieces they come, and those after them.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		var b []byte
		for range rapid.IntRange(0, 8).Draw(t, "frames") {
			var f frame
			n := rapid.IntRange(0, 40).Draw(t, "length")
			binary.BigEndian.PutUint32(f[:], uint32(n)<<8|rapid.Uint32Range(0, 12).Draw(t, "type"))
			f[4] = rapid.SampledFrom([]byte{0, 1, 8, 9}).Draw(t, "flags")
			binary.BigEndian.PutUint32(f[5:], rapid.Uint32().Draw(t, "stream"))
			b = append(b, f[:headSize]...)
			b = append(b, rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "payload")...)
			want = append(want, string(f[:headSize]))
		}
		var f frames
		var got []string
		for rest := b; len(rest) > 0; {
			p := rest[:rapid.IntRange(1, len(rest)).Draw(t, "piece")]
			rest = rest[len(p):]
			for len(p) > 0 {
				n, ok := f.next(p)
				p = p[n:]
				if ok {
					got = append(got, string(f.frame[:headSize]))
				}
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") || !f.between() {
			t.Fatalf("%x: found %x, want %x", b, got, want)
		}
	})
}
