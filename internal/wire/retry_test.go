package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzRetryAfter: whatever a receiver says, it is waited for no time before now and for no
// longer than it says.
func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC)
	for _, seed := range []string{
		"120", "-1", "+5", "99999999999999999999", "2147483648", "Sun, 22 Nov 2026 13:01:00 GMT", "Sunday, 22-Nov-26 13:01:00 GMT",
		"Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", " 7", "1e3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := RetryAfter(http.Header{"Retry-After": {text}}, now)
		if got < 0 || got > 0 && got < time.Second && !strings.Contains(text, "GMT") {
			t.Errorf("%q is %v", text, got)
		}
	})
}
