package ext_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const (
	uriA = "https://example.com/ext/a/v1"
	uriB = "https://example.com/ext/b/v1"
	uriC = "urn:example:c"
)

func TestRequested(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		want   ext.Set
		names  ext.Names
	}{
		{name: "no header at all"},
		{name: "no extensions header", header: http.Header{"Accept": {"*/*"}}},
		{
			name: "1.0 name", header: http.Header{"A2a-Extensions": {uriA}},
			want: ext.Set{uriA}, names: ext.NameV10,
		},
		{
			name: "0.3 name", header: http.Header{"X-A2a-Extensions": {uriA}},
			want: ext.Set{uriA}, names: ext.NameV03,
		},
		{
			name: "A6 both names are merged, the 1.0 name's first",
			header: http.Header{
				"X-A2a-Extensions": {uriB + "," + uriA}, "A2a-Extensions": {uriA},
			},
			want: ext.Set{uriA, uriB}, names: ext.NameV10 | ext.NameV03,
		},
		{
			name:   "A6 spellings that net/http did not canonicalise",
			header: http.Header{"a2a-extensions": {uriB}, "A2A-EXTENSIONS": {uriA}, "x-A2A-extensions": {uriC}},
			want:   ext.Set{uriA, uriB, uriC}, names: ext.NameV10 | ext.NameV03,
		},
		{
			name:   "lists, lines, repeats and blanks",
			header: http.Header{"A2a-Extensions": {" " + uriC + " ,,\t" + uriA, "", uriA + "," + uriB + ","}},
			want:   ext.Set{uriC, uriA, uriB}, names: ext.NameV10,
		},
		{
			name:   "an empty header still says which name is used",
			header: http.Header{"X-A2a-Extensions": {""}}, names: ext.NameV03,
		},
		{
			name:   "case and trailing slash make another URI",
			header: http.Header{"A2a-Extensions": {uriA + "," + uriA + "/," + strings.ToUpper(uriA)}},
			want:   ext.Set{uriA, uriA + "/", strings.ToUpper(uriA)}, names: ext.NameV10,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, names, err := ext.Requested(tt.header, ext.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if names != tt.names {
				t.Errorf("names = %b, want %b", names, tt.names)
			}
		})
	}
}

func TestRequestedRefuses(t *testing.T) {
	t.Parallel()
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("https://example.com/%d", i)
	}
	tests := []struct{ name, line string }{
		{"no scheme", "example.com/ext"},
		{"path only", "/ext/v1"},
		{"scheme only", "https:"},
		{"empty scheme", "://example.com"},
		{"scheme begins with a digit", "1a:b"},
		{"underscore in the scheme", "a_b:c"},
		{"space inside", "https://example.com/a b"},
		{"tab inside", "https://example.com/a\tb"},
		{"newline", "https://example.com/a\nX-Evil: 1"},
		{"NUL", "https://example.com/a\x00"},
		{"DEL", "https://example.com/\x7f"},
		{"not ASCII", "https://example.com/é"},
		{"quote", `https://example.com/"`},
		{"angle bracket", "<https://example.com/a>"},
		{"semicolon parameter with space", uriA + "; q=1"},
		{"513 bytes", "urn:" + strings.Repeat("a", 509)},
		{"33 URIs", strings.Join(many, ",")},
		{"bad one after a good one", uriA + ",nonsense"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, _, err := ext.Requested(http.Header{"A2a-Extensions": {tt.line}}, ext.Limits{})
			if !errors.Is(err, ext.ErrHeader) {
				t.Fatalf("err = %v, want ErrHeader", err)
			}
			if set != nil {
				t.Errorf("set = %q beside an error", set)
			}
			if strings.ContainsAny(err.Error(), "\n\x00\t") || len(err.Error()) > 300 {
				t.Errorf("error text is not fit to be shown: %q", err)
			}
		})
	}
}

func TestRequestedLimits(t *testing.T) {
	t.Parallel()
	line := "urn:a:1,urn:a:2,urn:a:1"
	h := http.Header{"A2a-Extensions": {line}}
	if _, _, err := ext.Requested(h, ext.Limits{URIs: 2, Length: 7}); err != nil {
		t.Errorf("at the limits, repeats not counted: %v", err)
	}
	if _, _, err := ext.Requested(h, ext.Limits{URIs: 1}); err == nil {
		t.Error("one URI over the limit passed")
	}
	if _, _, err := ext.Requested(h, ext.Limits{Length: 6}); err == nil {
		t.Error("one byte over the limit passed")
	}
	longest := "urn:" + strings.Repeat("a", 508)
	if set, _, err := ext.Requested(http.Header{"A2a-Extensions": {longest}}, ext.Limits{}); err != nil ||
		len(set) != 1 {
		t.Errorf("512 bytes: %q, %v", set, err)
	}
}

