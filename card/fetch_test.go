package card_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2a-gateway/a2a-gateway/card"
)

// silent is a server that never answers.
type silent struct{}

// RoundTrip implements http.RoundTripper.
func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestFetchLate: a server that does not answer is said not to have, and is a timeout to callers.
func TestFetchLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := card.Fetch(t.Context(), &http.Client{Transport: silent{}}, "http://127.0.0.1/card", 0)
		if err == nil || !strings.HasSuffix(err.Error(), ": it did not answer within 10s") {
			t.Errorf("%v", err)
		}
		var late interface{ Timeout() bool }
		if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is no timeout", err)
		}
	})
}
