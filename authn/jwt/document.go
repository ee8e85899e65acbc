package jwt

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// maxDocument bounds what an issuer publishes, metadata as well as key sets.
const maxDocument = jws.MaxSet

// errStatus is an HTTP answer other than 200.
type errStatus int

func (e errStatus) Error() string { return "unexpected status " + strconv.Itoa(int(e)) }

// documents is the transport for what issuers publish, metadata and key sets. It hands
// out whole documents of bounded size, and errors: go-oidc asks through it, which reads
// bodies to their end however long they are, and makes text, body included, of a status.
type documents struct {
	next      http.RoundTripper // nil: direct
	plaintext bool              // the operator wrote the issuer as http://
}

// direct is for clients that have no transport of their own.
var direct = &http.Transport{DialContext: (&net.Dialer{Timeout: fetchTimeout}).DialContext, ForceAttemptHTTP2: true, IdleConnTimeout: 30 * time.Second}

// RoundTrip implements http.RoundTripper. A redirect is a status like any other but 200.
func (d documents) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := address(secret.URL(req.URL.String()), d.plaintext); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json, application/jwk-set+json")
	req.Header.Set("User-Agent", "a2a-gateway")
	next := d.next
	if next == nil {
		next = direct
	}
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errStatus(resp.StatusCode)
	}
	doc, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(doc) > maxDocument {
		return nil, fmt.Errorf("more than %d bytes", maxDocument)
	}
	resp.Body = io.NopCloser(bytes.NewReader(doc))
	return resp, nil
}

// address parses an absolute URL without userinfo and fragment, https unless
// plaintext is allowed.
func address(raw secret.URL, plaintext bool) (*url.URL, error) {
	u, err := raw.Parse()
	switch {
	case err != nil:
		return nil, fmt.Errorf("parse address: %w", err)
	case u.Scheme != "https" && (u.Scheme != "http" || !plaintext):
		return nil, fmt.Errorf("%q must be an https:// address", raw)
	case u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("%q has no host", raw)
	case u.User != nil:
		return nil, fmt.Errorf("%q carries credentials", raw)
	case u.Fragment != "" || strings.HasSuffix(raw.Reveal(), "#"):
		return nil, fmt.Errorf("%q has a fragment", raw)
	}
	return u, nil
}
