package credentials

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestCredentialErrors: each names the key.
func TestCredentialErrors(t *testing.T) {
	t.Parallel()
	value := secret.New("v")
	text := func(s string) *string { return &s }
	oauth := func(edit func(*OAuth2)) []Credential {
		o := &OAuth2{TokenURL: "https://a.example/token", ClientID: "c"}
		edit(o)
		return []Credential{{OAuth2: o}}
	}
	exchange := func(edit func(*Exchange)) []Credential {
		x := &Exchange{TokenURL: "https://a.example/token", ClientID: "c"}
		edit(x)
		return []Credential{{Exchange: x}}
	}
	assertion := func(a Assertion) []Credential { return []Credential{{Assertion: &a}} }
	for want, c := range map[string][]Credential{
		"credentials[0]: exactly one":                        {{}},
		"credentials[1]: exactly one":                        {{Value: value}, {Assertion: &Assertion{}, Passthrough: true}},
		"credentials[0].header: ":                            {{Header: "x y", Value: value}},
		"credentials[0].header: Via means":                   {{Header: "via", Value: value}},
		"credentials[0].header: A2a-Version means":           {{Header: "A2A-Version", Value: value}},
		"credentials[1].header: another":                     {{Value: value}, {Header: "authorization", On: always, Passthrough: true}},
		"credentials[0].on: ":                                {{On: "never", Value: value}},
		"credentials[0].value: ":                             {{Value: secret.New("a\nb")}},
		"credentials[0].prefix: goes":                        {{Prefix: text("x"), Value: value}},
		"credentials[0].prefix: holds":                       {{Prefix: text("x\r"), Assertion: &Assertion{}}},
		"credentials[0].audience: ":                          {{Audience: "x", Value: value}},
		"credentials[0].oauth2: tokenURL":                    {{OAuth2: &OAuth2{TokenURL: "https://a.example"}}},
		"credentials[0].oauth2.tokenURL: not":                oauth(func(o *OAuth2) { o.TokenURL = "/token" }),
		"credentials[0].oauth2.scopes: ":                     oauth(func(o *OAuth2) { o.Scopes = []string{"a b"} }),
		"credentials[0].exchange: tokenURL":                  {{Exchange: &Exchange{ClientID: "c"}}},
		"credentials[0].exchange.tokenURL: not":              exchange(func(x *Exchange) { x.TokenURL = "ftp://a.example" }),
		"credentials[0].exchange.tokenURL: must not hold":    exchange(func(x *Exchange) { x.TokenURL = "https://u:hunter2@a.example" }),
		"credentials[0].exchange.tokenURL: must not have":    exchange(func(x *Exchange) { x.TokenURL = "https://a.example#f" }),
		"credentials[0].exchange.grant: ":                    exchange(func(x *Exchange) { x.Grant = "password" }),
		"credentials[0].exchange.subject: ":                  exchange(func(x *Exchange) { x.Subject = "me" }),
		"credentials[0].exchange.actor: \"me\"":              exchange(func(x *Exchange) { x.Actor = "me" }),
		"credentials[0].exchange.actor: the grant":           exchange(func(x *Exchange) { x.Grant, x.Actor = grantBearer, actorClient }),
		"credentials[0].exchange.subjectType: the grant":     exchange(func(x *Exchange) { x.Grant, x.SubjectType = grantBearer, typeJWT }),
		"credentials[0].exchange.requestedType: the grant":   exchange(func(x *Exchange) { x.Grant, x.RequestedType = grantBearer, typeJWT }),
		"credentials[0].exchange.requestedType: a refresh":   exchange(func(x *Exchange) { x.RequestedType = typeRefresh }),
		"credentials[0].exchange.requestedType: \"jwt\"":     exchange(func(x *Exchange) { x.RequestedType = "jwt" }),
		"credentials[0].exchange.subjectType: \"jwt\"":       exchange(func(x *Exchange) { x.SubjectType = "jwt" }),
		"credentials[0].exchange.audience: ":                 exchange(func(x *Exchange) { x.Audience = []string{""} }),
		"credentials[0].exchange.resource[1]: ":              exchange(func(x *Exchange) { x.Resource = []string{"urn:a", "b"} }),
		"credentials[0].exchange.resource[0]: ":              exchange(func(x *Exchange) { x.Resource = []string{"https://a.example#f"} }),
		"credentials[0].exchange.identity.subjects: ":        exchange(func(x *Exchange) { x.Identity = &Identity{Subjects: map[string]string{"a": ""}} }),
		"credentials[0].exchange.identity.issuers: ":         exchange(func(x *Exchange) { x.Identity = &Identity{Issuers: []string{""}} }),
		"credentials[0].exchange.permissions: ":              exchange(func(x *Exchange) { x.Permissions = &Permissions{} }),
		"credentials[0].exchange.permissions.always: ":       exchange(func(x *Exchange) { x.Permissions = &Permissions{Always: []string{""}} }),
		"credentials[0].exchange.permissions.scopes.a: ":     exchange(func(x *Exchange) { x.Permissions = &Permissions{Scopes: map[string][]string{"a": {`"`}}} }),
		"credentials[0].exchange.permissions.groups.a: ":     exchange(func(x *Exchange) { x.Permissions = &Permissions{Groups: map[string][]string{"a": {"ä"}}} }),
		"credentials[0].assertion.lifetime: want":            assertion(Assertion{Lifetime: quantity.Duration(time.Hour)}),
		"credentials[0].assertion.lifetime: want 1s to 5m":   assertion(Assertion{Lifetime: quantity.Duration(time.Millisecond)}),
		"credentials[0].assertion.permissions: gives nobody": assertion(Assertion{Permissions: &Permissions{}}),
	} {
		err := Validate(c)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s\nis %v", want, err)
		}
	}
	good := []Credential{
		{Value: value}, {On: onAuthRequired, Passthrough: true},
		{Header: "x-1", Prefix: text(""), Assertion: &Assertion{Lifetime: quantity.Duration(5 * time.Minute)}},
		{Header: "x-2", Exchange: &Exchange{TokenURL: "http://localhost/token?a=b", ClientID: "c", Resource: []string{"urn:a"}}},
	}
	must(t, Validate(good))
}
