package jwt

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Reach fetches the keys of an issuer, and asks it about a token that nobody has where it is
// asked about tokens. The error says why callers could not be known; odd says what else is
// wrong, "" for nothing. egress is the way there.
func Reach(ctx context.Context, is Issuer, egress *tunnel.Proxy) (odd string, err error) {
	o := Options{Egress: egress, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	_, err = newSource(&is, nil, o.Egress, o.Now).keys(ctx)
	if err != nil {
		err = fmt.Errorf("no keys of the issuer: %w", err)
	}
	if is.Introspection == nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, is.Introspection.patience())
	defer cancel()
	_, failed := newIntrospector(ctx, &is, &o).question(ctx, rand.Text())
	switch {
	case failed == nil, isAboutToken(failed): // a token that nobody has may be an odd one
	case err == nil:
		return "", fmt.Errorf("introspection: %w", failed)
	default:
		return "", fmt.Errorf("%w; introspection: %w", err, failed)
	}
	if err != nil { // opaque tokens need none
		return err.Error() + ": only opaque tokens are taken", nil
	}
	return "", nil
}
