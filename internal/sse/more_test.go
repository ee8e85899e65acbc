package sse

import (
	"io"
	"strings"
	"testing"
)

// counted counts reads.
type counted struct {
	io.Reader
	reads int
}

func (c *counted) Read(p []byte) (int, error) {
	c.reads++
	return c.Reader.Read(p)
}

// TestMore: what More promises needs no reading, and events as agents write them are known
// of.
func TestMore(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		"":                                  0,
		"data: a\n\n":                       0,
		"data: a\n\ndata: b\n\ndata: c\n\n": 2,
		"data: a\r\n\r\ndata: b\r\n\r\n":    1,
		"data: a\r\rdata: b\r\r":            0, // nobody ends lines so
		"data: a\n\n\n\n\n\n":               0,
		"data: a\r\n\r\n\r\n\r\n":           0,
		"data: a\n\n: x\n\ndata: b\n\n":     2,
		"data: a\n\ndata: b\n":              0,
		"data: a\n\n\n\ndata: b\n\n\n":      1,
		"data: a\n\ndata: " + strings.Repeat("b", 200) + "\n\n": 1, // too large, which is known as well
		"\xEF\xBB\xBF\n\ndata: a\n\n":                           0,
	} {
		src := &counted{Reader: strings.NewReader(in)}
		r, known := NewReader(src, 100), 0
		for {
			more, reads := r.More(), src.reads
			_, err := r.Next()
			if more {
				known++
				if src.reads != reads {
					t.Errorf("%.40q: it has read", in)
				}
			}
			if err != nil {
				break
			}
		}
		if known != want {
			t.Errorf("%.40q: knew of %d, want %d", in, known, want)
		}
	}
}

// TestRest: between events, and behind a comment with its blank line or without, there is
// nothing that a buffer would be needed for.
func TestRest(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"data: a\n\n": true, "data: a\n\n\n\r\n": true, ": x\n": true, ": x\n\n": true, ": x\r\n\r\n": true,
		"data: a\n\nd": false, ": x\nid: 1\n": false, ": x\n\n: y": false,
	} {
		r := NewReader(strings.NewReader(in), 100)
		if _, err := r.Next(); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if got := r.Rest(); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
