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
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Bounds of one question and its answer.
const (
	maxQuestion = 256 << 10 // bytes of texts
	maxAnswer   = 1 << 20   // bytes
	maxAsking   = 64        // connections to one service
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

// post asks once and returns a body of JSON that came with status 200. Everything else is an error,
// and none quotes the answer: services repeat what they were asked.
func (s *Service) post(ctx context.Context, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its URL cannot be asked")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "a2a-gateway")
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
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
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered with HTTP status %d", resp.StatusCode)
	case badKind != nil || kind != "application/json":
		return nil, errors.New("its answer is not application/json")
	case resp.Header.Get("Content-Encoding") != "":
		return nil, errors.New("its answer is packed, which was not asked for")
	case err != nil:
		return nil, fmt.Errorf("read its answer: %w", err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("its answer is larger than %d bytes", maxAnswer)
	}
	return answer, nil
}
