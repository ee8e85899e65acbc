package vault

import (
	"path/filepath"
	"testing"
)

// FuzzParseID: an id is that of one place, which has no other, and leads out of no
// directory.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{
		"2026-11-22_000.0", "2026-11-22_1000.999999999999", "2026-11-22_0000.1", "2026-11-22_000.01",
		"2026-11-22_000.-1", "2026-11-22_000.0\n", "../2026-11-22_000.0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		n, at, ok := parseID(id)
		if ok && (n.id(at) != id || at < 0 || filepath.Dir(n.path("/d", dataForm)) != "/d") {
			t.Errorf("%q is place %d of %+v", id, at, n)
		}
		line := keyLine{text: []byte(id)}
		if _, ok := line.id(); ok && len(id) < 2*keyID {
			t.Errorf("%q names a key", id)
		}
	})
}
