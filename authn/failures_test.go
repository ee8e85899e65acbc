package authn

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// hand is a clock that is set by hand.
type hand struct{ at time.Time }

func setClock(at time.Time) *hand    { return &hand{at} }
func (h *hand) now() time.Time       { return h.at }
func (h *hand) pass(d time.Duration) { h.at = h.at.Add(d) }

// blaming is a chain of no scheme with these limits.
func blaming(f failures.Config, previous *Chain, now func() time.Time) *Chain {
	if now == nil {
		now = time.Now
	}
	return NewChain(Setup{Blame: failures.New(f, previous.Failures()), Now: now, Observe: func(string, string) {}})
}

func TestBlameRefills(t *testing.T) {
	t.Parallel()
	clock := setClock(time.Now())
	c := blaming(failures.Config{PerMinute: 60, Burst: 2}, nil, clock.now)
	bad := Refuse("signature", "the token signature is not valid", nil)
	blame := func(step, source string, want time.Duration) {
		t.Helper()
		got := time.Duration(0)
		var late *failures.Throttled
		if err := c.Blame(source, bad); errors.As(err, &late) {
			got = late.After
			if r := new(Refused); errors.As(err, &r) {
				t.Errorf("%s: the caller could hear why", step)
			}
		}
		if got != want {
			t.Errorf("%s: wait %v, want %v", step, got, want)
		}
	}
	blame("first", "192.0.2.1", 0)
	blame("second", "192.0.2.1", 0)
	blame("third", "192.0.2.1", time.Second)
	blame("fourth, not punished for the third", "192.0.2.1", time.Second)
	blame("the same, mapped into IPv6", "::ffff:192.0.2.1", time.Second)
	blame("a neighbour", "192.0.2.2", 0)
	clock.pass(400 * time.Millisecond)
	blame("too early", "192.0.2.1", 600*time.Millisecond)
	clock.pass(600 * time.Millisecond)
	blame("one more", "192.0.2.1", 0)
	blame("and none", "192.0.2.1", time.Second)
	clock.pass(time.Hour)
	blame("full again", "192.0.2.1", 0)
	blame("but no fuller", "192.0.2.1", 0)
	blame("than before", "192.0.2.1", time.Second)
	clock.pass(-time.Hour)
	blame("clock set back", "192.0.2.1", time.Second)
	clock.pass(time.Second)
	blame("a second later", "192.0.2.1", 0)
	blame("one /64", "2001:db8::1", 0)
	blame("is one", "2001:db8::2%eth0", 0)
	blame("client", "2001:db8:0:0:ffff::", time.Second)
	blame("another /64", "2001:db8:0:1::1", 0)
	blame("no address", "", 0)
	blame("no address either", "unix", 0)
	blame("are counted together", "@", time.Second)
}

// Only credentials that were looked at and turned down count.
func TestBlameCountsRefusalsOnly(t *testing.T) {
	t.Parallel()
	c := blaming(failures.Config{PerMinute: 1, Burst: 1}, nil, nil)
	for _, err := range []error{nil, ErrNoCredentials, ErrAmbiguous, fmt.Errorf("%w: x", ErrUnavailable)} {
		for range 5 {
			if got := c.Blame("192.0.2.1", err); got != err {
				t.Errorf("%v became %v", err, got)
			}
		}
	}
	bad := Refuse("signature", "the token signature is not valid", nil)
	if err := c.Blame("192.0.2.1", bad); errors.Is(err, failures.ErrThrottled) {
		t.Error("what is no refusal was counted")
	}
	off := blaming(failures.Config{PerMinute: -1, Burst: 1}, nil, nil)
	for range 5 {
		if err := off.Blame("192.0.2.1", bad); errors.Is(err, failures.ErrThrottled) {
			t.Error("throttled without a limit")
		}
	}
}

// A reload forgets nobody, unless the limits are others.
func TestBlameAcrossReload(t *testing.T) {
	t.Parallel()
	clock := setClock(time.Now())
	f := failures.Config{PerMinute: 1, Burst: 1}
	bad := Refuse("signature", "the token signature is not valid", nil)
	c := blaming(f, nil, clock.now)
	_ = c.Blame("192.0.2.1", bad)
	same := blaming(f, c, clock.now)
	if err := same.Blame("192.0.2.1", bad); !errors.Is(err, failures.ErrThrottled) {
		t.Errorf("after a reload: %v", err)
	}
	wider := blaming(failures.Config{PerMinute: 1, Burst: 2}, same, clock.now)
	if err := wider.Blame("192.0.2.1", bad); errors.Is(err, failures.ErrThrottled) {
		t.Errorf("with other limits: %v", err)
	}
}

func BenchmarkBlame(b *testing.B) {
	c := blaming(failures.Config{}, nil, nil)
	err := error(Refuse("signature", "the token signature is not valid", nil))
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Blame("192.0.2.1", err)
	}
}
