package policycmd

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
)

// said is who calls, as flags say it.
// explain.Said holds what needs no reading; claims are kept as they were typed until claimsOf has
// read them.
type said struct {
	explain.Said

	claims []string // as name=value
}

// describe declares the flags that say who calls.
// They say what a case of policy test says with its key caller.
func (s *said) describe(f *pflag.FlagSet) {
	s.Key = flagged
	// Their order is that of the help text: who, in which groups, by which software, how signed
	// in.
	f.StringVar(&s.Subject, "subject", "", "caller's `subject`")
	f.StringVar(&s.Issuer, "issuer", "", "`issuer` of the caller's credential: "+schemes.Enumerate(append([]string{"an OIDC issuer"}, schemes.Issuers(nil)...), "or"))
	// Groups, scopes and methods of authentication may be given as a list with commas; actors and
	// claims may not, since a subject or a value can hold a comma itself.
	f.StringSliceVar(&s.Groups, "group", nil, "`group` of the caller; repeatable")
	f.StringSliceVar(&s.Scopes, "scope", nil, "`scope` of the caller's credential; repeatable")
	f.StringVar(&s.Client, "client", "", "OAuth `client` of the caller")
	f.StringVar(&s.Workload, "workload", "", "`subject` of the calling software's own credential")
	f.StringVar(&s.Tenant, "tenant", "", "`tenant` of the caller")
	f.StringArrayVar(&s.Actors, "actor", nil, "`subject` that acts for the caller; repeatable, begin with the one that makes the call")
	f.StringVar(&s.ACR, "acr", "", "authentication context `class` of the caller's sign-in")
	f.StringSliceVar(&s.AMR, "amr", nil, "authentication `method` of the sign-in; repeatable")
	f.StringVar(&s.AuthTime, "auth-time", "", "`when` the user signed in, as a time of RFC 3339 or as its age (10m)")
	f.StringArrayVar(&s.claims, "claim", nil, "`name=value` of a claim; repeatable, several of one name are a list")
}

// flagged is the name of a flag, for errors.
// explain.Said spells what is wrong with it: the administration API names members, this names
// flags.
func flagged(name string) string { return "--" + name }

// claimsOf reads name=value; several values of a name are a list. An address as a name
// may have no equals sign, which ends it.
//
//	--claim email_verified=true --claim role=a --claim role=b
//
// gives {"email_verified": "true", "role": ["a", "b"]}. Values stay text: rules compare the text
// of a claim, so that true and "true" are the same to them. Nil for no flags.
func claimsOf(flags []string) (map[string]any, error) {
	var claims map[string]any
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--claim: %q is not name=value", flag)
		}
		if claims == nil {
			claims = map[string]any{}
		}
		// The second value of a name makes a list of it, each further one lengthens the list.
		switch had := claims[name].(type) {
		case nil:
			claims[name] = value
		case []any:
			claims[name] = append(had, value)
		default:
			claims[name] = []any{had, value}
		}
	}
	return claims, nil
}
