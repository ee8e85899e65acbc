package viewer

import (
	"net/http"
	"strings"
	"testing"
)

// TestStill: who may look no more is told so.
func TestStill(t *testing.T) {
	t.Parallel()
	for _, may := range []bool{true, false} {
		f := &Feed{Admitted: func(*http.Request) bool { return may }}
		if text, over := f.still(nil); over == may || over != strings.Contains(string(text), "UNAUTHENTICATED") {
			t.Errorf("%v: %q, %v", may, text, over)
		}
	}
}
