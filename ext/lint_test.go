package ext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestLint(t *testing.T) {
	t.Parallel()
	roles := ext.Schemas{Params: inline(`{"type": "object", "required": ["roles"],
		"properties": {"roles": {"type": "array", "items": {"type": "string"}}}}`)}
	book := compiled(t, ext.Registry{
		{URI: "urn:blocked", Status: ext.Blocked},
		{URI: "urn:old", Status: ext.Deprecated, Sunset: "2027-03-31", Replacement: "urn:new"},
		{URI: "urn:data", Kind: ext.Data, Schemas: roles},
		{URI: "urn:off", Schemas: roles, Validation: ext.Off},
		{URI: "urn:needy", Dependencies: ext.Dependencies{Required: []string{"urn:data", "urn:absent"}}},
	})
	got := book.Lint([]ext.Declared{
		{URI: "urn:blocked"}, {URI: "urn:old"}, {URI: "urn:needy"}, {URI: "urn:unknown", Required: true},
		{URI: "urn:data", Required: true, Params: []byte(`{"roles": ["buyer", 7]}`)}, {URI: "urn:off"},
	})
	want := []string{
		`extension "urn:blocked" is blocked by the registry`,
		`extension "urn:old" is on its way out: Deprecated until 2027-03-31: use urn:new.`,
		`extension "urn:needy" needs "urn:absent", which the card does not declare`,
		`extension "urn:data" is only data, and yet marked as required`,
		`extension "urn:data" has params that break its schema: /roles/1: `,
	}
	last, rest, _ := strings.Cut(got[len(got)-1], "/roles/1: ")
	got[len(got)-1] = last + "/roles/1: "
	if diff := cmp.Diff(want, got); diff != "" || rest == "" {
		t.Errorf("%q\n%s", rest, diff)
	}
	if got := book.Lint([]ext.Declared{{URI: "urn:data"}}); len(got) != 1 {
		t.Errorf("a card without params: %q", got)
	}
	if got := book.Lint([]ext.Declared{{URI: "urn:data", Params: []byte(`{"roles": []}`)}}); got != nil {
		t.Errorf("a good card: %q", got)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	states := payment()
	states.Transitions["lost"] = nil
	book := compiled(t, ext.Registry{
		{URI: "urn:blocked", Status: ext.Blocked, Dependencies: ext.Dependencies{Required: []string{"urn:gone"}}},
		{URI: "urn:old", Status: ext.Deprecated},
		{URI: "urn:older", Status: ext.Deprecated, Replacement: "urn:blocked"},
		{URI: "urn:needy", Dependencies: ext.Dependencies{Required: []string{"urn:blocked", "urn:gone", "urn:old"}}},
		{URI: "urn:method", Kind: ext.Method},
		{URI: "urn:state", Kind: ext.States},
		{URI: "urn:pay", Kind: ext.States, States: states, Defaults: map[string]secret.JSON{
			"other": secret.JSON("1"), "urn:pay/own": secret.JSON("1"),
		}},
		{
			URI: "urn:cost", Defaults: map[string]secret.JSON{"urn:cost": secret.JSON(`{"code":47}`), "urn:cost/ok": secret.JSON(`"x"`)},
			Schemas: ext.Schemas{Metadata: map[string]schema.Source{
				"urn:cost":    {Inline: []byte(`{"properties":{"code":{"type":"string"}}}`)},
				"urn:cost/ok": {Inline: []byte(`{"type":"string"}`)},
			}},
		},
	})
	want := []string{
		`extension "urn:old" is deprecated, and nothing is named to use instead`,
		`extension "urn:older" is to be replaced by "urn:blocked", which is blocked`,
		`extension "urn:needy" needs "urn:blocked", which is blocked: it is never active`,
		`extension "urn:needy" needs "urn:gone", which is not registered`,
		`extension "urn:method" is of kind method and lists no methods: none will be forwarded`,
		`extension "urn:state" is of kind state and lists no states: none will be followed`,
		`extension "urn:pay" has a default for "other", which is no key of its own: callers would see it in answers`,
		`extension "urn:pay" says its states under "pay.status", which is no key of its own`,
		`extension "urn:pay" has a state "lost" that no task comes to`,
		`extension "urn:cost" has a default for "urn:cost" that its own schema does not allow: /code: type: found number, want string`,
	}
	if diff := cmp.Diff(want, book.Warnings()); diff != "" {
		t.Error(diff)
	}
}
