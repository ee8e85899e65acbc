package pdp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/singleflight"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// metadataLife is how long metadata is taken as they were read.
// Endpoints move with a release of the service at most; forget helps when one is gone earlier.
const metadataLife = time.Hour

// endpoints are where questions go.
// several is the endpoint for evaluations of several resources at once (§7), which is optional.
type endpoints struct {
	one     string
	several string // "" where there is none
}

// metadata knows the endpoints of a policy decision point (Authorization API 1.0 §9).
// They are read with the first question, so that a service that is down keeps no gateway
// from starting.
type metadata struct {
	life      context.Context
	client    *client
	url       string    // of the policy decision point, exactly as it has to call itself
	wellKnown string    // where the metadata are
	usual     endpoints // of one that has no metadata
	reading   singleflight.Group

	mu    sync.Mutex
	known endpoints
	until time.Time
}

// newMetadata takes a URL that is valid.
func newMetadata(life context.Context, c *client, text string) *metadata {
	m := &metadata{life: life, client: c, url: text}
	m.usual.one = strings.TrimSuffix(text, "/") + "/access/v1/evaluation"
	// §9.2.1: between host and path.
	if u, err := url.Parse(text); err == nil {
		m.wellKnown = u.Scheme + "://" + u.Host + "/.well-known/authzen-configuration" +
			strings.TrimSuffix(u.EscapedPath(), "/")
	}
	return m
}

// endpoints reads the metadata if need be, once for all who ask. The reading is nobody's
// in particular and goes on when a caller leaves.
func (m *metadata) endpoints(ctx context.Context) (endpoints, error) {
	if e, ok := m.fresh(time.Now()); ok {
		return e, nil
	}
	flight := m.reading.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(m.life, longestTimeout)
		defer cancel()
		e, err := m.fetch(ctx)
		if err != nil {
			return e, fmt.Errorf("read its metadata: %w", err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.known, m.until = e, time.Now().Add(metadataLife)
		return e, nil
	})
	select {
	case <-ctx.Done():
		return endpoints{}, fmt.Errorf("read its metadata: %w", ctx.Err())
	case r := <-flight:
		e, _ := r.Val.(endpoints) // nothing else is in it
		return e, r.Err
	}
}

// fresh returns the endpoints where they were read within metadataLife.
func (m *metadata) fresh(now time.Time) (endpoints, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, now.Before(m.until)
}

// forget has the metadata read again with the next question.
// Questions that are on their way keep the endpoint that they went to.
func (m *metadata) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = time.Time{}
}

// fetch reads the metadata. A service that has none has its endpoints in the usual place; for
// another failure there is no answer, since guessing could lead past what it says.
func (m *metadata) fetch(ctx context.Context) (endpoints, error) {
	body, err := m.client.do(ctx, m.wellKnown, "", nil)
	var s status
	// Metadata are optional (§9): a service that has none answers so.
	if errors.As(err, &s) && (s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s == http.StatusGone) {
		return m.usual, nil
	}
	if err != nil {
		return endpoints{}, err
	}
	return m.read(body)
}

// read takes the endpoints out of metadata. They must be those of the service that was
// configured: whoever could name another one would decide in its place, and be shown the
// token.
func (m *metadata) read(body []byte) (endpoints, error) {
	var doc struct {
		URL     string `json:"policy_decision_point"`
		One     string `json:"access_evaluation_endpoint"`
		Several string `json:"access_evaluations_endpoint"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return endpoints{}, errors.New("not a JSON object with the endpoints as strings")
	}
	if doc.URL != m.url {
		return endpoints{}, fmt.Errorf("they are of %q, and url has to be that to the letter", printable(secret.URL(doc.URL).String()))
	}
	if !m.ours(doc.One) || doc.Several != "" && !m.ours(doc.Several) {
		return endpoints{}, errors.New("an endpoint is missing, or on another host than url")
	}
	return endpoints{doc.One, doc.Several}, nil
}

// ours reports whether an endpoint has the scheme, host and port of the configured URL.
func (m *metadata) ours(endpoint string) bool {
	own, err := url.Parse(m.url)
	if err != nil {
		return false
	}
	u, err := url.Parse(endpoint)
	return err == nil && u.User == nil && u.Fragment == "" && u.Scheme == own.Scheme && strings.EqualFold(u.Host, own.Host)
}
