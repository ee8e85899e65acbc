package pdp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Bounds of one answer.
const (
	maxAnswer   = 64 << 10 // bytes, headers and body each
	maxAsking   = 64       // connections to one authorizer
	dialTimeout = 5 * time.Second
)

// client is the way to one policy decision point. Nothing that it answers makes it ask
// elsewhere, remember anything, or unpack anything.
type client struct {
	http  *http.Client
	token string // bearer token; "" for none
}

// newClient connects to nobody yet.
func newClient(files *tls.Config, token string, egress *tunnel.Proxy) *client {
	return &client{
		token: token,
		http: &http.Client{
			Transport: &http.Transport{
				// No Proxy: an environment variable must not decide who decides.
				DialContext:            egress.Dialer(dialTimeout),
				TLSClientConfig:        files,
				TLSHandshakeTimeout:    dialTimeout,
				ForceAttemptHTTP2:      true,
				MaxConnsPerHost:        maxAsking,
				MaxIdleConnsPerHost:    maxAsking,
				IdleConnTimeout:        90 * time.Second,
				MaxResponseHeaderBytes: maxAnswer,
				DisableCompression:     true,
			},
			// The token goes to the address that was configured and no further.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// status is an answer that decides nothing.
// 200 never is one.
type status int

// Error is for the log and for records.
func (s status) Error() string { return fmt.Sprintf("it answered with HTTP status %d", int(s)) }

// blames reports whether the status finds fault with the question.
func (s status) blames() bool {
	switch s {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return false
}

// do asks once and returns a body of JSON that came with status 200. id is the call's;
// a nil body is a GET.
func (c *client) do(ctx context.Context, target, id string, body []byte) ([]byte, error) {
	// Metadata are read with GET, questions are put with POST.
	method, content := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, content = http.MethodPost, bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "a2a-gateway")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	// The id lets the service's log be read beside the gateway's (§10.1.3).
	if id != "" && httpguts.ValidHeaderFieldValue(id) {
		req.Header.Set("X-Request-Id", id)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var address *url.Error // would say the whole URL once more
		if errors.As(err, &address) {
			err = address.Err
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return read(resp, req.Header.Get("X-Request-Id"))
}

// read takes a bounded JSON body out of an answer (Authorization API 1.0 §10.1).
//
// Everything that does not look like an answer to this question is an error: what cannot be read
// must not be taken for a yes. The status comes first, as errors have bodies of their own.
func read(resp *http.Response, id string) ([]byte, error) {
	// One byte more than is taken shows that there is more.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	kind, _, badKind := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	echo := resp.Header.Get("X-Request-Id")
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, status(resp.StatusCode)
	case badKind != nil || kind != "application/json":
		return nil, errors.New("its answer is not application/json")
	// What is packed could be unpacked to any size.
	case resp.Header.Get("Content-Encoding") != "":
		return nil, errors.New("its answer is packed, which was not asked for")
	case echo != "" && id != "" && echo != id:
		// It is to repeat the id (§10.1.3). Some leave it out; another one is worse than none.
		return nil, errors.New("its answer has another X-Request-ID and so may be to another question")
	case err != nil:
		return nil, fmt.Errorf("read its answer: %w", err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("its answer is larger than %d bytes", maxAnswer)
	}
	return body, nil
}