// TestA08_AgentCannotActivateUnasked: what nobody asked for is not reported.
func TestA08_AgentCannotActivateUnasked(t *testing.T) {
	t.Parallel()
	asked := ext.Set{uriA, uriB}
	tests := []struct {
		name   string
		answer http.Header
		want   ext.Set
	}{
		{"silent agent", nil, nil},
		{"0.3 name, one line each", http.Header{"X-A2a-Extensions": {uriB, uriA}}, asked},
		{"extra entries", http.Header{"A2a-Extensions": {uriC + ", " + uriB + ",junk \x01"}}, ext.Set{uriB}},
		{"split over names", http.Header{"A2a-Extensions": {uriB}, "x-a2a-extensions": {uriA}}, asked},
		{"prefix is not a match", http.Header{"A2a-Extensions": {uriA + "1"}}, ext.Set{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ext.Activated(tt.answer, asked)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := ext.Activated(http.Header{"A2a-Extensions": {uriA}}, nil); got != nil {
		t.Errorf("nothing asked, activated %q", got)
	}
}

// TestA06_OneSpellingReachesTheAgent: whatever the client wrote, the agent sees
// the target version's name only, with a line per URI.
func TestA06_OneSpellingReachesTheAgent(t *testing.T) {
	t.Parallel()
	spellings := []string{
		"A2a-Extensions", "A2A-Extensions", "a2a-extensions", "X-A2a-Extensions", "x-a2a-extensions",
		"A2A_Extensions", "a2a_extensions", "X_A2A_EXTENSIONS", "a2a.extensions", "x-a2a_extensions",
	}
	rapid.Check(t, func(t *rapid.T) {
		h := http.Header{"Accept": {"*/*"}, "A2a-Version": {"1.0"}, "X-A2a-Extension": {"kept"}}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(spellings), rapid.ID).Draw(t, "keys") {
			h[key] = []string{"urn:evil:" + key, "urn:more"}
		}
		set := ext.Set(rapid.SampledFrom([][]string{nil, {uriA}, {uriA, uriB}}).Draw(t, "set"))
		version := rapid.SampledFrom([]wire.Version{wire.V03, wire.V10}).Draw(t, "version")
		want := http.Header{"Accept": {"*/*"}, "A2a-Version": {"1.0"}, "X-A2a-Extension": {"kept"}}
		if len(set) > 0 {
			want[map[wire.Version]string{wire.V03: ext.HeaderV03, wire.V10: ext.HeaderV10}[version]] = set
		}
		set.Apply(h, version)
		if diff := cmp.Diff(want, h); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestApplyDoesNotLendItsMemory: adding to the header afterwards must not write
// into the set, which the audit record still needs.
func TestApplyDoesNotLendItsMemory(t *testing.T) {
	t.Parallel()
	backing := make(ext.Set, 1, 4)
	backing[0] = uriA
	h := http.Header{}
	backing.Apply(h, wire.V10)
	h.Add(ext.HeaderV10, uriC)
	if got := backing[:2][1]; got != "" {
		t.Errorf("the header wrote %q behind the set", got)
	}
}

func TestRespond(t *testing.T) {
	t.Parallel()
	agents := func() http.Header {
		return http.Header{"A2a-Extensions": {"urn:agent"}, "x-a2a-extensions": {"urn:agent"}, "Etag": {`"1"`}}
	}
	line := []string{uriA + "," + uriB}
	tests := []struct {
		name  string
		set   ext.Set
		names ext.Names
		want  http.Header
	}{
		{"nothing active", nil, ext.NameV10 | ext.NameV03, http.Header{}},
		{"1.0", ext.Set{uriA, uriB}, ext.NameV10, http.Header{"A2a-Extensions": line}},
		{"0.3", ext.Set{uriA, uriB}, ext.NameV03, http.Header{"X-A2a-Extensions": line}},
		{
			"both", ext.Set{uriA, uriB}, ext.NameV10 | ext.NameV03,
			http.Header{"A2a-Extensions": line, "X-A2a-Extensions": line},
		},
		{"no name", ext.Set{uriA, uriB}, 0, http.Header{"A2a-Extensions": line}},
		{"no name, 0.3", ext.Set{uriA, uriB}, ext.Names(0).Or(wire.V03), http.Header{"X-A2a-Extensions": line}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := agents()
			tt.set.Respond(h, tt.names)
			tt.want["Etag"] = []string{`"1"`}
			if diff := cmp.Diff(tt.want, h); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := ext.NameV03.Or(wire.V10); got != ext.NameV03 {
		t.Errorf("Or overrode the name that the client used: %b", got)
	}
	if got := ext.Names(0).Or(wire.V10); got != ext.NameV10 {
		t.Errorf("Or(V10) = %b", got)
	}
}

// TestNoExtensionsNoAllocations: most calls have none, and pay nothing.
func TestNoExtensionsNoAllocations(t *testing.T) {
	in := http.Header{"Accept": {"*/*"}, "Authorization": {"x"}, "Content-Type": {"application/json"}}
	out := http.Header{"Accept": {"*/*"}}
	q := &ext.Question{
		Declared: []ext.Declared{{URI: uriA}, {URI: uriB}},
		Config:   &ext.Config{Allow: []string{uriA}, Deny: []string{uriC}},
	}
	book := compiled(t, ext.Registry{{URI: uriA}, {URI: uriC, Status: ext.Blocked}})
	allocs := testing.AllocsPerRun(100, func() {
		set, names, err := ext.Requested(in, ext.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		ask := *q
		ask.Requested = set
		won, err := book.Negotiate(&ask)
		if err != nil {
			t.Fatal(err)
		}
		won.Send.Apply(out, wire.V10)
		ext.Activated(out, won.Send).Respond(out, names)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzRequested(f *testing.F) {
	for _, seed := range [][2]string{
		{uriA + ", " + uriB, ""}, {"", uriC}, {",,,", " , "}, {"a:b", "a:b"}, {"https://x/\x00", "é:é"},
		{strings.Repeat("urn:a,", 40), "urn:" + strings.Repeat("b", 600)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, modern, legacy string) {
		h := http.Header{"A2a-Extensions": {modern}, "X-A2a-Extensions": {legacy}}
		set, names, err := ext.Requested(h, ext.Limits{})
		if err != nil {
			if set != nil || !errors.Is(err, ext.ErrHeader) {
				t.Fatalf("set %q with error %v", set, err)
			}
			return
		}
		if names != ext.NameV10|ext.NameV03 || len(set) > 32 {
			t.Fatalf("names %b, %d URIs", names, len(set))
		}
		// What was read survives being written and read again, in both forms.
		sent := http.Header{}
		set.Apply(sent, wire.V10)
		again, _, err := ext.Requested(sent, ext.Limits{})
		if err != nil || !slices.Equal(again, set) {
			t.Fatalf("applied %q, read %q, %v", set, again, err)
		}
		set.Respond(sent, ext.NameV03)
		if got := ext.Activated(sent, set); !slices.Equal(got, set) {
			t.Fatalf("responded %q, read %q", set, got)
		}
	})
}

func BenchmarkNegotiation(b *testing.B) {
	q := ext.Question{
		Declared: []ext.Declared{{URI: uriA}, {URI: uriB}, {URI: uriC}},
		Config:   &ext.Config{Allow: []string{uriA, uriB, uriC}},
	}
	book := compiled(b, ext.Registry{{URI: uriA}, {URI: uriB}, {URI: uriC}})
	for _, count := range []int{0, 3} {
		b.Run(fmt.Sprintf("uris=%d", count), func(b *testing.B) {
			in := http.Header{
				"Accept": {"*/*"}, "Authorization": {"x"}, "Content-Type": {"application/json"},
				"User-Agent": {"b"}, "A2a-Version": {"1.0"}, "Content-Length": {"1"},
			}
			if count > 0 {
				in["A2a-Extensions"] = []string{uriA + ", " + uriB + ", " + uriC}
			}
			out := http.Header{"Accept": {"*/*"}, "Content-Type": {"application/json"}}
			b.ReportAllocs()
			for b.Loop() {
				set, names, err := ext.Requested(in, ext.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				ask := q
				ask.Requested = set
				won, err := book.Negotiate(&ask)
				if err != nil {
					b.Fatal(err)
				}
				won.Send.Apply(out, wire.V10)
				ext.Activated(out, won.Send).Respond(out, names)
			}
		})
	}
}
