package card

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// ErrPending is what Err and Wait report until the first attempt has ended.
var ErrPending = errors.New("agent card not fetched yet")

// Backoff after errors: doubled from the first to the last, never longer than
// the refresh interval.
const (
	firstRetry = time.Second
	lastRetry  = 2 * time.Minute
)

// Judge decides whether a card that was fetched comes into force, and which one does until
// one was, as a trust.Judge does.
type Judge interface {
	Judge(ctx context.Context, card []byte) (trust.Ruling, error)
	Recall(ctx context.Context) (trust.Ruling, error)
}

// Source keeps one agent's card fresh. An agent may be unreachable at first, or
// for a while: the last good card stays current, and so does one in whose place another
// may not come. All methods may be used at once.
type Source struct {
	url     secret.URL
	limits  Limits
	refresh time.Duration
	client  *http.Client
	log     *slog.Logger

	current atomic.Pointer[Card]
	kept    atomic.Pointer[time.Time] // since when current is in force, if it was recalled; else nil
	failure atomic.Pointer[error]     // of the last attempt; nil error inside when it went well
	first   chan struct{}             // closed after the first attempt
	turns   Turns                     // nil: Run does not wait for one
	once    sync.Once

	mu       sync.Mutex // one fetch at a time; guards what follows
	have     validators
	fetched  *Card // the latest, in force or not
	judge    Judge // nil: what was fetched is in force
	onFetch  func(result string)
	onChange []func(*Card)
}

// NewSource prepares a source for a valid cfg. Nothing is fetched before Run or
// Refresh. The client brings TLS, proxies and connection limits; nil means
// a plain one. A nil log discards.
func NewSource(cfg Config, client *http.Client, log *slog.Logger) *Source {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	refresh := cfg.Refresh.Std()
	if refresh <= 0 {
		refresh = defaultRefresh
	}
	s := &Source{
		url: cfg.URL, limits: cfg.Limits, refresh: max(refresh, minRefresh), client: client, log: log,
		first: make(chan struct{}),
	}
	pending := ErrPending
	s.failure.Store(&pending)
	return s
}

// URL is where the card is fetched from, as configured.
func (s *Source) URL() secret.URL { return s.url }

// Current is the last good card, or nil when there was none yet.
func (s *Source) Current() *Card { return s.current.Load() }

// Kept is since when the current card is in force, if it is one that was kept and none was
// fetched yet; false otherwise.
func (s *Source) Kept() (since time.Time, ok bool) {
	if at := s.kept.Load(); at != nil {
		return *at, true
	}
	return time.Time{}, false
}

// Err is the outcome of the last attempt: nil when it went well, ErrPending
// before the first.
func (s *Source) Err() error { return *s.failure.Load() }

// OnChange has f called with every card that differs from the one before it,
// the first included, in the goroutine that fetched it and before anybody else
// fetches. f must not call Refresh.
func (s *Source) OnChange(f func(*Card)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onChange = append(s.onChange, f)
}

// OnFetch has f called after every attempt with "ok", "unchanged" or "error", whichever
// card is then in force.
// Call it before Run.
func (s *Source) OnFetch(f func(result string)) { s.onFetch = f }

// JudgedBy has j decide which card is current. Call it before Run.
func (s *Source) JudgedBy(j Judge) { s.judge = j }

// InTurn has Run fetch only when it is its turn. Call it before Run.
func (s *Source) InTurn(t Turns) { s.turns = t }

