package authn

import (
	"errors"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// The texts below are for callers. They say of a request what its sender can see of it, and of
// the gateway what every challenge says anyway: which headers carry what. Nothing in them
// depends on whether a credential is good.

// misplaced is a request without a credential that has something like one in a header that
// carries none here. It is ErrNoCredentials.
type misplaced struct{ text string }

func (m *misplaced) Error() string        { return "no credentials: " + m.text }
func (m *misplaced) Is(target error) bool { return target == ErrNoCredentials }

// Told is what the caller may read beside the challenge about an error of Authenticate: which
// limit a credential is beyond, which header it belongs in, or that a genuine token is for another
// audience. "" for nothing.
func Told(err error) string {
	var m *misplaced
	if errors.As(err, &m) {
		return m.text
	}
	var refused *Refused
	if errors.As(err, &refused) {
		return refused.Hint
	}
	return ""
}

// lookalikes are headers that carry keys and tokens elsewhere, canonical.
var lookalikes = [...]string{"Api-Key", "Apikey", "X-Apikey", "X-Api-Token", "X-Auth-Token", "X-Access-Token", "Access-Token", "Token"}

// nothing is the error about a request without any credential.
func (c *Chain) nothing(r *http.Request) error {
	for _, name := range lookalikes {
		if len(r.Header[name]) > 0 {
			return &misplaced{"the header " + name + " carries no credential here: " + c.Where()}
		}
	}
	return ErrNoCredentials
}

// unowned refuses a credential that no scheme takes for its own.
func (c *Chain) unowned(r *http.Request) *Refused {
	refused := Refuse(FaultScheme, ReasonScheme, nil)
	value := r.Header.Get(credential.Authorization)
	shown, known := credential.ReadToken(value, false)
	switch _, after, spaced := strings.Cut(value, " "); {
	case value == "" && len(r.Header[credential.Authorization]) == 0:
		refused.Hint = "no credential is accepted in this header: " + c.Where()
	case value == "":
		refused.Hint = "Authorization is empty: " + c.Where()
	case known && shown.Token == "":
		refused.Hint = shown.Missing() + c.Where()
	case strings.HasPrefix(strings.TrimSpace(after), credential.KeyPrefix) || strings.HasPrefix(value, credential.KeyPrefix):
		refused.Hint = "an API key is not accepted in Authorization like this: " + c.Where()
	case !spaced:
		refused.Hint = "Authorization has no scheme in front of the credential: " + c.Where()
	case known && shown.Scheme == credential.SchemeBearer && c.takesBearer():
		refused = Refuse(FaultMalformed, ReasonMalformed, errors.New("a bearer token, where those are API keys"))
		refused.Hint = credential.NotAKey + c.Where()
	default:
		refused.Hint = "the scheme in Authorization is not accepted: " + c.Where()
	}
	return refused
}

// Where says which headers carry which credentials.
func (c *Chain) Where() string {
	var ways []string
	if c.takesBearer() {
		ways = append(ways, "Authorization: Bearer")
	}
	for _, s := range c.schemes {
		ways = append(ways, s.Ways()...)
	}
	if len(ways) == 0 {
		return "callers are known by their client certificates"
	}
	return "send " + strings.Join(ways, ", or ")
}
