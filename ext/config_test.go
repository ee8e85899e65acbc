package ext_test

import (
	"net/http"
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
	var book *ext.Book
	got, err := book.Negotiate(&ext.Question{Requested: ext.Set{v2}, Declared: []ext.Declared{{URI: v1}}})
	if err != nil || len(got.Send)+len(got.Provided)+len(got.Refused) != 0 {
		t.Errorf("optional: got %+v, %v", got, err)
	}
	_, err = book.Negotiate(&ext.Question{
		Requested: ext.Set{v2}, Declared: []ext.Declared{{URI: v1, Required: true}},
	})
	if diff := cmp.Diff([]string{v1}, missingOf(err)); diff != "" {
		t.Errorf("required: %s", diff)
	}
	got, err = book.Negotiate(&ext.Question{
		Requested: ext.Set{v2}, Config: &ext.Config{Provide: []string{v1}, Inject: []string{v1}},
	})
	if want := (ext.Outcome{Send: ext.Set{v1}, Injected: ext.Set{v1}}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("injected: got %+v, %v", got, err)
	}
	if active := ext.Activated(http.Header{"A2a-Extensions": {v1}}, ext.Set{v2}); len(active) != 0 {
		t.Errorf("an agent that answers v1 to v2 activated %q", active)
	}
}

func TestConfigFromYAML(t *testing.T) {
	t.Parallel()
	var got ext.Config
	in := "require: [" + uriA + "]\nallow: [" + uriB + "]\ndeny: [" + uriC + "]\n" +
		"inject: [urn:i]\nprovide: [urn:p]\nactivation: declared\nverify: true\nunrequested: refuse\n" +
		"dependencies: close\nconformance: report\nmode: shadow\n"
	if err := yaml.Load([]byte(in), &got, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	want := ext.Config{
		Require: []string{uriA}, Allow: []string{uriB}, Deny: []string{uriC},
		Inject: []string{"urn:i"}, Provide: []string{"urn:p"}, Activation: "declared", Verify: true,
		Unrequested: "refuse", Dependencies: "close", Conformance: ext.Report, Mode: "shadow",
	}
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
		{"listed twice in a list", ext.Config{Inject: []string{uriA, uriA}}.Validate(), "inject: extension"},
		{"injected and denied", ext.Config{Inject: []string{uriA}, Deny: []string{uriA}}.Validate(),
			"both injected and denied"},
		{"provided and denied", ext.Config{Provide: []string{uriA}, Deny: []string{uriA}}.Validate(),
			"both provided and denied"},
		{"injected and provided", ext.Config{Provide: []string{uriA}, Inject: []string{uriA}}.Validate(),
			"both injected and provided"},
		{"words", ext.Config{Activation: "declared", Unrequested: "refuse", Dependencies: "close",
			Conformance: ext.Enforce, Mode: "shadow"}.Validate(), ""},
		{"activation", ext.Config{Activation: "always"}.Validate(), `activation: "always" is none of`},
		{"unrequested", ext.Config{Unrequested: "drop"}.Validate(), `unrequested: "drop" is none of`},
		{"dependencies", ext.Config{Dependencies: "open"}.Validate(), `dependencies: "open" is none of`},
		{"conformance", ext.Config{Conformance: "on"}.Validate(), `conformance: "on" is none of`},
		{"mode", ext.Config{Mode: "off"}.Validate(), `mode: "off" is none of`},
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
