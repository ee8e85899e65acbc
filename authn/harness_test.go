package authn

import (
	"context"
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// open builds a chain over an in-memory issuer and closes it with the test.
func open(t testing.TB, cfg Config, o Options) *Chain {
	t.Helper()
	c, err := New(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func openIDP(t testing.TB, i *idp) *Chain {
	t.Helper()
	return open(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: i}})
}
