package wire

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzMediaType: what passes is JSON in UTF-8 for whoever parses it, and says nothing else.
func FuzzMediaType(f *testing.F) {
	for _, seed := range []string{
		"application/json", "application/a2a+json; charset=UTF-8", `application/json;charset="utf-8"`,
		"application/json; charset*=utf-16''x", "application/json; charset*0=utf-16", "application/json, text/plain",
		"application/json;;", "text/json", "application/json; charset=utf-8; charset=utf-16", "APPLICATION/JSON ; Charset=utf-8",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, contentType string) {
		if !MediaType(contentType) {
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

// FuzzRequestVersion: header and query are never two versions, and what one of them says
// alone is what both mean when both say it.
func FuzzRequestVersion(f *testing.F) {
	for _, seed := range [][2]string{
		{"1.0", "1.0.1"}, {"", "0.3"}, {"1.0", "0.3"}, {" 1.0", "1.0"}, {"1.0, 0.3", ""}, {"9.9", "9.9"}, {"\xff", "1."},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, header, query string) {
		inHeader, inQuery := http.Header{"A2a-Version": {header}}, url.Values{versionName: {query}}
		h, hErr := RequestVersion(inHeader, nil)
		q, qErr := RequestVersion(nil, inQuery)
		both, err := RequestVersion(inHeader, inQuery)
		if err == nil && (hErr != nil || qErr != nil || both != h && both != V03 || both != q && both != V03) {
			t.Errorf("%q and %q are %q; alone %q, %v and %q, %v", header, query, both, h, hErr, q, qErr)
		}
		if err == nil && h != "" && q != "" && h != q {
			t.Errorf("%q is %q and %q is %q, together %q", header, h, query, q, both)
		}
	})
}
