package wire

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// TestMayFile: what is asked about every name answers for nearly all of them at once, and
// misses no spelling.
func TestMayFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"url": true, "raw": true, "file": true, "URL": true, "_u-r l": true, "\x00raw": true, "Fi_le": true,
		"ur": false, "urls": false, "iconUrl": false, "filename": false, "": false, "text": false, "role": false, "result": false,
	} {
		if got := mayFile([]byte(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
		if folded := string(jsonscan.Fold(nil, []byte(name), jsonscan.LongestName)); want != (folded == "url" || folded == "raw" || folded == "file") {
			t.Errorf("%q: the table is wrong", name)
		}
	}
}
