package upstream

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// tokens fetches and keeps the access token of one OAuth2 credential. However
// many calls need a token at once, the authorization server is asked once, and a
// caller who leaves does not take the others' answer along.
type tokens struct {
	config clientcredentials.Config
	client *http.Client

	mu   sync.Mutex
	last *fetch
}

// fetch is one request to the token endpoint. Its fields are set before done is
// closed and read after.
type fetch struct {
	done  chan struct{}
	token *oauth2.Token
	err   error
	ended time.Time
}

const (
	tokenTimeout = 10 * time.Second // for the whole of one fetch
	tokenPause   = time.Second      // after a failure: an outage must not become a flood
)

func newTokens(o *OAuth2) *tokens {
	t := &tokens{
		config: clientcredentials.Config{
			ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(),
			TokenURL: o.TokenURL, Scopes: o.Scopes,
		},
		// Its own connections, without the agent's client certificate, and like those
		// to the agent not subject to the proxy variables of the environment.
		client: &http.Client{
			Timeout: tokenTimeout,
			Transport: &http.Transport{
				DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
				TLSHandshakeTimeout: 5 * time.Second,
				ForceAttemptHTTP2:   true,
				IdleConnTimeout:     30 * time.Second,
			},
			// A client secret goes to the address that was configured and no further.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if o.Audience != "" {
		t.config.EndpointParams = url.Values{"audience": {o.Audience}}
	}
	return t
}

// get returns an access token that is good for some seconds more, or as good as
// the server makes them. It waits no longer than ctx.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	f := t.last
	if f == nil || f.stale() {
		f = &fetch{done: make(chan struct{})}
		t.last = f
		go t.run(f)
	}
	t.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if f.err != nil {
		return "", f.err
	}
	return f.token.AccessToken, nil
}

func (t *tokens) run(f *fetch) {
	defer close(f.done)
	ctx, cancel := context.WithTimeout(context.Background(), tokenTimeout)
	defer cancel()
	f.token, f.err = t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.client))
	f.ended = time.Now()
}

// stale reports whether another fetch is due.
func (f *fetch) stale() bool {
	select {
	case <-f.done:
	default:
		return false
	}
	if f.err != nil {
		return time.Since(f.ended) > tokenPause
	}
	return !f.token.Valid()
}

func (t *tokens) close() { t.client.CloseIdleConnections() }
