package ext_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

func TestOwner(t *testing.T) {
	t.Parallel()
	const (
		sub   = uriA + "/sub"
		slash = "https://example.com/ext/adk/"
	)
	book := compiled(t, ext.Registry{
		{URI: uriA, Metadata: []string{"pay.*", "mime"}},
		{URI: sub}, {URI: uriC}, {URI: slash},
		{URI: uriB, Metadata: []string{"pay.status.*", uriA + "/lent"}},
	})
	tests := []struct{ key, want string }{
		{uriA, uriA},
		{uriA + "/name", uriA},
		{uriA + "/name/deeper", uriA},
		{uriA + "x", ""},
		{"example.com/ext/a/v1", uriA},
		{"example.com/ext/a/v1/name", uriA},
		{"http://example.com/ext/a/v1", ""},
		{"example.com/ext/a", ""},
		{sub, sub},
		{sub + "/name", sub},
		{uriA + "/subway", uriA},
		{"example.com/ext/a/v1/sub/name", sub},
		{uriC, uriC},
		{uriC + "/name", uriC},
		{"example:c", ""},
		{slash, slash},
		{slash + "name", slash},
		{"https://example.com/ext/adk", ""},
		{"pay.", uriA},
		{"pay.amount", uriA},
		{"pay.status.x", uriB},
		{"pay", ""},
		{"mime", uriA},
		{"mimetype", ""},
		{uriA + "/lent", uriB},
		{strings.ToUpper(uriA), ""},
		{"", ""},
		{"/", ""},
	}
	for _, tt := range tests {
		if got := book.Owner(tt.key); got != tt.want {
			t.Errorf("%q is %q's, want %q", tt.key, got, tt.want)
		}
	}
}

// TestSharedKeys: versions of one extension keep their keys, and each is theirs alone
// that no other lists.
func TestSharedKeys(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{
		{URI: uriB, Metadata: []string{"pay.*", "mime"}},
		{URI: uriA, Metadata: []string{"mime", "pay.*", "pay.new.*"}},
		{URI: uriC, Metadata: []string{uriA + "/lent"}},
	})
	for key, want := range map[string][]string{
		"mime": {uriB, uriA}, "pay.status": {uriB, uriA}, "pay.new.status": {uriA}, uriA: {uriA}, uriA + "/lent": {uriC}, "x": nil,
	} {
		if got := book.Owners(key); !slices.Equal(got, want) {
			t.Errorf("%q belongs to %q, want %q", key, got, want)
		}
		if got := book.Owner(key); len(want) > 0 && got != want[0] {
			t.Errorf("%q is %q's, want the first of %q", key, got, want)
		}
	}
	if warnings := book.Warnings(); warnings != nil {
		t.Errorf("warnings %q", warnings)
	}
}

// TestA08_OwnersOfLongKeys: a key of nothing but slashes is not looked up in each of its
// lengths, which would take the square of them. This test would run for hours.
func TestA08_OwnersOfLongKeys(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{{URI: uriA, Metadata: []string{"pay.*"}}})
	for key, want := range map[string]string{
		strings.Repeat("/", 4<<20): "", uriA + strings.Repeat("/", 4<<20): uriA,
		"pay." + strings.Repeat("/", 4<<20): uriA, uriA + "x" + strings.Repeat("/", 4<<20): "",
	} {
		if got := book.Owner(key); got != want {
			t.Errorf("%.30s… is %q's, want %q", key, got, want)
		}
	}
}

// TestOwnerIsTheLongest compares with looking at every extension.
func TestOwnerIsTheLongest(t *testing.T) {
	t.Parallel()
	step := rapid.StringMatching(`[ab]{1,2}`)
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(rapid.SliceOfN(step, 1, 3), 1, 5, func(p []string) string {
			return strings.Join(p, "/")
		}).Draw(t, "paths")
		var r ext.Registry
		for _, p := range paths {
			r = append(r, ext.Entry{URI: "https://" + strings.Join(p, "/")})
		}
		book, err := r.Compile()
		if err != nil {
			t.Fatal(err)
		}
		key := rapid.SampledFrom([]string{"", "https://", "http://"}).Draw(t, "scheme") +
			strings.Join(rapid.SliceOfN(step, 1, 4).Draw(t, "key"), "/")
		want := ""
		for _, e := range r {
			bare := strings.TrimPrefix(e.URI, "https://")
			if under(key, e.URI) || under(key, bare) {
				if len(e.URI) > len(want) {
					want = e.URI
				}
			}
		}
		if got := book.Owner(key); got != want {
			t.Fatalf("%q is %q's, want %q", key, got, want)
		}
	})
}

func TestRoots(t *testing.T) {
	t.Parallel()
	const slash = "https://example.com/ext/adk/"
	roots := ext.NewRoots([]ext.Declared{{URI: uriA}, {URI: uriA + "/sub"}, {URI: slash}, {URI: "urn:x"}})
	for key, want := range map[string]struct {
		uri    string
		length int
	}{
		uriA: {uriA, len(uriA)}, uriA + "/name": {uriA, len(uriA)}, uriA + "x": {},
		"example.com/ext/a/v1/name": {uriA, len(uriA) - len("https://")}, uriA + "/sub/name": {uriA + "/sub", len(uriA) + 4},
		slash + "name": {slash, len(slash)}, "urn:x": {"urn:x", 5}, "urn:x/y": {"urn:x", 5}, "urn:xy": {},
		"urn:x#y": {"urn:x", 5}, "urn:x?y": {"urn:x", 5}, "urn:x:y": {"urn:x", 5}, "urn:x.y": {}, "urn:x#y/z": {"urn:x", 5}, "x": {}, "": {},
		"urn:x/" + strings.Repeat("/", 4<<20): {"urn:x", 5}, strings.Repeat("/", 4<<20): {},
	} {
		if uri, n := roots.Owner(key); uri != want.uri || n != want.length {
			t.Errorf("%.40s is %q's by %d bytes, want %q's by %d", key, uri, n, want.uri, want.length)
		}
	}
	if uri, n := (*ext.Roots)(nil).Owner(uriA); uri != "" || n != 0 {
		t.Errorf("%q, %d", uri, n)
	}
}

func under(key, root string) bool { return key == root || strings.HasPrefix(key, root+"/") }
