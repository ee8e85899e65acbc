package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// checkOnline does what `validate --online` does beyond validate.
func checkOnline(ctx context.Context, cfg *config.Config, warn func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	book, err := cfg.Extensions.Compile()
	if err != nil {
		return err
	}
	defer book.Close()
	var errs []error
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		odd, err := checkCard(ctx, a, book)
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %s: %w", a.ID, err))
		}
		for _, text := range odd {
			warn(fmt.Sprintf("agent %s: %s", a.ID, text))
		}
	}
	for i := range cfg.Extensions {
		if err := checkSpecification(ctx, &cfg.Extensions[i]); err != nil {
			errs = append(errs, fmt.Errorf("extensions[%d].%w", i, err))
		}
	}
	return errors.Join(errs...)
}

// checkCard fetches an agent's card and says what is odd about it.
func checkCard(ctx context.Context, a *proxy.AgentConfig, book *ext.Book) ([]string, error) {
	up, err := upstream.New(a.Config, upstream.Options{})
	if err != nil {
		return nil, err
	}
	defer up.Close()
	c, err := card.Fetch(ctx, up.Client(), a.Card.URL, 0)
	if err != nil {
		return nil, err
	}
	if usable, _ := a.Usable(c); len(usable) == 0 {
		err = errors.New("the card names no endpoint of its own origin; list them under endpoints, or write them down under interfaces")
	}
	return book.Lint(c.Extensions), err
}

// specificationLimit is what a specification may be at most, in bytes.
const specificationLimit = 16 << 20

// checkSpecification compares a specification that is a URL with its digest. Without a
// digest there is nothing to compare it with.
func checkSpecification(ctx context.Context, e *ext.Entry) error {
	if e.Digest == "" || !strings.Contains(e.Specification, "://") {
		return nil
	}
	sum, err := fetchDigest(ctx, e.Specification)
	if err != nil {
		return fmt.Errorf("specification: %w", err)
	}
	if sum != e.Digest {
		return fmt.Errorf("digest: %s has changed: its digest is %s", secret.URL(e.Specification), sum)
	}
	return nil
}

// fetchDigest is the digest of what is at a URL, as Entry.Digest has it.
func fetchDigest(ctx context.Context, raw string) (string, error) {
	where := secret.URL(raw)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return "", fmt.Errorf("%s is no http or https URL, and cannot be compared with its digest", where)
	}
	client := &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Scheme != "https" && via[0].URL.Scheme == "https":
			return errors.New("redirected to plaintext")
		case len(via) > 5:
			return errors.New("redirected more than five times")
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the URL in it is not redacted
		}
		return "", fmt.Errorf("fetch %s: %w", where, where.Hide(err))
	}
	defer resp.Body.Close() // only read from
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("fetch %s: the server answered %s", where, resp.Status)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(resp.Body, specificationLimit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("fetch %s: %w", where, err)
	case n > specificationLimit:
		return "", fmt.Errorf("fetch %s: larger than %d bytes", where, specificationLimit)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
