package dpop

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// common is what gateways know together: a state in memory, which counts how often it
// was asked and for how long it was to remember, and may be away.
type common struct {
	*state.Memory

	asked atomic.Int64
	life  atomic.Int64
	away  atomic.Bool
}

var errAway = errors.New("away")

func newCommon(t testing.TB) *common {
	t.Helper()
	s := &common{Memory: state.NewMemory(state.Config{})}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *common) remember(ctx context.Context, id string, life time.Duration) (bool, error) {
	s.asked.Add(1)
	s.life.Store(int64(life))
	if s.away.Load() {
		return false, errAway
	}
	return s.Add(ctx, "dpop", id, nil, life)
}

func (s *common) prover(cfg Config, now func() time.Time) *Prover {
	o := Options{Now: now, Proofs: s.remember}
	return New(cfg, &o, nil)
}

// A proof is good once at all gateways together. What is repeated at one is found out
// there, and when nobody can tell whether it is repeated it is not taken.
func TestDPoPReplayElsewhere(t *testing.T) {
	t.Parallel()
	s := newCommon(t)
	one, other := s.prover(Config{}, nil), s.prover(Config{}, nil)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	take := func(g *Prover, proof, want string) {
		t.Helper()
		err := g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)
		if got := authntest.FaultOf(err); got != want {
			t.Errorf("fault %s, want %s", got, want)
		}
		wantChallenge(t, err)
	}
	proof := authntest.ProofOf(t, nil, nil)
	take(one, proof, "ok")
	take(one, proof, "dpop-replay")
	if n := s.asked.Load(); n != 1 {
		t.Errorf("the others were asked %d times about a proof that was known here", n)
	}
	take(other, proof, "dpop-replay")
	take(other, authntest.ProofOf(t, nil, nil), "ok")

	s.away.Store(true)
	fresh := authntest.ProofOf(t, nil, nil)
	err := one.Check(authntest.ProofRequest(fresh), authntest.ProofCaller, authntest.ProofToken, jkt)
	if !errors.Is(err, authn.ErrUnavailable) || !errors.Is(err, errAway) {
		t.Errorf("with the others away: %v", err)
	}
	s.away.Store(false)
	take(other, fresh, "ok") // it was taken nowhere
}

// Of many who show one proof to several gateways at once, one is let in.
func TestDPoPReplayElsewhereRace(t *testing.T) {
	t.Parallel()
	s := newCommon(t)
	gates := []*Prover{s.prover(Config{}, nil), s.prover(Config{}, nil), s.prover(Config{}, nil)}
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	for range 20 {
		proof := authntest.ProofOf(t, nil, nil)
		var taken atomic.Int64
		var all sync.WaitGroup
		for i := range 9 {
			all.Go(func() {
				if gates[i%3].Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt) == nil {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		if taken.Load() != 1 {
			t.Fatalf("%d taken", taken.Load())
		}
	}
}

// A proof is remembered until no gateway takes it any more, also one whose clock is late
// by a window.
func TestDPoPRememberedLongEnough(t *testing.T) {
	t.Parallel()
	s, c := newCommon(t), authntest.NewClock(time.Now().Truncate(time.Second))
	g := s.prover(Config{Window: secs(10)}, c.Now)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	for _, made := range []time.Duration{-9 * time.Second, 0, 10 * time.Second} {
		proof := authntest.ProofOf(t, nil, map[string]any{"iat": c.Now().Add(made).Unix()})
		if err := g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt); err != nil {
			t.Fatalf("made %v ahead: %v", made, err)
		}
		if got, want := time.Duration(s.life.Load()), made+10*time.Second+10*time.Second; got != want {
			t.Errorf("made %v ahead: remembered for %v, want %v", made, got, want)
		}
	}
}

// Gateways with one secret take each other's nonces, whatever their clocks differ by
// within a stretch of time.
func TestDPoPNonceElsewhere(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	gate := func(secret string, window int, ahead time.Duration) *Prover {
		o := Options{Nonces: []byte(secret), Now: func() time.Time { return at.Add(ahead) }}
		return New(Config{Nonce: true, Window: secs(window)}, &o, nil)
	}
	ours := gate("secret", 60, 0)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	for name, tt := range map[string]struct {
		maker *Prover
		want  string
	}{
		"another gateway":            {gate("secret", 60, 0), "ok"},
		"its clock is ahead":         {gate("secret", 60, time.Minute), "ok"},
		"its clock is late":          {gate("secret", 60, -time.Minute), "ok"},
		"its clock is wrong":         {gate("secret", 60, 2*time.Minute), "dpop-nonce"},
		"somebody else's":            {gate("another", 60, 0), "dpop-nonce"},
		"stretches of another width": {gate("secret", 120, 0), "dpop-nonce"},
	} {
		proof := authntest.ProofOf(t, nil, map[string]any{"nonce": tt.maker.Nonce(), "iat": at.Unix()})
		if got := authntest.FaultOf(ours.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
