package login

import (
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// TestGreedySignIns: who signs in over and over ends sessions of its own, however long others
// have been idle.
func TestGreedySignIns(t *testing.T) {
	t.Parallel()
	c := Config{Sessions: 8, Idle: quantity.Duration(time.Hour), Life: quantity.Duration(time.Hour)}
	s, now := NewSessions(c), time.Now()
	good, _ := s.Begin(Identity{Subject: "good"}, "viewer", now)
	latest := ""
	for i := range 100 {
		latest, _ = s.Begin(Identity{Subject: "greedy"}, "viewer", now.Add(time.Duration(i+1)*time.Second))
	}
	now = now.Add(2 * time.Minute)
	for who, id := range map[string]string{"good": good, "greedy": latest} {
		if one, ok := s.Find(id, now); !ok || one.Who.Subject != who {
			t.Errorf("the session of %s has ended", who)
		}
	}
	if len(s.all) != c.Sessions {
		t.Errorf("%d sessions, want %d", len(s.all), c.Sessions)
	}
}
