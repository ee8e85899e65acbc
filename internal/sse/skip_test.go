package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestSkip: behind an event that is too large Next goes on, however lines end and however
// the bytes come.
func TestSkip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, tt := range []struct {
			in, next string
			size     int
			err      error // of Skip, else of Next
		}{
			{"data: " + long + "||data: b||", "b", 306, nil},
			{"event: e|data: a|data: " + long + "|data: c||data: b||data: d||", "b", 0, nil},
			{"data: " + long + "||", "", 306, io.EOF},
			{"data: " + long, "", 306, io.EOF},
			{"data: " + long + "|data: " + long + "||: c||data: " + long + "||data: b||", "", 0, ErrTooLarge},
		} {
			in := strings.ReplaceAll(tt.in, "|", end)
			for name, src := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
				r := NewReader(src, 100)
				if _, err := r.Next(); !errors.Is(err, ErrTooLarge) {
					t.Fatalf("%q: %v", in, err)
				}
				size, err := r.Skip()
				if tt.size > 0 && (size < int64(tt.size) || size > int64(tt.size+2*len(end))) {
					t.Errorf("%s, %.20q, %q: %d bytes", name, in, end, size)
				}
				var e Event
				for err == nil && !e.HasData {
					e, err = r.Next()
				}
				if !errors.Is(err, tt.err) || string(e.Data) != tt.next {
					t.Errorf("%s, %.20q, %q: %q, %v", name, in, end, e.Data, err)
				}
				if _, again := r.Skip(); err == nil && again != nil {
					t.Errorf("Skip of nothing: %v", again)
				}
			}
		}
	}
}
