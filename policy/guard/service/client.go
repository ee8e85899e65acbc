package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Bounds of the questions about one document and of their answers.
const (
	maxQuestion = 256 << 10 // bytes of texts
	maxAnswer   = 1 << 20   // bytes
	maxAsking   = 64        // connections to one service
	maxBeside   = 8         // of them that one document has, for a service that takes one text at a time
	dialTimeout = 5 * time.Second
)

// newClient is the way to one service; it connects to nobody yet. Nothing that the service answers
// makes it ask elsewhere, or unpack anything.
func newClient(files *tls.Config, egress *tunnel.Proxy) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			// No Proxy: an environment variable must not reroute what people say to agents.
			DialContext:            egress.Dialer(dialTimeout),
			TLSClientConfig:        files,
			TLSHandshakeTimeout:    dialTimeout,
			ForceAttemptHTTP2:      true,
			MaxConnsPerHost:        maxAsking,
			MaxIdleConnsPerHost:    maxAsking,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// load reads the files. Errors have the path of their key.
func (t TLS) load() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, keypath.At(err, "tls", "ca")
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(bytes.TrimSpace(pem)) {
			return nil, keypath.At(fmt.Errorf("%s holds no certificate", t.CA), "tls", "ca")
		}
	}
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, keypath.At(err, "tls", "certificate")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// post asks once and returns a body of JSON that came with status 200, or nothing for 204. Everything else
// is an error, and none quotes the answer: services repeat what they were asked.
func (s *Service) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	address := s.config.URL.Reveal()
	if path != "" {
		address = strings.TrimSuffix(address, "/") + path
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its URL cannot be asked")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "a2a-gateway")
	if err := s.authorize(req, body); err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var address *url.Error // would say the whole URL
		if errors.As(err, &address) {
			err = address.Err
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	// One byte more than is taken shows that there is more.
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	kind, _, badKind := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusNoContent:
		return nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered with HTTP status %d", resp.StatusCode)
	case badKind != nil || kind != "application/json":
		return nil, errors.New("its answer is not application/json")
	case resp.Header.Get("Content-Encoding") != "":
		return nil, errors.New("its answer is packed, which was not asked for")
	case err != nil:
		return nil, fmt.Errorf("read its answer: %w", err)
	case len(answer) == 0:
		return nil, errAnswer // it is not 204
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("its answer is larger than %d bytes", maxAnswer)
	}
	return answer, nil
}

// authorize says whose question it is, in the way that is configured.
func (s *Service) authorize(r *http.Request, body []byte) error {
	c := &s.config
	token := c.Token
	switch {
	case c.AWS != AWS{}:
		c.AWS.sign(r, body, "bedrock", time.Now())
		return nil
	case !c.APIKey.IsZero():
		r.Header.Set("Ocp-Apim-Subscription-Key", c.APIKey.Reveal())
		return nil
	case c.TokenFile != "":
		if err := token.ReadFile(c.TokenFile); err != nil { // it changes while the gateway runs
			return keypath.At(err, "tokenFile")
		}
		if strings.ContainsFunc(token.Reveal(), outsideHeader) {
			return keypath.At(fmt.Errorf("%s %w", c.TokenFile, errHeader), "tokenFile")
		}
	}
	if !token.IsZero() {
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return nil
}

// errHeader is about credentials.
var errHeader = errors.New("holds characters that cannot stand in a header")

// outsideHeader reports whether a character cannot stand in a credential in a header.
func outsideHeader(r rune) bool { return r <= ' ' || r > '~' }
