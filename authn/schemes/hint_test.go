package schemes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// TestMisplacedCredential: who sends a credential in a header, or in a way, that carries none
// here is told which one does. A good one and a made-up one are told the same.
func TestMisplacedCredential(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	keysOnly := Config{APIKeys: &apikey.Config{File: cr.cfg.APIKeys.File}}
	asBearer := Config{APIKeys: &apikey.Config{File: cr.cfg.APIKeys.File, Bearer: true}}
	both := Config{APIKeys: &apikey.Config{File: cr.cfg.APIKeys.File}, OIDC: cr.cfg.OIDC[:1]}
	const useKey, useBoth = "send X-Api-Key with an API key", "send Authorization: Bearer, or X-Api-Key with an API key"
	const noKey = "this is no API key of this gateway, which begins with a2a_: "
	tests := []struct {
		name   string
		cfg    Config
		header string
		value  string // KEY is a good key
		want   string
	}{
		{"a key as bearer token", keysOnly, credential.Authorization, "Bearer KEY", "an API key is not accepted in Authorization like this: " + useKey},
		{"beside tokens", both, credential.Authorization, "Bearer KEY", "API keys are not accepted as bearer tokens here: " + useKey},
		{"a key without a scheme", keysOnly, credential.Authorization, "KEY", "an API key is not accepted in Authorization like this: " + useKey},
		{"a token without a scheme", both, credential.Authorization, "eyJhbGciOiJub25lIn0.e30.", "Authorization has no scheme in front of the credential: " + useBoth},
		{"another scheme", both, credential.Authorization, "Basic YTpi", "the scheme in Authorization is not accepted: " + useBoth},
		{"nothing in Authorization", both, credential.Authorization, "", "Authorization is empty: " + useBoth},
		{"a bearer token that is no key", asBearer, credential.Authorization, "Bearer foo", noKey + useBoth},
		{"a variable of JavaScript", asBearer, credential.Authorization, "bearer  undefined", noKey + useBoth},
		{"a token as a key", asBearer, credential.Authorization, "Bearer eyJhbGciOiJub25lIn0.e30.", noKey + useBoth},
		{"a key without its prefix", asBearer, credential.Authorization, "Bearer BARE", noKey + useBoth},
		{"a key with another letter", asBearer, credential.Authorization, "Bearer KEYx", ""},
		{"nothing behind the scheme", asBearer, credential.Authorization, "Bearer", "no credential is behind Bearer in Authorization: " + useBoth},
		{"nothing, where tokens are", both, credential.Authorization, "Bearer ", "no credential is behind Bearer in Authorization: " + useBoth},
		{"nothing, where a proof is", both, credential.Authorization, "DPoP", "no credential is behind DPoP in Authorization: " + useBoth},
		{"nothing, where neither is", keysOnly, credential.Authorization, "Bearer", "no credential is behind Bearer in Authorization: " + useKey},
		{"a scheme before a key", keysOnly, "X-Api-Key", "Bearer KEY", "X-Api-Key has no scheme in front of the API key: " + useKey},
		{"a scheme before no key", keysOnly, "X-Api-Key", "Bearer foo", "X-Api-Key has no scheme in front of the API key: " + useKey},
		{"a token where keys are", both, "X-Api-Key", "eyJhbGciOiJub25lIn0.e30.", noKey + useBoth},
		{"a key without its prefix where keys are", keysOnly, "X-Api-Key", "BARE", noKey + useKey},
		{"nothing where keys are", keysOnly, "X-Api-Key", "", "X-Api-Key is empty: " + useKey},
		{"another header", keysOnly, "Api-Key", "KEY", "the header Api-Key carries no credential here: " + useKey},
		{"another header, beside tokens", both, "X-Auth-Token", "KEY", "the header X-Auth-Token carries no credential here: " + useBoth},
		{"keys where there are none", Config{OIDC: cr.cfg.OIDC[:1]}, "X-Api-Key", "KEY", "no credential is accepted in this header: send Authorization: Bearer"},
		{"where certificates are taken", Config{MTLS: &clientcert.Config{}}, "Token", "KEY", "the header Token carries no credential here: callers are known by their client certificates"},
		{"nothing", keysOnly, "Accept", "KEY", ""},
		{"a bad key where keys are", keysOnly, "X-Api-Key", "KEYx", ""},
		{"a bad token where tokens are", both, credential.Authorization, "Bearer x.y.z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := open(t, tt.cfg, Options{Client: &http.Client{Transport: cr.net}})
			for _, key := range []string{cr.key, credential.KeyPrefix + "nobody_" + strings.Repeat("x", 43)} {
				r := authntest.Request()
				r.Header.Set(tt.header, strings.NewReplacer("KEY", key, "BARE", strings.TrimPrefix(key, credential.KeyPrefix)).Replace(tt.value))
				p, err := c.Authenticate(r)
				if p != nil || err == nil || authn.Told(err) != tt.want || strings.Contains(authn.Told(err), key) {
					t.Errorf("%v, %v: %q, want %q", p, err, authn.Told(err), tt.want)
				}
			}
		})
	}
}
