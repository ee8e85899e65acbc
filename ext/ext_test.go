package ext_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
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
	if set, _, err := ext.Requested(http.Header{"A2a-Extensions": {longest}}, ext.Limits{}); err != nil || len(set) != 1 {
		t.Errorf("512 bytes: %q, %v", set, err)
	}
}

// TestNegotiateMatrix runs every combination of requested, declared, declared
// required, allowed, denied and required by the operator for two URIs, and
// compares with the rules written out one by one.
func TestNegotiateMatrix(t *testing.T) {
	t.Parallel()
	uris := []string{uriA, uriB}
	const facts = 6
	for bits := range 1 << (facts * 2) {
		fact := func(uri, which int) bool { return bits>>(uri*facts+which)&1 == 1 }
		var (
			requested ext.Set
			declared  []ext.Declared
			cfg       ext.Config
		)
		for i, uri := range uris {
			if fact(i, 0) {
				requested = append(requested, uri)
			}
			if fact(i, 1) {
				declared = append(declared, ext.Declared{URI: uri, Required: fact(i, 2)})
			}
			if fact(i, 3) {
				cfg.Allow = append(cfg.Allow, uri)
			}
			if fact(i, 4) {
				cfg.Deny = append(cfg.Deny, uri)
			}
			if fact(i, 5) {
				cfg.Require = append(cfg.Require, uri)
			}
		}
		var want ext.Set
		var missing []string
		for i, uri := range uris {
			permitted := !fact(i, 4) && (len(cfg.Allow) == 0 || fact(i, 3) || fact(i, 5))
			required := permitted && (fact(i, 5) || fact(i, 1) && fact(i, 2))
			offered := fact(i, 1) || fact(i, 5)
			switch {
			case required && !fact(i, 0):
				missing = append(missing, uri)
			case permitted && offered && fact(i, 0):
				want = append(want, uri)
			}
		}
		got, err := ext.Negotiate(requested, declared, cfg)
		checkCell(t, bits, got, err, want, missing)
		checkCard(t, bits, declared, cfg)
	}
}

func checkCell(t *testing.T, bits int, got ext.Set, err error, want ext.Set, missing []string) {
	t.Helper()
	var refused *ext.MissingError
	if missing != nil {
		if !errors.As(err, &refused) || !slices.Equal(refused.URIs, missing) || got != nil {
			t.Fatalf("%012b: got %q, %v; want missing %q", bits, got, err, missing)
		}
		return
	}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%012b: got %q, %v; want %q", bits, got, err, want)
	}
}

// checkCard: the served card tells exactly what is enforced. A client that
// activates everything listed passes with all of it; one that activates nothing
// is refused for exactly the entries marked required.
func checkCard(t *testing.T, bits int, declared []ext.Declared, cfg ext.Config) {
	t.Helper()
	var all ext.Set
	var required []string
	for _, d := range ext.Effective(declared, cfg) {
		all = append(all, d.URI)
		if d.Required {
			required = append(required, d.URI)
		}
	}
	if got, err := ext.Negotiate(all, declared, cfg); err != nil || !slices.Equal(got, all) {
		t.Fatalf("%012b: the card lists %q; activating that gives %q, %v", bits, all, got, err)
	}
	_, err := ext.Negotiate(nil, declared, cfg)
	var refused *ext.MissingError
	if errors.As(err, &refused) {
		slices.Sort(required)
		if !slices.Equal(refused.URIs, required) {
			t.Fatalf("%012b: the card requires %q, negotiation %q", bits, required, refused.URIs)
		}
	} else if required != nil {
		t.Fatalf("%012b: the card requires %q, negotiation nothing", bits, required)
	}
}

