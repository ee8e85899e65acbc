package wire

import (
	"net/http"
	"net/url"
	"testing"
)

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
