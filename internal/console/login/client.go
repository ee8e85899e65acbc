package login

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Bounds of what is asked of a provider.
const (
	askTimeout     = 10 * time.Second
	longestAnswer  = 1 << 20
	longestHeaders = 64 << 10
)

// Dial opens connections, as http.Transport has it; nil is directly.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// newClient stays where it is sent, and reads no more than a provider has to say. A
// redirect is not followed: the endpoints are those of the metadata, and a client that
// follows would carry the code or the client's secret elsewhere.
func newClient(issuer string, transport http.RoundTripper, dial Dial) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: askTimeout,
			MaxResponseHeaderBytes: longestHeaders, DisableKeepAlives: true, // people sign in now and then
		}
	}
	return &http.Client{
		Transport: bounded{transport, strings.HasPrefix(issuer, "http://")}, Timeout: askTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded is a transport whose answers end.
type bounded struct {
	next      http.RoundTripper
	plaintext bool
}

// RoundTrip implements http.RoundTripper. An answer ends after longestAnswer bytes, which
// is then malformed JSON and an error to who reads it. The scheme is looked at for each
// request, as the addresses come from the provider.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !b.plaintext {
		return nil, errors.New("the provider names an address that is not https")
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, longestAnswer), resp.Body}
	return resp, nil
}

// sealer keeps what a browser has in its hands from being read or made there. Its key is
// this process's own: whoever leaves and comes back to another one signs in again.
type sealer struct{ aead cipher.AEAD }

// newSealer makes a sealer with a fresh key: AES-256 in GCM, with a random nonce for each
// text.
func newSealer() (sealer, error) {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return sealer{}, fmt.Errorf("make a key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("make a key: %w", err)
	}
	return sealer{aead}, nil
}

// seal makes text of a value that a cookie can hold: JSON, encrypted, in base64url.
func (s sealer) seal(v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("keep for later: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil)), nil
}

// open is the way back. What was changed, or sealed by another process, is an error.
func (s sealer) open(text string, v any) error {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("open what was kept: %w", err)
	}
	plain, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return fmt.Errorf("open what was kept: %w", err)
	}
	return json.Unmarshal(plain, v)
}
