package schemes

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// withKeys is a chain with API keys and these limits, on a clock of its own.
func withKeys(t testing.TB, f failures.Config, now func() time.Time) (*authn.Chain, string) {
	t.Helper()
	k, path := keyStore(t)
	key := create(t, k, apikey.Spec{ID: "bob"})
	return open(t, Config{APIKeys: &apikey.Config{File: path}, Failures: f}, Options{Now: now}), key
}

// A thousand bad keys from an address are throttled, and whoever calls with a good
// one from the same address notices nothing.
func TestL31_BadKeysDisturbNobody(t *testing.T) {
	t.Parallel()
	clock := authntest.NewClock(time.Now())
	c, key := withKeys(t, failures.Config{}, clock.Now)
	refused, throttled := 0, 0
	for i := range 1000 {
		_, err := c.Authenticate(authntest.Request("X-API-Key", "a2a_guess-"+strconv.Itoa(i%7)+"_"+strings.Repeat("x", 43)))
		err = c.Blame("192.0.2.7", err)
		var late *failures.Throttled
		switch {
		case errors.As(err, &late) && errors.Is(err, failures.ErrThrottled):
			throttled++
			if late.After <= 0 || late.After > time.Second {
				t.Fatalf("after %v", late.After)
			}
		case authntest.FaultOf(err) == "unknown-api-key":
			refused++
		default:
			t.Fatalf("guess %d: %v", i, err)
		}
		if _, err := c.Authenticate(authntest.Request("X-API-Key", key)); c.Blame("192.0.2.7", err) != nil {
			t.Fatalf("a good key after %d bad ones: %v", i, err)
		}
	}
	if refused != burst || throttled != 1000-burst {
		t.Errorf("%d refused and %d throttled, want %d and the rest", refused, throttled, burst)
	}
}