// TestA07_NoFallbackToAnotherVersion: asking for v2 of an agent with v1
// activates neither, and v2 does not stand in for a required v1.
func TestA07_NoFallbackToAnotherVersion(t *testing.T) {
	t.Parallel()
	v1, v2 := "https://example.com/ext/v1", "https://example.com/ext/v2"
	got, err := ext.Negotiate(ext.Set{v2}, []ext.Declared{{URI: v1}}, ext.Config{})
	if err != nil || len(got) != 0 {
		t.Errorf("optional: got %q, %v", got, err)
	}
	_, err = ext.Negotiate(ext.Set{v2}, []ext.Declared{{URI: v1, Required: true}}, ext.Config{})
	var missing *ext.MissingError
	if !errors.As(err, &missing) || !slices.Equal(missing.URIs, []string{v1}) {
		t.Errorf("required: %v", err)
	}
	if active := ext.Activated(http.Header{"A2a-Extensions": {v1}}, ext.Set{v2}); len(active) != 0 {
		t.Errorf("an agent that answers v1 to v2 activated %q", active)
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

func TestEffective(t *testing.T) {
	t.Parallel()
	declared := []ext.Declared{
		{URI: uriB, Description: "b"}, {URI: uriA}, {URI: uriB, Required: true}, {URI: uriC, Required: true},
	}
	cfg := ext.Config{Require: []string{"urn:gw", uriA}, Deny: []string{uriC}}
	want := []ext.Declared{
		{URI: uriB, Required: true, Description: "b"}, {URI: uriA, Required: true}, {URI: "urn:gw", Required: true},
	}
	if diff := cmp.Diff(want, ext.Effective(declared, cfg)); diff != "" {
		t.Error(diff)
	}
}

func TestConfigFromYAML(t *testing.T) {
	t.Parallel()
	var got ext.Config
	in := "require: [" + uriA + "]\nallow: [" + uriB + "]\ndeny: [" + uriC + "]\n"
	if err := yaml.Load([]byte(in), &got, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	want := ext.Config{Require: []string{uriA}, Allow: []string{uriB}, Deny: []string{uriC}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want string // "" for no error
	}{
		{"zero config", ext.Config{}.Validate(), ""},
		{"good config", ext.Config{Require: []string{uriA}, Allow: []string{uriA}, Deny: []string{uriB}}.Validate(), ""},
		{"required and denied", ext.Config{Require: []string{uriA}, Deny: []string{uriA}}.Validate(), "both required and denied"},
		{"malformed", ext.Config{Allow: []string{"ext"}}.Validate(), "allow: extension"},
		{"comma", ext.Config{Deny: []string{"urn:a,b"}}.Validate(), "deny: extension"},
		{"good registry", ext.Registry{{URI: uriA, Status: ext.Blocked}, {URI: uriB}}.Validate(), ""},
		{"listed twice", ext.Registry{{URI: uriA}, {URI: uriA}}.Validate(), "listed twice"},
		{"unknown status", ext.Registry{{URI: uriA, Status: "off"}}.Validate(), `status "off"`},
		{"no URI", ext.Registry{{Description: "x"}}.Validate(), "not an absolute URI"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if (tt.want == "") != (tt.err == nil) || tt.err != nil && !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("err = %v, want %q", tt.err, tt.want)
			}
		})
	}
}

func TestRegistryGovern(t *testing.T) {
	t.Parallel()
	r := ext.Registry{
		{URI: uriA, Status: ext.Blocked}, {URI: uriB, Status: ext.Deprecated, Description: "old"}, {URI: uriC},
	}
	own := ext.Config{Deny: []string{uriC}}
	got, err := r.Govern(own)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{uriC, uriA}, got.Deny); diff != "" {
		t.Error(diff)
	}
	if len(own.Deny) != 1 {
		t.Error("the agent's own configuration was changed")
	}
	if _, err := r.Govern(ext.Config{Require: []string{uriA}}); err == nil {
		t.Error("a blocked extension was required without an error")
	}
	if r.Description(uriB) != "old" || r.Description("urn:none") != "" {
		t.Error("descriptions are mixed up")
	}
}

// TestNoExtensionsNoAllocations: most calls have none, and pay nothing.
func TestNoExtensionsNoAllocations(t *testing.T) {
	in := http.Header{"Accept": {"*/*"}, "Authorization": {"x"}, "Content-Type": {"application/json"}}
	out := http.Header{"Accept": {"*/*"}}
	declared := []ext.Declared{{URI: uriA}, {URI: uriB}}
	cfg := ext.Config{Allow: []string{uriA}, Deny: []string{uriC}}
	allocs := testing.AllocsPerRun(100, func() {
		set, names, err := ext.Requested(in, ext.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		set, err = ext.Negotiate(set, declared, cfg)
		if err != nil {
			t.Fatal(err)
		}
		set.Apply(out, wire.V10)
		ext.Activated(out, set).Respond(out, names)
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
	declared := []ext.Declared{{URI: uriA}, {URI: uriB, Required: false}, {URI: uriC}}
	cfg := ext.Config{Allow: []string{uriA, uriB, uriC}}
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
				set, _ = ext.Negotiate(set, declared, cfg)
				set.Apply(out, wire.V10)
				ext.Activated(out, set).Respond(out, names)
			}
		})
	}
}