// Wait blocks until the first attempt has ended or ctx is done, and returns Err,
// or ctx's error.
func (s *Source) Wait(ctx context.Context) error {
	select {
	case <-s.first:
		return s.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run fetches the card until ctx is done: every refresh interval, and sooner
// after an error, with jitter so that a fleet of gateways does not ask at once.
//
// Until the first was fetched, the card that the judge recalls is current.
func (s *Source) Run(ctx context.Context) {
	s.begin(ctx)
	retry := firstRetry
	for {
		wait := s.refresh
		end, err := s.turns.take(ctx)
		if err != nil {
			return
		}
		err = s.Refresh(ctx)
		end()
		if err != nil {
			wait = min(retry, s.refresh)
			retry = min(2*retry, lastRetry)
		} else {
			retry = firstRetry
		}
		timer := time.NewTimer(jitter(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// jitter spreads d over 90 to 110 percent.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1) //nolint:gosec // spreads load, no secret
}

// Refresh fetches the card now and returns what Err will.
func (s *Source) Refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, have, err := fetch(ctx, s.client, s.url, MaxSize, s.have)
	if ctx.Err() != nil && err != nil {
		return err // we were stopped; that says nothing about the agent
	}
	if err == nil && c != nil {
		if err = s.limits.admit(c); err != nil {
			c, have = nil, s.have // so that it is fetched again, and not found unchanged
			err = fmt.Errorf("fetch card %s: %w", s.url, err)
		}
	}
	s.have = have
	other := err == nil && c != nil && (s.fetched == nil || s.fetched.Digest != c.Digest)
	if other {
		s.fetched = c
	}
	result := outcome(err, other)
	var changed bool
	if err == nil {
		changed, err = s.settle(ctx)
	} else if s.Current() == nil {
		changed, err = s.instead(ctx, err)
	}
	s.settled(err)
	if s.onFetch != nil {
		s.onFetch(result)
	}
	s.once.Do(func() { close(s.first) })
	s.tell(changed)
	return err
}

// Rejudge decides anew about the card that was fetched last, because something that it is
// judged by is another.
func (s *Source) Rejudge(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fetched == nil {
		changed, err := s.recall(ctx) // people may have decided about it
		s.tell(changed)
		return errors.Join(s.Err(), err)
	}
	changed, err := s.settle(ctx)
	if ctx.Err() != nil && err != nil {
		return err
	}
	s.settled(err)
	s.tell(changed)
	return err
}

// settle makes the card current that is in force, and says whether that is another one
// than before. It judges a card each time it was fetched, changed or not: the keys that
// vouch for it, and what people have said of it, may not be the same.
func (s *Source) settle(ctx context.Context) (changed bool, err error) {
	next := s.fetched
	if s.judge != nil {
		if next, err = s.inForce(ctx); err != nil {
			return false, err
		}
	}
	s.kept.Store(nil)
	return s.put(next), nil
}

// put makes a card current, and says whether it is another one than before.
func (s *Source) put(next *Card) (changed bool) {
	if current := s.Current(); next == nil || current != nil && current.Digest == next.Digest {
		return false
	}
	s.current.Store(next)
	return true
}

// inForce asks which card to go by.
func (s *Source) inForce(ctx context.Context) (*Card, error) {
	r, err := s.judge.Judge(ctx, s.fetched.Raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("judge card: %w", err)
	case r.InForce == nil:
		return nil, fmt.Errorf("the card is %s: %s", r.State, r.Why)
	case bytes.Equal(r.InForce, s.fetched.Raw):
		return s.fetched, nil
	}
	return s.parse(r.InForce)
}

// parse reads the card that is in force, which need not be the one that the agent serves now.
func (s *Source) parse(inForce []byte) (*Card, error) {
	c, err := ParseWithin(inForce, s.limits)
	if err != nil {
		return nil, fmt.Errorf("card in force: %w", err)
	}
	c.source = s.url.Reveal()
	return c, nil
}

// settled remembers what came of the last fetch, for who asks, and reports it.
func (s *Source) settled(err error) {
	s.report(err)
	s.failure.Store(&err)
}

// tell tells those who want to know of another card.
func (s *Source) tell(changed bool) {
	if !changed {
		return
	}
	c := s.Current()
	for _, f := range s.onChange {
		f(c)
	}
}

// outcome is the label result of a fetch.
func outcome(err error, changed bool) string {
	switch {
	case err != nil:
		return "error"
	case changed:
		return "ok"
	}
	return "unchanged"
}

// report logs the first failure of a series and its end, not every attempt.
func (s *Source) report(err error) {
	before := s.Err()
	failing := before != nil && !errors.Is(before, ErrPending)
	switch {
	case err != nil && !failing:
		s.log.Warn("agent card unavailable", "error", err, "kept", s.Current() != nil)
		s.keeps()
	case err == nil && failing:
		s.log.Info("agent card available again")
	}
}
