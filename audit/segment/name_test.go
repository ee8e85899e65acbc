package segment

import (
	"path/filepath"
	"testing"
)

// FuzzParseName: a name that is taken for a segment's is the one that this segment has,
// and leads to no other directory.
func FuzzParseName(f *testing.F) {
	for _, seed := range []string{
		"audit-2026-11-22.jsonl", "audit-2026-11-22_001.jsonl.zst", "audit-2026-11-22_1000.jsonl.zst.enc",
		"audit-2026-02-30.jsonl", "audit-2026-11-22_000.jsonl", "audit-2026-11-22.jsonl.enc\n", "../audit-2026-11-22.jsonl",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		n, ok := ParseName(file)
		if !ok {
			return
		}
		again, ok := ParseName(n.File() + string(n.Form))
		if !ok || again != n || n.Path("/d") != "/d/"+file || filepath.Base(file) != file {
			t.Errorf("%q is %+v, and its name %+v, %t", file, n, again, ok)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	order := []string{"audit-2026-11-21.jsonl", "audit-2026-11-21_001.jsonl", "audit-2026-11-21_999.jsonl", "audit-2026-11-22.jsonl"}
	var before Name
	for i, file := range order {
		n, ok := ParseName(file)
		if !ok || n.File() != file {
			t.Errorf("%s is read as %+v, %v", file, n, ok)
		}
		if i > 0 && (before.Compare(n) >= 0 || before.File() >= n.File()) {
			t.Errorf("%s does not come after %s", file, before.File())
		}
		before = n
	}
	for _, file := range []string{"", "audit.lock", "audit-2026-11-21.jsonl.gz", "audit-2026-11-21_000.jsonl",
		"audit-2026-11-21_1.jsonl", "audit-2026-02-30.jsonl", "xaudit-2026-11-21.jsonl"} {
		if n, ok := ParseName(file); ok {
			t.Errorf("%s is read as %+v", file, n)
		}
	}
}
