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
