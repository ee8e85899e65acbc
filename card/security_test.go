package card_test

import (
	"encoding/json" // as the SDK's parsers use it, on our own output
	"slices"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	pb03 "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	pb10 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const issuerA, issuerB = "https://a.test", "https://b.test"

// combined are schemes and what cards say of them: the alternatives, each a list of
// scheme names, in the form that knows mutualTLS and in the one that does not.
var combined = []struct {
	name      string
	schemes   card.Schemes
	want, old [][]string
}{
	{
		"any one", card.Schemes{OIDC: []card.Issuer{{URL: issuerA}}, APIKeyHeader: "X-Key", MTLS: true},
		[][]string{{"oidc"}, {"oidcBearer"}, {"apiKey"}, {"mtls"}}, [][]string{{"oidc"}, {"oidcBearer"}, {"apiKey"}},
	},
	{
		"certificates only", card.Schemes{MTLS: true},
		[][]string{{"mtls"}}, nil,
	},
	{
		"both", card.Schemes{OIDC: []card.Issuer{{URL: issuerA}}, MTLS: true, Combinations: [][]string{{"oidc", "mtls"}}},
		[][]string{{"oidc", "mtls"}}, nil,
	},
	{
		"both, or a key alone", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA}}, APIKeyHeader: "X-Key", MTLS: true,
			Combinations: [][]string{{"oidc", "mtls"}, {"apiKeys"}},
		},
		[][]string{{"oidc", "mtls"}, {"apiKey"}}, [][]string{{"apiKey"}},
	},
	{
		"a token alone, or two of another issuer with a key", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA}, {URL: issuerB}}, APIKeyHeader: "X-Key",
			Combinations: [][]string{{issuerA}, {issuerB, "apiKeys"}},
		},
		[][]string{{"oidc"}, {"oidcBearer"}, {"oidc-2", "apiKey"}}, [][]string{{"oidc"}, {"oidcBearer"}, {"oidc-2", "apiKey"}},
	},
	{
		"of any issuer", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA}, {URL: issuerB}}, APIKeyHeader: "X-Key", Combinations: [][]string{{"oidc", "apiKeys"}},
		},
		[][]string{{"oidc", "apiKey"}, {"oidc-2", "apiKey"}}, [][]string{{"oidc", "apiKey"}, {"oidc-2", "apiKey"}},
	},
	{
		"of two issuers", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA}, {URL: issuerB}}, Combinations: [][]string{{issuerB, issuerA}, {"oidc", issuerB}},
		},
		[][]string{{"oidc-2", "oidc"}, {"oidc", "oidc-2"}}, [][]string{{"oidc-2", "oidc"}, {"oidc", "oidc-2"}},
	},
	{
		"or nobody", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA}}, APIKeyHeader: "X-Key", Anonymous: true,
			Combinations: [][]string{{"oidc", "apiKeys"}},
		},
		[][]string{{"oidc", "apiKey"}, {}}, [][]string{{"oidc", "apiKey"}, {}},
	},
	{
		"a header of its own", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA, Header: "X-User"}, {URL: issuerB}}, APIKeyHeader: "X-Key",
			Combinations: [][]string{{issuerA, issuerB}, {"oidc", "apiKeys"}, {issuerA}},
		},
		[][]string{{"token", "oidc-2"}, {"token", "apiKey"}, {"oidc-2", "apiKey"}, {"token"}},
		[][]string{{"token", "oidc-2"}, {"token", "apiKey"}, {"oidc-2", "apiKey"}, {"token"}},
	},
	{
		"keys as bearer", card.Schemes{OIDC: []card.Issuer{{URL: issuerA}}, APIKeyHeader: "X-Key", Bearer: true},
		[][]string{{"oidc"}, {"oidcBearer"}, {"apiKey"}, {"bearer"}}, [][]string{{"oidc"}, {"oidcBearer"}, {"apiKey"}, {"bearer"}},
	},
	{
		"keys as bearer beside tokens", card.Schemes{
			OIDC: []card.Issuer{{URL: issuerA, Header: "X-User"}, {URL: issuerB}}, APIKeyHeader: "X-Key", Bearer: true,
			Combinations: [][]string{{"oidc", "apiKeys"}, {"apiKeys", issuerB}},
		},
		[][]string{{"token", "apiKey"}, {"token", "bearer"}, {"oidc-2", "apiKey"}, {"apiKey", "oidc-2"}},
		[][]string{{"token", "apiKey"}, {"token", "bearer"}, {"oidc-2", "apiKey"}, {"apiKey", "oidc-2"}},
	},
	{
		"of what is not there", card.Schemes{OIDC: []card.Issuer{{URL: issuerA}}, Combinations: [][]string{{"oidc", "saml"}, {}}},
		nil, nil,
	},
}

