package card

import (
	"context"
	"fmt"
	"time"
)

// Follow has s begin with the current card of another source of the same URL, whose cards
// were judged by the same rules. Call it before Run.
func (s *Source) Follow(old *Source) {
	c := old.Current()
	if c == nil || s.limits.admit(c) != nil {
		return
	}
	s.current.Store(c)
	if since, ok := old.Kept(); ok {
		s.kept.Store(&since)
	}
}

// begin has the card that was kept come into force before the first is fetched: calls do not
// wait for one that may not come. What is wrong with it is said once the fetch has failed.
func (s *Source) begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, _ := s.recall(ctx)
	s.tell(changed)
}

// instead recalls the card that was kept, for an attempt that has failed. It returns the
// attempt's error, with what is wrong with the card that was kept.
func (s *Source) instead(ctx context.Context, failed error) (changed bool, err error) {
	changed, err = s.recall(ctx)
	if err != nil {
		return false, fmt.Errorf("%w; the card that was kept is not used: %w", failed, err)
	}
	return changed, failed
}

// recall makes the card current that the judge recalls, if none was fetched. The error says
// why the card that was kept cannot be used; there may be none.
func (s *Source) recall(ctx context.Context) (changed bool, err error) {
	if s.judge == nil || s.fetched != nil {
		return false, nil
	}
	r, err := s.judge.Recall(ctx)
	switch {
	case err != nil:
		return false, fmt.Errorf("judge card: %w", err)
	case r.InForce == nil && r.State == "":
		return false, nil // there is none
	case r.InForce == nil:
		s.current.Store(nil)
		s.kept.Store(nil)
		return false, fmt.Errorf("it is %s: %s", r.State, r.Why)
	}
	c, err := s.parse(r.InForce)
	if err != nil {
		return false, err
	}
	s.kept.Store(&r.Since)
	return s.put(c), nil
}

// keeps logs that calls go by a card that was kept, since none can be fetched.
func (s *Source) keeps() {
	if since, ok := s.Kept(); ok {
		s.log.Info("agent card that was kept is in force", "since", since, "for", time.Since(since).Round(time.Second).String())
	}
}
