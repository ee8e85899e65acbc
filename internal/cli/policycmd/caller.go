package policycmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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

// callFlags are what every question about a call says: who calls, what is called, and how.
type callFlags struct {
	said
	explain.Manner

	agent, method, skill string
}

// usualMethod is the method that is asked about unless another is named.
const usualMethod = wire.SendMessage

// describe declares the flags that say who calls, and what. method is the help of the flag for that.
func (q *callFlags) describe(cmd *cobra.Command, method string) {
	f := cmd.Flags()
	f.StringVar(&q.agent, "agent", "", "`id` of the agent")
	q.said.describe(f)
	f.StringVar(&q.skill, "skill", "", "`skill` in the path of the call")
	f.StringVar(&q.method, "method", usualMethod, method)
	if err := cmd.MarkFlagRequired("agent"); err != nil {
		panic(err) //nolint:forbidigo // the flag is defined above
	}
}

// settle reads them into an inquiry: in the order in which later ones need earlier ones, since the caller's
// time of authentication is counted from the time of the call. A credential is one of by.
func (q *callFlags) settle(c *compiled, i *explain.Inquiry, by *schemes.Config) (err error) {
	i.Skill = q.skill
	if i.Agent, err = c.findAgent(q.agent); err != nil {
		return fmt.Errorf("--agent: %w", err)
	}
	if i.Method, err = c.FindMethod(q.method); err != nil {
		return fmt.Errorf("--method: %w", err)
	}
	// One moment for everything that is asked about the call.
	q.Now = time.Now()
	if wrong, err := q.Settle(i); err != nil {
		return fmt.Errorf("--%s: %w", wrong, err)
	}
	if q.Claims, err = claimsOf(q.claims); err != nil {
		return err
	}
	i.Caller, err = q.Identify(by, i.Now())
	return err
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
