package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// forget leaves the file alone to say what is.
func (s *Store) forget() {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.young, s.recent.old = nil, nil
}

// What was read is not read again before it is a grain old; then the file says what is.
func TestRecent(t *testing.T) {
	t.Parallel()
	s, at := kept(t, time.Hour)
	r := record(1)
	if _, err := s.Claim(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	found(t, s, r, true)
	err := s.hand(func() error {
		_, err := s.writer.conn.ExecContext(t.Context(), `DELETE FROM records`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found(t, s, r, true)
	at.pass(s.uses.grain)
	found(t, s, r, false)
	r.Owner = "bob"
	if got, err := s.Claim(t.Context(), r); err != nil || got.Owner != "bob" {
		t.Fatalf("claimed for %q, %v", got.Owner, err)
	}
	if got, _, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID); err != nil || got.Owner != "bob" {
		t.Errorf("found one of %q, %v", got.Owner, err)
	}
}

// However many there are, few are remembered, and first those that somebody asks for.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	var c recent
	asked := use{kind: state.Task, agent: "a", id: "asked"}
	c.remember(state.Record{Kind: state.Task, Agent: "a", ID: "asked"}, 7)
	for i := range 5 * mostRecent {
		c.remember(state.Record{Kind: state.Task, Agent: "a", ID: fmt.Sprint(i)}, 1)
		if r, ok := c.find(asked); !ok || r.used != 7 {
			t.Fatalf("after %d others: %+v, %t", i, r, ok)
		}
		if n := len(c.young) + len(c.old); n > 2*mostRecent {
			t.Fatalf("%d are remembered", n)
		}
	}
	if _, ok := c.find(use{kind: state.Task, agent: "a", id: "0"}); ok {
		t.Error("what nobody asked for is still there")
	}
}