// TestCombinations: in every JSON form, and for the official Go readers of both
// generations, a combination is one alternative with all its schemes.
func TestCombinations(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","protocolVersion":"0.3.0"}`)
	for _, tt := range combined {
		for _, version := range []wire.Version{wire.V01, wire.V03, wire.V10} {
			want := tt.want
			if version == wire.V01 {
				want = tt.old
			}
			doc := mustRender(t, c, card.View{
				BaseURL: base, Version: version, Schemes: tt.schemes, Requirements: "go",
			})
			name := tt.name + ", " + string(version)
			if version != wire.V10 {
				var old a2a03.AgentCard
				if err := json.Unmarshal([]byte(doc), &old); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var got [][]string
				for _, alternative := range old.Security {
					got = append(got, keys(alternative))
				}
				checkAlternatives(t, name+", 0.3", want, got)
				_, certificates := old.SecuritySchemes["mtls"].(a2a03.MutualTLSSecurityScheme)
				checkCertificates(t, name+", 0.3", tt.schemes.MTLS && version != wire.V01, certificates, doc)
				if version == wire.V01 {
					continue
				}
			}
			var modern a2a.AgentCard
			if err := json.Unmarshal([]byte(doc), &modern); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var got [][]string
			for _, alternative := range modern.SecurityRequirements {
				got = append(got, keys(alternative))
			}
			checkAlternatives(t, name, want, got)
			_, certificates := modern.SecuritySchemes["mtls"].(a2a.MutualTLSSecurityScheme)
			checkCertificates(t, name, tt.schemes.MTLS, certificates, doc)
			if compatible, err := a2av0.NewAgentCardParser()([]byte(doc)); err != nil {
				t.Errorf("%s, compatible: %v", name, err)
			} else if _, ok := compatible.SecuritySchemes["mtls"]; ok != tt.schemes.MTLS {
				t.Errorf("%s, compatible: schemes %+v", name, compatible.SecuritySchemes)
			}
		}
	}
}

// TestTokensInHeaders: to the official readers a token in a header of its own is an API
// key there, with its issuer's name in the description.
func TestTokensInHeaders(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","protocolVersion":"0.3.0"}`)
	own := card.Schemes{OIDC: []card.Issuer{{URL: issuerA}, {URL: issuerB, Header: "X-User"}}}
	const description = "Access token of " + issuerB
	for _, version := range []wire.Version{wire.V01, wire.V03, wire.V10} {
		doc := []byte(mustRender(t, c, card.View{BaseURL: base, Version: version, Schemes: own}))
		if version != wire.V10 {
			var old a2a03.AgentCard
			if err := json.Unmarshal(doc, &old); err != nil {
				t.Fatalf("%s: %v", version, err)
			}
			want := a2a03.APIKeySecurityScheme{Name: "X-User", In: a2a03.APIKeySecuritySchemeInHeader, Description: description}
			if diff := cmp.Diff(a2a03.SecurityScheme(want), old.SecuritySchemes["token-2"]); diff != "" {
				t.Errorf("%s, 0.3 (-want +got):\n%s", version, diff)
			}
		}
		if version == wire.V01 {
			continue
		}
		var modern a2a.AgentCard
		if err := json.Unmarshal(doc, &modern); err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		want := a2a.APIKeySecurityScheme{Name: "X-User", Location: a2a.APIKeySecuritySchemeLocationHeader, Description: description}
		if diff := cmp.Diff(a2a.SecurityScheme(want), modern.SecuritySchemes["token-2"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
		if _, ok := modern.SecuritySchemes["oidc"].(a2a.OpenIDConnectSecurityScheme); !ok {
			t.Errorf("%s: %+v", version, modern.SecuritySchemes)
		}
	}
	for _, version := range []wire.Version{wire.V03, wire.V10} {
		v := formed(c, wire.Side{Version: version, Binding: wire.GRPC})
		v.Schemes = own
		switch m := message(t, version, []byte(mustRender(t, c, v))).(type) {
		case *pb10.AgentCard:
			key := m.GetSecuritySchemes()["token-2"].GetApiKeySecurityScheme()
			if key.GetName() != "X-User" || key.GetLocation() != "header" || key.GetDescription() != description {
				t.Errorf("%s: %v", version, m)
			}
		case *pb03.AgentCard:
			key := m.GetSecuritySchemes()["token-2"].GetApiKeySecurityScheme()
			if key.GetName() != "X-User" || key.GetLocation() != "header" || key.GetDescription() != description {
				t.Errorf("%s: %v", version, m)
			}
		}
	}
}

// TestCombinationsInProtobuf: the same of the messages.
func TestCombinationsInProtobuf(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test"}`)
	for _, tt := range combined {
		for _, version := range []wire.Version{wire.V03, wire.V10} {
			v := formed(c, wire.Side{Version: version, Binding: wire.GRPC})
			v.Schemes = tt.schemes
			var got [][]string
			var certificates bool
			switch m := message(t, version, []byte(mustRender(t, c, v))).(type) {
			case *pb10.AgentCard:
				for _, alternative := range m.GetSecurityRequirements() {
					got = append(got, keys(alternative.GetSchemes()))
				}
				certificates = m.GetSecuritySchemes()["mtls"].GetMtlsSecurityScheme() != nil
			case *pb03.AgentCard:
				for _, alternative := range m.GetSecurity() {
					got = append(got, keys(alternative.GetSchemes()))
				}
				certificates = m.GetSecuritySchemes()["mtls"].GetMtlsSecurityScheme() != nil
			}
			name := tt.name + ", " + string(version)
			checkAlternatives(t, name, tt.want, got)
			if certificates != tt.schemes.MTLS {
				t.Errorf("%s: certificates %v", name, certificates)
			}
		}
	}
}

// keys are those of a map, in order.
func keys[K ~string, V any](m map[K]V) []string {
	names := []string{}
	for name := range m {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

func checkAlternatives(t *testing.T, name string, want, got [][]string) {
	t.Helper()
	var sorted [][]string
	for _, names := range want {
		sorted = append(sorted, slices.Sorted(slices.Values(names)))
	}
	for i := range sorted {
		if sorted[i] == nil {
			sorted[i] = []string{}
		}
	}
	if diff := cmp.Diff(sorted, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func checkCertificates(t *testing.T, name string, want, got bool, doc string) {
	t.Helper()
	if got != want || strings.Contains(doc, "mtls") != want {
		t.Errorf("%s: certificates %v, want %v: %s", name, got, want, doc)
	}
}
