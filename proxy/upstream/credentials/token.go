package credentials

import (
	"context"
	"net/url"
	"strings"
)

// clientToken is the gateway's own token, by client credentials. It is the same whoever
// calls.
type clientToken struct {
	client *client
	kind   string // what its fetches are counted under
	form   url.Values
	cache  *cache
}

// newClientToken prepares the grant; the token is fetched with the first call.
func newClientToken(o *OAuth2, prefix string, s *servers) *clientToken {
	return &clientToken{
		client: s.client(o.TokenURL, o.ClientID, o.ClientSecret), kind: "oauth2",
		form: clientForm(o.Scopes, o.Audience), cache: newCache(s.life, prefix),
	}
}

// clientForm is the request of RFC 6749 §4.4.2.
func clientForm(scopes []string, audience string) url.Values {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	if audience != "" {
		form.Set("audience", audience)
	}
	return form
}

func (t *clientToken) value(ctx context.Context, _ *Caller) (string, error) {
	return t.cache.get(ctx, cacheKey{}, t.ask)
}

func (t *clientToken) ask(ctx context.Context) (grant, error) {
	return t.client.ask(ctx, "", t.kind, t.form)
}
