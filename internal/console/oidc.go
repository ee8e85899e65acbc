package console

import (
	"errors"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// OIDC is admin.oidc: an identity provider that authenticates people, and the claims that give
// them a role.
type OIDC struct {
	// Issuer is the provider's identifier, as its tokens spell it.
	Issuer string `yaml:"issuer"`
	// Audiences are the names of this API in access tokens. The gateway accepts tokens for them as
	// bearer tokens. Default: none, and the gateway accepts no access token.
	Audiences []string `yaml:"audiences"`
	// Claim is the claim with the texts that Roles lists, by its name or a path with dots; default
	// groups.
	Claim string `yaml:"claim"`
	// Roles says which texts in the claim give which role. A user with several roles has the
	// highest, and a user with none gets no access.
	Roles Roles `yaml:"roles"`
	// Login lets people sign in with a browser. Default: nobody can.
	Login *login.Config `yaml:"login"`
}

// Roles is admin.oidc.roles.
type Roles struct {
	// Viewer, operator and admin list the values of the claim that give a user the role.
	Viewer   []string `yaml:"viewer"`
	Operator []string `yaml:"operator"`
	Admin    []string `yaml:"admin"`
}

const usualClaim = "groups"

// authn is the section as the public listener's authentication has it: one issuer. Its own
// limit of failures is off, since admin.failures counts for all ways in.
func (o *OIDC) authn() schemes.Config {
	return schemes.Config{
		OIDC:     []jwt.Issuer{{Issuer: o.Issuer, Audiences: o.Audiences}},
		Failures: failures.Config{PerMinute: -1}, // admin.failures counts
	}
}

// validate names the keys below admin. A nil section is right: nobody comes in by it.
func (o *OIDC) validate() error {
	if o == nil {
		return nil
	}
	var errs []error
	if len(o.Audiences) == 0 && o.Login == nil {
		errs = append(errs, keypath.At(errors.New("lets nobody in without audiences or login"), "oidc"))
	}
	check := *o
	if len(check.Audiences) == 0 {
		check.Audiences = []string{"none"} // what is wrong with the issuer is wrong all the same
	}
	if err := check.authn().OIDC[0].Validate(); err != nil {
		errs = append(errs, keypath.At(err, "oidc"))
	}
	if len(o.Roles.Viewer)+len(o.Roles.Operator)+len(o.Roles.Admin) == 0 {
		errs = append(errs, keypath.At(errors.New("nobody would have one"), "oidc", "roles"))
	}
	if o.Login != nil {
		if err := o.Login.Validate(); err != nil {
			errs = append(errs, keypath.At(err, "oidc", "login"))
		}
	}
	return errors.Join(errs...)
}

// role is the highest that claims make. It is nobody where none of the texts is listed.
// Texts are compared exactly.
func (o *OIDC) role(claims map[string]any) api.Role {
	has := o.groups(claims)
	some := func(wanted []string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(has, w) })
	}
	switch {
	case some(o.Roles.Admin):
		return api.Admin
	case some(o.Roles.Operator):
		return api.Operator
	case some(o.Roles.Viewer):
		return api.Viewer
	}
	return nobody
}

// groups are the values of the claim that roles are read from.
func (o *OIDC) groups(claims map[string]any) []string {
	name := o.Claim
	if name == "" {
		name = usualClaim
	}
	return texts(lookup(claims, name))
}

// lookup finds a claim by its name, or else by a path. The name goes first, as claims of
// some providers are URLs and have dots of their own: https://example.com/roles. A path
// such as realm_access.roles is how Keycloak nests them.
func lookup(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	first, rest, ok := strings.Cut(name, ".")
	below, nested := claims[first].(map[string]any)
	if !ok || !nested {
		return nil
	}
	return lookup(below, rest)
}

// texts is one text, or those in a list. Anything else in the list, such as a number, is
// left out.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				list = append(list, text)
			}
		}
		return list
	}
	return nil
}

// label is what people call somebody. It is for the pages alone, and no part of a decision:
// people can often choose it themselves. It is cut to 128 bytes.
func label(claims map[string]any) string {
	for _, name := range []string{"name", "preferred_username", "email"} {
		if text, ok := claims[name].(string); ok && text != "" {
			return strings.ToValidUTF8(text[:min(len(text), 128)], "")
		}
	}
	return ""
}
