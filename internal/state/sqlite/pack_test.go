package sqlite

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzUnpack: a list comes back as it was written, and what is none is torn.
func FuzzUnpack(f *testing.F) {
	f.Add(pack([]string{"a", "", "https://example.com/ext/v1"}), "a", "b")
	f.Add([]byte{}, "", "")
	f.Add([]byte{3, 'a'}, "\x00", "\xff")
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'a'}, "", "b")
	f.Add([]byte{0x81, 0, 'a'}, "", "b")
	f.Fuzz(func(t *testing.T, data []byte, a, b string) {
		if got, err := unpack(pack([]string{a, b})); err != nil || !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q and %q come back as %q, %v", a, b, got, err)
		}
		list, err := unpack(data)
		if err != nil {
			return
		}
		if again, err := unpack(pack(list)); err != nil || !slices.Equal(again, list) || len(pack(list)) > len(data) ||
			len(pack(list)) == len(data) && !bytes.Equal(pack(list), data) {
			t.Errorf("%x is %q, and that %q, %v", data, list, again, err)
		}
	})
}
