package jwt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// maxAnswer bounds an answer, in bytes. It holds the claims of one token.
const maxAnswer = 64 << 10

// question puts one (RFC 7662 §2.1). It returns the members of the answer about an
// active token, nil about one that is not, and an error when the issuer gave no
// answer that can be relied on.
func (in *introspector) question(ctx context.Context, raw string) (map[string]any, error) {
	addr, err := in.endpoint(ctx)
	if err != nil {
		return nil, err
	}
	doc, err := in.post(ctx, addr, raw)
	if err != nil {
		// What a stranger's odd token can bring about must not make every question wait
		// for the metadata.
		if !isAboutToken(err) {
			in.forget()
		}
		return nil, err
	}
	claims, err := jws.Object[any](doc)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	active, ok := claims["active"].(bool)
	switch {
	case !ok:
		return nil, errors.New("read answer: member active is not a boolean")
	case !active:
		return nil, nil
	}
	return claims, nil
}

// endpoint is where questions go to. Looking it up in the issuer's metadata is for one
// at a time, and nobody waits longer for it than for an answer.
func (in *introspector) endpoint(ctx context.Context) (secret.URL, error) {
	select {
	case in.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-in.turn }()
	return in.source.address(ctx)
}

// forget has the endpoint looked up again: it may have moved.
func (in *introspector) forget() {
	in.turn <- struct{}{}
	in.source.forget()
	<-in.turn
}

// post sends the question as a form, with the gateway's own credentials.
func (in *introspector) post(ctx context.Context, addr secret.URL, raw string) ([]byte, error) {
	form := url.Values{"token": {raw}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, addr.Reveal(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, addr.Hide(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "a2a-gateway")
	// RFC 6749 §2.3.1 has both encoded as in a form, colons and all.
	req.SetBasicAuth(url.QueryEscape(in.cfg.ClientID), url.QueryEscape(in.cfg.ClientSecret.Reveal()))
	resp, err := in.client.Do(req)
	if err != nil {
		return nil, addr.Hide(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("post %s: %w", addr, errStatus(resp.StatusCode))
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, fmt.Errorf("post %s: the answer is not application/json", addr)
	}
	doc, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("post %s: %w", addr, err)
	}
	if len(doc) > maxAnswer {
		return nil, fmt.Errorf("post %s: more than %d bytes", addr, maxAnswer)
	}
	return doc, nil
}
