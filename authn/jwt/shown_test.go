package jwt

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestShownIssuers: what is known of an issuer is shown, and nothing is fetched for it; of one
// that is away, why.
func TestShownIssuers(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(away.Close)
	c, err := tryTokens(t.Context(), Config{OIDC: []Issuer{{
		Issuer: away.URL, Audiences: []string{"gw"}, Algorithms: []string{"ES256"}, Header: "X-User", Tenant: "t", SenderConstrained: true,
	}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	list := From(c).Shown()
	if len(list) != 1 || list[0].Err != nil || !list[0].Asked.IsZero() || list[0].Keys != nil || list[0].Header != "X-User" ||
		list[0].Algorithms[0] != "ES256" || list[0].Tenant != "t" || !list[0].SenderConstrained || list[0].Introspection {
		t.Errorf("before anything: %+v", list)
	}
	_ = c.Warm(t.Context())
	if list = From(c).Shown(); list[0].Err == nil || !strings.Contains(list[0].Err.Error(), "404") {
		t.Errorf("of an issuer that is away: %+v", list[0])
	}
}
