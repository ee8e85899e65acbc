package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// clock is a cache's, moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// shop is where a cache under test gets tokens from.
type shop struct {
	*clock
	*cache

	asked    int
	lifetime time.Duration
	err      error
}

func newShop(t *testing.T) *shop {
	s := &shop{clock: &clock{at: time.Unix(1_800_000_000, 0)}, cache: newCache(t.Context(), ""), lifetime: 100 * time.Minute}
	s.cache.now = s.clock.now
	return s
}

// want gets a token and then waits until nothing is fetched any more.
func (s *shop) want(t *testing.T, when, token string, asked int) {
	t.Helper()
	got, err := s.get(t.Context(), cacheKey{}, s.ask)
	s.settle()
	if got != token || (err != nil) != (token == "") || s.asked != asked {
		t.Errorf("%s: %q, %v after %d fetches; want %q after %d", when, got, err, s.asked, token, asked)
	}
}

func (s *shop) ask(context.Context) (grant, error) {
	s.asked++
	return grant{token: "t" + strconv.Itoa(s.asked), lifetime: s.lifetime}, s.err
}

func (s *shop) settle() {
	s.cache.mu.Lock()
	var open []*flight
	for _, e := range s.entries {
		if e.flight != nil {
			open = append(open, e.flight)
		}
	}
	s.cache.mu.Unlock()
	for _, f := range open {
		<-f.done
	}
}

// TestTokenLife: a token is replaced in the background, and used to its end while that
// does not work.
func TestTokenLife(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.want(t, "first", "t1", 1)
	s.pass(79 * time.Minute)
	s.want(t, "fresh", "t1", 1)
	s.pass(time.Minute)
	s.want(t, "at four fifths", "t1", 2)
	s.want(t, "behind", "t2", 2)
	s.pass(80 * time.Minute)
	s.err = errors.New("away")
	s.want(t, "the server is away", "t2", 3)
	s.want(t, "at once again", "t2", 3)
	s.pass(pauseFailed)
	s.want(t, "later", "t2", 4)
	s.pass(20*time.Minute - 2*time.Second)
	s.want(t, "in the last moments", "t2", 5)
	s.pass(2 * time.Second)
	s.want(t, "expired", "", 6)
	s.want(t, "expired, at once again", "", 6)
	s.err = nil
	s.pass(pauseFailed)
	s.want(t, "back", "t7", 7)
	s.pass(100*time.Minute - time.Second)
	s.want(t, "in the last moments, and the server is there", "t8", 8)
	// A clock that is set back makes tokens last, one set forward ends them.
	s.pass(-time.Hour)
	s.want(t, "back in time", "t8", 8)
	s.pass(10 * time.Hour)
	s.want(t, "forward in time", "t9", 9)
}

// TestTokenDeclined: who is turned down is not shown with what was good before, but not
// for a mistake of the gateway's.
func TestTokenDeclined(t *testing.T) {
	t.Parallel()
	own := &refusal{http.StatusUnauthorized, "invalid_client"}
	theirs := fmt.Errorf("%w: %w", ErrDeclined, &refusal{http.StatusBadRequest, "invalid_grant"})
	s := newShop(t)
	s.want(t, "first", "t1", 1)
	s.pass(80 * time.Minute)
	s.err = own
	s.want(t, "the gateway is turned down", "t1", 2)
	s.pass(pauseDeclined - time.Second)
	s.want(t, "soon after", "t1", 2)
	s.pass(time.Second)
	s.err = theirs
	s.want(t, "the caller is turned down, found out behind", "t1", 3)
	s.want(t, "then", "", 3)
	s.pass(pauseDeclined - time.Second)
	s.want(t, "remembered", "", 3)
	s.pass(time.Second)
	s.err = nil
	s.want(t, "let in again", "t4", 4)
}

// TestShortLives: none is asked for at every use, but those that end at once.
func TestShortLives(t *testing.T) {
	t.Parallel()
	for lifetime, again := range map[time.Duration]time.Duration{
		0: 0, 4 * time.Second: 0, 8 * time.Second: 3 * time.Second, 20 * time.Second: 10 * time.Second,
		100 * time.Second: 70 * time.Second, 10 * time.Minute: 8 * time.Minute,
	} {
		s := newShop(t)
		s.lifetime = lifetime
		s.want(t, "first", "t1", 1)
		if again > 0 {
			s.pass(again - 1)
			s.want(t, lifetime.String()+" before", "t1", 1)
			s.pass(1)
		}
		_, _ = s.get(t.Context(), cacheKey{}, s.ask)
		if s.settle(); s.asked != 2 {
			t.Errorf("%s: asked %d times", lifetime, s.asked)
		}
	}
}

// TestCacheBound: the least recently used goes first.
func TestCacheBound(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.most = 2
	key := func(n byte) cacheKey { return cacheKey{n} }
	for i, tt := range []struct {
		key   byte
		asked int
	}{{1, 1}, {2, 2}, {1, 2}, {3, 3}, {1, 3}, {2, 4}, {3, 5}} {
		_, err := s.get(t.Context(), key(tt.key), s.ask)
		must(t, err)
		if s.asked != tt.asked || len(s.entries) > 2 || s.recent.Len() != len(s.entries) {
			t.Errorf("step %d: asked %d times, %d entries", i, s.asked, len(s.entries))
		}
	}
}

// TestCacheKeys: no two lists of parts are one key.
func TestCacheKeys(t *testing.T) {
	t.Parallel()
	seen := map[cacheKey]string{}
	for name, p := range map[string]parts{
		"none": nil, "empty": parts{}.add(""), "two empty": parts{}.add("", ""), "ab c": parts{}.add("ab", "c"), "a bc": parts{}.add("a", "bc"),
		"list and part": parts{}.list([]string{"a"}).add("b"), "longer list": parts{}.list([]string{"a", "b"}), "no list": parts{}.list(nil).add("a", "b"),
	} {
		if name == "none" {
			continue
		}
		if other, ok := seen[p.key()]; ok {
			t.Errorf("%s is %s", name, other)
		}
		seen[p.key()] = name
	}
}
