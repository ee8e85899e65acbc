package admit_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestL31_GuessingDisturbsNobody: whoever guesses credentials is told to wait, in every
// version and binding and whatever the guesses are; a caller with a good one, at the
// same address and at the same time, notices nothing.
func TestL31_GuessingDisturbsNobody(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(s *proxytest.Setup) { s.Authn.Failures.PerMinute, s.Authn.Failures.Burst = 1, 20 })
	guesses := func(i int) func(string) []string {
		return func(address string) []string {
			switch i % 3 {
			case 0:
				return []string{fmt.Sprintf("X-Api-Key: a2a_x_%d", i)}
			case 1:
				return g.bearer("alice", map[string]any{"aud": strconv.Itoa(i)})
			}
			return bound("DPoP", nil)(g, address)
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		throttled := 0
		for i := range 1000 {
			switch got := g.send(proxytest.RPC10, guesses(i)); got.Status {
			case 429:
				throttled++
			case 401:
			default:
				t.Errorf("guess %d: %d %s", i, got.Status, got.Body)
			}
		}
		if throttled < 900 {
			t.Errorf("%d of 1000 guesses were throttled", throttled)
		}
	})
	both.Go(func() {
		for i := range 200 {
			g.send(proxytest.Sides[i%len(proxytest.Sides)], func(string) []string { return []string{"X-Api-Key: " + g.Keys["alice"]} }).OK(t, "a good key")
		}
	})
	both.Wait()
	g.Agent.Take()
	for i, s := range proxytest.Sides {
		got := g.send(s, guesses(i))
		if s != proxytest.GRPC03 {
			got.Refused(t, s.String(), wire.RateLimited)
		}
		g.checkForm(t, s.String(), s, wire.RateLimited, got)
		if after, err := strconv.Atoi(one(got.Header["Retry-After"])); err != nil || after < 1 || after > 60 {
			t.Errorf("%s: Retry-After %v", s, got.Header)
		}
		if len(challenges(t, got.Header)) > 0 {
			t.Errorf("%s: a challenge tells that one may go on: %v", s, got.Header)
		}
	}
	// What is no guess is answered as ever.
	if got := g.send(proxytest.RPC10, func(string) []string { return nil }); got.Status != 401 {
		t.Errorf("nothing shown: %d %s", got.Status, got.Body)
	}
	if got := g.Do("", "GET", "/.well-known/agent-card.json", ""); got.Status != 200 {
		t.Errorf("the card: %d %s", got.Status, got.Body)
	}
	g.Agent.Silent(t, "guesses")
}

// TestL31_WhoIsBlamed: behind trusted proxies it is the client's address that counts,
// and whatever else a client writes about itself it cannot pass for another.
func TestL31_WhoIsBlamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		proxy  string // trusted
		first  string // X-Forwarded-For that guesses come with
		second string
		shared bool // both are one client
	}{
		{"two clients", "127.0.0.0/8", "192.0.2.1", "192.0.2.2", false},
		{"one client", "127.0.0.0/8", "192.0.2.1", "192.0.2.1", true},
		{"who writes of others", "127.0.0.0/8", "198.51.100.7, 192.0.2.1", "198.51.100.8, 192.0.2.1", true},
		{"one network of IPv6", "127.0.0.0/8", "2001:db8::1", "2001:db8::ffff:2", true},
		{"two networks of IPv6", "127.0.0.0/8", "2001:db8::1", "2001:db8:0:1::1", false},
		{"no proxy is trusted", "192.0.2.0/24", "192.0.2.1", "192.0.2.2", true},
	} {
		g := newGate(t, func(s *proxytest.Setup) {
			s.Authn.Failures.PerMinute, s.Authn.Failures.Burst = 1, 5
			s.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(tt.proxy)}
		})
		guess := func(from string) int {
			return g.send(proxytest.RPC10, func(string) []string { return []string{"X-Api-Key: a2a_x_y", "X-Forwarded-For: " + from} }).Status
		}
		for range 10 {
			guess(tt.first)
		}
		if got := guess(tt.first); got != 429 {
			t.Errorf("%s: the first is answered %d", tt.name, got)
		}
		if want := map[bool]int{true: 429, false: 401}[tt.shared]; guess(tt.second) != want {
			t.Errorf("%s: the second is not answered %d", tt.name, want)
		}
		g.send(proxytest.RPC10, func(string) []string {
			return []string{"X-Api-Key: " + g.Keys["alice"], "X-Forwarded-For: " + tt.first}
		}).OK(t, tt.name)
	}
}
