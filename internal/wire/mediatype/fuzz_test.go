package mediatype

import (
	"mime"
	"strings"
	"testing"
)

// FuzzOfRequest: what passes is JSON in UTF-8 for whoever parses it, and says nothing else.
func FuzzOfRequest(f *testing.F) {
	for _, seed := range []string{
		"application/json", "application/a2a+json; charset=UTF-8", `application/json;charset="utf-8"`,
		"application/json; charset*=utf-16''x", "application/json; charset*0=utf-16", "application/json, text/plain",
		"application/json;;", "text/json", "application/json; charset=utf-8; charset=utf-16", "APPLICATION/JSON ; Charset=utf-8",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, contentType string) {
		if !OfRequest(contentType) {
			return
		}
		kind, params, err := mime.ParseMediaType(contentType)
		if err != nil || kind != "application/json" && kind != "application/a2a+json" || len(params) > 1 {
			t.Fatalf("%q passes: %q, %q, %v", contentType, kind, params, err)
		}
		plain, rest, _ := strings.Cut(contentType, ";")
		if !strings.EqualFold(strings.TrimSpace(plain), kind) || strings.ContainsAny(contentType, ",*\x00\r\n") {
			t.Errorf("%q passes as %q", contentType, kind)
		}
		if strings.Contains(strings.ToLower(rest), "utf-16") {
			t.Errorf("%q passes", contentType)
		}
	})
}
