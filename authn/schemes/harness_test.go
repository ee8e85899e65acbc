package schemes

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// open builds a chain over an in-memory issuer and closes it with the test.
func open(t testing.TB, cfg Config, o Options) *authn.Chain {
	t.Helper()
	c, err := New(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func openIDP(t testing.TB, i *authntest.IDP) *authn.Chain {
	t.Helper()
	return open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: i}})
}

// keyStore is an empty key file in a directory of its own.
func keyStore(t testing.TB) (*apikey.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	k, err := apikey.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return k, path
}

func create(t testing.TB, k *apikey.File, spec apikey.Spec) string {
	t.Helper()
	_, key, err := k.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// burst is how many bad credentials of one address may come at once by default.
const burst = 30

// issuerConfig accepts the test issuer.
func issuerConfig() jwt.Issuer {
	return jwt.Issuer{Issuer: authntest.TestIssuer, Audiences: []string{authntest.TestAudience}}
}

// cutToken cuts the signature off a token.
func cutToken(token string) (input, sig string, ok bool) {
	i := strings.LastIndexByte(token, '.')
	return token[:i], token[i+1:], i > 0
}

// bubble runs a test on a fake clock with a chain over an in-memory issuer. The
// clock stands still while anything runs and jumps to the next timer when all wait.
func bubble(t *testing.T, i *authntest.IDP, run func(t *testing.T, c *authn.Chain)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Config{OIDC: []jwt.Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: i}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		run(t, c)
		synctest.Wait()
	})
}
