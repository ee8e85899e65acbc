package jsonscan

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestPlain compares the word-wise search with the obvious one, for every
// byte at every place of strings around its word and block sizes.
func TestPlain(t *testing.T) {
	t.Parallel()
	slow := func(b []byte) int {
		for i, c := range b {
			if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
				return i
			}
		}
		return len(b)
	}
	for _, n := range []int{1, 7, 8, 9, 31, 32, 33, 40, 63, 64, 65, 100} {
		for at := range n {
			for c := range 256 {
				b := bytes.Repeat([]byte("x"), n)
				b[at] = byte(c)
				if got, want := plain(b), slow(b); got != want {
					t.Fatalf("%d bytes with %#x at %d: %d, want %d", n, c, at, got, want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0x1f, ' ', '!', '"', '#', '[', '\\', ']', 0x7f, 0x80, 0xff}), 0, 80).Draw(t, "b")
		b = append(bytes.Repeat([]byte("~"), rapid.IntRange(0, 40).Draw(t, "pad")), b...)
		if got, want := plain(b), slow(b); got != want {
			t.Fatalf("%x: %d, want %d", b, got, want)
		}
	})
}
