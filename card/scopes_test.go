package card_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Security schemes in the shapes that cards have them in: o and d take tokens.
var schemeShapes = map[string]string{
	"0.3": `{"o":{"type":"oauth2","flows":{}},"d":{"type":"openIdConnect","openIdConnectUrl":"u"},
		"k":{"type":"apiKey","in":"header","name":"K"},"b":{"type":"http","scheme":"bearer"}}`,
	"1.0": `{"o":{"oauth2SecurityScheme":{"flows":{}}},"d":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"u"}},
		"k":{"apiKeySecurityScheme":{"name":"K"}},"b":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}}`,
	"snake case": `{"o":{"oauth2_security_scheme":{}},"d":{"open_id_connect_security_scheme":{}},
		"k":{"api_key_security_scheme":{}},"b":{"http_auth_security_scheme":{}}}`,
	"JavaScript": `{"o":{"scheme":{"$case":"oauth2SecurityScheme","value":{}}},"d":{"scheme":{"$case":"openIdConnectSecurityScheme"}},
		"k":{"scheme":{"$case":"apiKeySecurityScheme"}},"b":{"scheme":{"$case":"httpAuthSecurityScheme"}}}`,
	"Java": `{"o":{"flows":{},"description":null},"d":{"openIdConnectUrl":"u"},"k":{"location":"header","name":"K"},"b":{"scheme":"bearer"}}`,
	"Go's hybrid": `{"o":{"type":"oauth2","oauth2":{}},"d":{"type":"openIdConnect","openId":{}},
		"k":{"type":"apiKey","apiKey":{}},"b":{"type":"http","http":{"scheme":"Bearer"}}}`,
}

func skillWith(t *testing.T, schemes, members string) card.Skill {
	t.Helper()
	c := mustParse(t, fmt.Sprintf(`{"name":"n","securitySchemes":%s,"security":[{"o":["card"]}],
		"defaultInputModes":["a/b"],"skills":[{"id":"s",%s}]}`, schemes, members))
	return c.Skills[0]
}

func TestSkillScopes(t *testing.T) {
	t.Parallel()
	for name, schemes := range schemeShapes {
		for _, tt := range []struct {
			members string
			want    [][]string
		}{
			{`"name":"s"`, nil}, // the card's own are the gateway's affair
			{`"security":[]`, nil},
			{`"security":null`, nil},
			{`"security":"o"`, nil},
			{`"security":[{"o":["b","a","a"]}]`, [][]string{{"a", "b"}}},
			{`"security":[{"o":["a"],"d":["b"],"k":[]}]`, [][]string{{"a", "b"}}},
			{`"security":[{"o":["a"]},{"d":["b"]}]`, [][]string{{"a"}, {"b"}}},
			{`"security":[{"o":["a"]},{}]`, nil},
			{`"security":[{"o":["a"]},{"d":[]}]`, nil},
			{`"security":[{"o":["a"]},{"k":[]}]`, [][]string{{"a"}}},
			{`"security":[{"k":[]},{"b":["role"]}]`, nil},
			{`"security":[{"lost":["a"]},{"gone":[]}]`, [][]string{{"a"}}},
			{`"security":[1,{"o":["a",2,""]}]`, [][]string{{"a"}}},
			{`"securityRequirements":[{"schemes":{"o":{"list":["a"]},"d":{"list":[]}}}]`, [][]string{{"a"}}},
			{`"security_requirements":[{"schemes":{"o":{"list":["a"]}}}]`, [][]string{{"a"}}},
			{`"securityRequirements":[{"schemes":{"o":["a"]}},{"schemes":{"d":["b","c"]}}]`, [][]string{{"a"}, {"b", "c"}}},
			{`"securityRequirements":[{"o":{"list":["a"]}}]`, [][]string{{"a"}}},
			{`"securityRequirements":[{"o":["a"]}]`, [][]string{{"a"}}},
			{`"securityRequirements":[{"schemes":{}}]`, nil},
			{`"securityRequirements":[{"schemes":{"o":{}}}]`, nil},
			{`"securityRequirements":[{"schemes":{"o":{"list":["new"]}}}],"security":[{"o":["old"]}]`, [][]string{{"new"}}},
		} {
			if diff := cmp.Diff(tt.want, skillWith(t, schemes, tt.members).Scopes); diff != "" {
				t.Errorf("%s: %s (-want +got)\n%s", name, tt.members, diff)
			}
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	const skills = `"skills":[{"id":"own","inputModes":["image/*"],"output_modes":["text/html",""]},{"id":"none","inputModes":[]}]`
	for members, want := range map[string][2][]string{
		`"defaultInputModes":["a/b"],"defaultOutputModes":["c/d"]`:                                {{"a/b"}, {"c/d"}},
		`"defaultInputModes":["a/b"]`:                                                             {{"a/b"}, {"text/plain"}},
		`"capabilities":{"interactionModes":["text","file"]}`:                                     {{"text", "file"}, {"text", "file"}},
		`"capabilities":{"interactionModes":["text"]},"defaultOutputModes":["c/d"]`:               {{"text"}, {"c/d"}},
		`"capabilities":{"interactionModes":[]},"defaultInputModes":[],"defaultOutputModes":null`: {{"text/plain"}, {"text/plain"}},
	} {
		c := mustParse(t, `{"name":"n",`+members+`,`+skills+`}`)
		if diff := cmp.Diff(want, [2][]string{c.DefaultInputModes, c.DefaultOutputModes}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", members, diff)
		}
		own, none := c.Skills[0], c.Skills[1]
		if diff := cmp.Diff([][]string{{"image/*"}, {"text/html"}, nil, nil},
			[][]string{own.InputModes, own.OutputModes, none.InputModes, none.OutputModes}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", members, diff)
		}
	}
}

// TestModesAreShown: clients read in a served card what their calls are held to.
func TestModesAreShown(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","capabilities":{"interactionModes":["text","data"]},"defaultOutputModes":["c/d"],"skills":[]}`)
	got := mustRender(t, c, view(c, wire.V10))
	for _, want := range []string{`"defaultInputModes":["text","data"]`, `"defaultOutputModes":["c/d"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}
