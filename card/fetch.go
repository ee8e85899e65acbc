package card

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// fetchTimeout bounds one attempt, whatever the client's own timeout is.
const fetchTimeout = 10 * time.Second

// errLate is the end of fetchTimeout, in words that say so.
var errLate error = late{}

// late is the error of an agent that takes too long for its card. It is a timeout to whoever asks for
// one, and says how long was waited.
type late struct{}

func (late) Error() string   { return fmt.Sprintf("it did not answer within %s", fetchTimeout) }
func (late) Timeout() bool   { return true } // as net.Error
func (late) Temporary() bool { return true }
func (late) Unwrap() error   { return context.DeadlineExceeded }

// inTime is err, or errLate where that is what it comes of.
func inTime(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == errLate { //nolint:errorlint // it is nobody else's
		return errLate
	}
	return err
}

// maxRedirects is enough for a trailing slash and a moved file.
const maxRedirects = 3

// validators are what a server gave to ask for changes with.
type validators struct{ etag, modified string }

// Fetch reads the card at a URL once. At most limit bytes are read (MaxSize
// when limit is not positive), redirects are followed within the origin only,
// and what is not JSON is refused. No A2A-Version is sent: agents that serve
// several forms then send the one that has everything in it.
func Fetch(ctx context.Context, client *http.Client, at secret.URL, limit int64) (*Card, error) {
	c, _, err := fetch(ctx, client, at, limit, validators{})
	return c, err
}

// fetch is Fetch with a conditional request. A nil card without an error means
// that the agent's is unchanged.
func fetch(
	ctx context.Context, client *http.Client, at secret.URL, limit int64, have validators,
) (*Card, validators, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, errLate)
	defer cancel()
	req, err := newRequest(ctx, at, have)
	if err != nil {
		return nil, have, err
	}
	resp, err := sameOrigin(client).Do(req)
	if err != nil {
		return nil, have, fmt.Errorf("fetch card %s: %w", at, at.Hide(inTime(ctx, bare(err))))
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && have != (validators{}) {
		return nil, have, nil
	}
	c, err := read(resp, limit)
	if err != nil {
		return nil, have, fmt.Errorf("fetch card %s: %w", at, at.Hide(inTime(ctx, err)))
	}
	c.source = at.Reveal()
	return c, validators{resp.Header.Get("Etag"), resp.Header.Get("Last-Modified")}, nil
}

// newRequest asks for a card, or, with the validators of the one before, whether it is still the same.
// Errors do not show the URL where it may hold a secret.
func newRequest(ctx context.Context, at secret.URL, have validators) (*http.Request, error) {
	if origin(at.Reveal()) == "" {
		_, err := at.Parse()
		return nil, fmt.Errorf("fetch card: %w", secret.NotAbsolute(err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.Reveal(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch card: %w", at.Hide(bare(err)))
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity") // what is counted is what was sent
	if have.etag != "" {
		req.Header.Set("If-None-Match", have.etag)
	}
	if have.modified != "" {
		req.Header.Set("If-Modified-Since", have.modified)
	}
	return req, nil
}

// read checks the answer around the card and parses it.
func read(resp *http.Response, limit int64) (*Card, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp)
	}
	if limit <= 0 || limit > MaxSize {
		limit = MaxSize
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	c, err := Parse(raw)
	switch {
	case err == nil:
		return c, nil
	case !isJSON(resp.Header.Get("Content-Type")):
		err = fmt.Errorf("%w (served as %q)", err, resp.Header.Get("Content-Type"))
	}
	return nil, fmt.Errorf("%w%s", err, instead(resp, raw))
}

// isJSON reports whether the server itself calls its answer JSON. Many serve
// cards as text/plain or octet-stream files, so that it decides nothing; it
// only makes the error clearer.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// direct is for who brings no client. No proxy of the environment is asked.
var direct = &http.Transport{DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, ForceAttemptHTTP2: true, IdleConnTimeout: 30 * time.Second}

// sameOrigin is client with redirects kept to the origin of the first request:
// the operator vouched for that address and for no other.
func sameOrigin(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second, Transport: direct}
	}
	own := *client
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if origin(req.URL.String()) != origin(via[0].URL.String()) {
			return elsewhere(origin(req.URL.String()))
		}
		if len(via) > maxRedirects {
			return fmt.Errorf("redirected more than %d times", maxRedirects)
		}
		return nil
	}
	return &own
}

// bare drops the URL that net/http puts into its errors: ours is redacted.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
