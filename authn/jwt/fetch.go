package jwt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// fetchTimeout ends one fetch of discovery document and key set together.
// Tokens wait for a fetch, so that it may not take longer than a caller has patience.
const fetchTimeout = 5 * time.Second

// rediscover is how long the address of the key set is believed.
// A set that cannot be fetched has the address looked up earlier: see forget.
const rediscover = 12 * time.Hour

// source finds, and where that is the key set fetches, one endpoint of an issuer. It is
// used by one goroutine at a time.
// The address is either configured or found in the issuer's metadata; the latter is looked up
// again now and then.
type source struct {
	issuer string
	fixed  secret.URL   // configured address; empty means discovery
	member string       // of the issuer's metadata that has the address
	client *http.Client // of documents
	now    func() time.Time

	found   secret.URL // discovered address
	foundAt time.Time
}

// newSource is for the key set. It derives a client that follows no redirect: an open redirect at the
// issuer must not decide whose keys are believed.
func newSource(is *Issuer, client *http.Client, egress *tunnel.Proxy, now func() time.Time) *source {
	if client == nil {
		client = &http.Client{Transport: &http.Transport{
			DialContext:            egress.Dialer(fetchTimeout),
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    fetchTimeout,
			MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives:      true, // fetches are minutes apart
		}}
	}
	return &source{issuer: is.Issuer, fixed: is.JWKS, member: "jwks_uri", client: reading(is, client), now: now}
}

// newEndpointSource is for the introspection endpoint.
func newEndpointSource(is *Issuer, client *http.Client, now func() time.Time) *source {
	return &source{issuer: is.Issuer, fixed: is.Introspection.URL, member: "introspection_endpoint",
		client: reading(is, client), now: now}
}

// reading is a strict client for the documents of an issuer.
func reading(is *Issuer, client *http.Client) *http.Client {
	c := strict(client)
	c.Transport = documents{next: c.Transport, plaintext: is.plaintext()}
	return c
}

// strict is a client that stays where it is sent and brings nothing along.
func strict(client *http.Client) *http.Client {
	c := *client
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// keys fetches the key set, after finding out its address where that is not known.
func (s *source) keys(ctx context.Context) (*keys, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	addr, err := s.address(ctx)
	if err != nil {
		return nil, err
	}
	// Freshness is counted from here: what is published while the answer is on its way may be
	// missing in it.
	asked := s.now()
	doc, header, err := s.get(ctx, addr)
	if err != nil {
		s.forget()
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	set, err := authn.Signatures.Set(doc)
	if err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	return &keys{list: set.Keys, skipped: set.Skipped, asked: asked, fresh: asked.Add(jws.Lifetime(header))}, nil
}

// forget has the address looked up again next time: it may have moved.
func (s *source) forget() { s.foundAt = time.Time{} }

// address is where the endpoint is. A discovery that fails is no reason to forget an
// address that worked.
func (s *source) address(ctx context.Context) (secret.URL, error) {
	if s.fixed != "" {
		return s.fixed, nil
	}
	if s.found != "" && !elapsed(s.foundAt, s.now(), rediscover) {
		return s.found, nil
	}
	found, err := s.discover(ctx)
	if err != nil {
		if s.found != "" {
			return s.found, nil
		}
		return "", err
	}
	s.found, s.foundAt = found, s.now()
	return found, nil
}

// discover finds the endpoint in the issuer's metadata.
func (s *source) discover(ctx context.Context) (secret.URL, error) {
	doc, err := s.metadata(ctx)
	if err != nil {
		return "", fmt.Errorf("discover: %w", err)
	}
	meta, err := jws.Object[jsontext.Value](doc)
	if err != nil {
		return "", fmt.Errorf("discover: %w", err)
	}
	var issuer string
	var found secret.URL
	// §4.3: the document must be about the issuer that was asked for, exactly;
	// otherwise one tenant of a provider could speak for another.
	if err := json.Unmarshal(meta["issuer"], &issuer); err != nil || issuer != s.issuer {
		return "", fmt.Errorf("discover: document of issuer %.200q", secret.URL(issuer).String())
	}
	if err := json.Unmarshal(meta[s.member], &found); err != nil {
		return "", fmt.Errorf("discover: %s is no address", s.member)
	}
	if _, err := address(found, s.plaintext()); err != nil {
		return "", fmt.Errorf("discover: %s: %w", s.member, err)
	}
	return found, nil
}

// metadata reads what the issuer says of itself: first where OpenID Connect Discovery 1.0
// §4 puts it, as go-oidc does it, and when nothing is there, where RFC 8414 §3 does.
func (s *source) metadata(ctx context.Context) (jsontext.Value, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, s.client), s.issuer)
	var status errStatus
	if errors.As(err, &status) && status == http.StatusNotFound {
		doc, _, err := s.get(ctx, secret.URL(oauthMetadata(s.issuer)))
		return doc, err
	}
	var unread *url.Error
	switch {
	case errors.As(err, &unread):
		return nil, secret.URL(s.issuer).Hide(err)
	// An error of the library that is no failure to connect.
	case err != nil:
		// It quotes the document, of which nothing is known but that it is wrong.
		return nil, fmt.Errorf("%.300s", secret.HideURLs(err.Error()))
	}
	// As it came: the library takes the last of members that stand twice.
	var doc jsontext.Value
	err = provider.Claims(&doc)
	return doc, err
}

// oauthMetadata inserts the well-known part between host and path, as RFC 8414 §3.1.
func oauthMetadata(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		return issuer // cannot happen: validated; the fetch would report it
	}
	path := strings.TrimSuffix(u.Path, "/")
	u.Path = "/.well-known/oauth-authorization-server" + path
	u.RawPath = ""
	return u.String()
}

// plaintext reports an issuer that is written with http://, see Issuer.plaintext.
func (s *source) plaintext() bool { return strings.HasPrefix(s.issuer, "http://") }

// get fetches one document from exactly this address.
func (s *source) get(ctx context.Context, addr secret.URL) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr.Reveal(), nil)
	if err != nil {
		return nil, nil, addr.Hide(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, nil, addr.Hide(err)
	}
	defer resp.Body.Close()
	doc, err := io.ReadAll(resp.Body) // bounded: see documents
	return doc, resp.Header, err
}
