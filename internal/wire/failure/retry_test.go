package failure

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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

// TestRetryInfo: when to come back is said in the details on gRPC, in the header of HTTP
// elsewhere, and each becomes the other.
func TestRetryInfo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"7s": "7", "0.2s": "1", "7.000000001s": "8", "0s": "0", "-1s": "", "7": "", "1e99s": ""} {
		e := &wire.Error{Kind: wire.Unavailable, Details: []jsontext.Value{
			jsontext.Value(`{"@type":"type.googleapis.com/google.rpc.Help"}`),
			jsontext.Value(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + text + `"}`),
		}}
		if heedRetry(e); e.Header.Get(retryHeader) != want {
			t.Errorf("%s is %q, want %q", text, e.Header.Get(retryHeader), want)
		}
		if retryInfo(e) != nil && want != "" {
			t.Errorf("%s is said twice", text)
		}
	}
	body := `{"error":{"code":503,"status":"UNAVAILABLE","message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`
	if e := ReadError(wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, 503, []byte(body)); e.Header.Get(retryHeader) != "3" {
		t.Errorf("header %v", e.Header)
	}
}
