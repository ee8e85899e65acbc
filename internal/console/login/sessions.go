package login

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// Session is somebody who has signed in.
type Session struct {
	Who     Identity
	Role    string
	CSRF    string    // what changes have to show beside the cookie
	Expires time.Time // at the latest
}

// Sessions are in memory: they end with the process. They are known by the digest of their
// ids, so that nobody who sees the memory's copies, such as a profile, has one.
type Sessions struct {
	config Config

	mu  sync.Mutex
	all map[[sha256.Size]byte]*live
}

// live is a session and when it was last used, by which it ends for being idle.
type live struct {
	Session

	used time.Time
}

// NewSessions keeps sessions as c says.
func NewSessions(c Config) *Sessions { return &Sessions{config: c, all: map[[sha256.Size]byte]*live{}} }

// Begin makes a session for who, with a new id, which is not kept.
func (s *Sessions) Begin(who Identity, role string, now time.Time) (id string, made Session) {
	id = rand.Text() + rand.Text() // 260 bits
	made = Session{Who: who, Role: role, CSRF: rand.Text(), Expires: now.Add(s.config.Life.Std())}
	if !who.Until.IsZero() && who.Until.Before(made.Expires) {
		made.Expires = who.Until
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= s.config.Sessions {
		s.makeRoom(now)
	}
	s.all[sha256.Sum256([]byte(id))] = &live{made, now}
	return id, made
}

// makeRoom forgets those that have ended, and if there is none the one that was idle for
// longest of who has most: nobody is signed out by somebody who signs in over and over.
func (s *Sessions) makeRoom(now time.Time) {
	has := map[string]int{}
	for key, one := range s.all {
		if s.ended(one, now) {
			delete(s.all, key)
		} else {
			has[one.Who.Subject]++
		}
	}
	if len(s.all) < s.config.Sessions {
		return
	}
	var oldest [sha256.Size]byte
	var first *live
	for key, one := range s.all {
		if first != nil {
			more := has[one.Who.Subject] - has[first.Who.Subject]
			if more < 0 || more == 0 && !one.used.Before(first.used) {
				continue
			}
		}
		oldest, first = key, one
	}
	delete(s.all, oldest)
}

// ended reports whether a session has reached its end, or was not used for too long.
// Sessions are not swept: they are looked at when they are asked for, or when there is no
// more room.
func (s *Sessions) ended(one *live, now time.Time) bool {
	return !now.Before(one.Expires) || now.Sub(one.used) >= s.config.Idle.Std()
}

// Find is the session of an id, which is used by that; false where it has ended. The result
// is a copy: no session follows what is done to it.
func (s *Sessions) Find(id string, now time.Time) (Session, bool) {
	key := sha256.Sum256([]byte(id))
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[key]
	if !ok {
		return Session{}, false
	}
	if s.ended(one, now) {
		delete(s.all, key)
		return Session{}, false
	}
	one.used = now
	return one.Session, true
}

// End ends the session of an id, if there is one.
func (s *Sessions) End(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(id)))
}
