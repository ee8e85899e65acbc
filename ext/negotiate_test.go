package ext_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

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
		{"good config", ext.Config{Require: []string{uriA}, Allow: []string{uriA},
			Deny: []string{uriB}}.Validate(), ""},
		{"required and denied", ext.Config{Require: []string{uriA}, Deny: []string{uriA}}.Validate(),
			"both required and denied"},
		{"malformed", ext.Config{Allow: []string{"ext"}}.Validate(), "allow: extension"},
		{"comma", ext.Config{Deny: []string{"urn:a,b"}}.Validate(), "deny: extension"},
		{"good registry", ext.Registry{{URI: uriA, Status: ext.Blocked}, {URI: uriB}}.Validate(), ""},
		{"listed twice", ext.Registry{{URI: uriA}, {URI: uriA}}.Validate(), "listed twice"},
		{"unknown status", ext.Registry{{URI: uriA, Status: "off"}}.Validate(), `status: "off" is none of`},
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
