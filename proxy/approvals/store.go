package approvals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// Spaces of the state. What is in them is sealed, but for the index of open calls, which says nothing but
// their ids: one value that cannot be opened any more must not keep others from waiting.
const (
	spaceCalls      = "approvals"            // id: Call
	spaceOpen       = "approvals-open"       // owner/id: of calls that are not over
	spaceVotes      = "approvals-votes"      // id/voter: Vote
	spaceTurns      = "approvals-turns"      // id/agent/n: Turn
	spaceAnswers    = "approvals-answers"    // id/agent: Answer
	spaceOutcomes   = "approvals-outcomes"   // id: Outcome
	spaceRemembered = "approvals-remembered" // rule and what calls have in common: id of the approved call
)

// Refused is the error of a call that may not wait, in words for who has called.
type Refused struct {
	Limit string // its key
	Text  string
}

// Error implements error.
func (r *Refused) Error() string { return r.Text + " (" + r.Limit + ")" }

// What is bounded.
var (
	errCallerFull = &Refused{"policy.approvals.perCaller", "too many of your calls wait for approval"}
	errFull       = &Refused{"policy.approvals.total", "too many calls wait for approval"}
	errTooLong    = &Refused{"policy.approvals.message", "the call is too long to wait for approval"}
)

// TooLong reports whether it is the call itself, and not how many there are.
func (r *Refused) TooLong() bool { return r == errTooLong }

// Store keeps the calls. It is made once for a process, and safe for concurrent use.
type Store struct {
	values state.Values
	index  state.Values
	kept   time.Duration // of calls that were sent: as long as their tasks
	count  func(agent string, becomes standing.State)

	mu      sync.Mutex
	config  approval.Calls
	watches map[string]map[chan struct{}]bool
	open    int       // calls, as far as is known
	counted time.Time // when they were counted
}

// New is a store in values, which seal what is in them, with an index of open calls. What was sent is
// remembered for as long as kept says. count is told of each call what becomes of it: that it waits, how it
// was decided, and that it has failed.
func New(values, index state.Values, kept time.Duration, count func(agent string, becomes standing.State)) *Store {
	return &Store{values: values, index: index, kept: kept, count: count, config: approval.Calls{}.OrDefault(), watches: map[string]map[chan struct{}]bool{}}
}

// Configure puts another configuration in force. Calls that wait already do so on.
func (s *Store) Configure(c approval.Calls) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config = c.OrDefault()
}

// Config is the configuration in force, with its defaults.
func (s *Store) Config() approval.Calls {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// Open gives a call its id, and has it wait. Its errors are a *Refused and those of the state.
func (s *Store) Open(ctx context.Context, c *Call) error {
	c.ID = newID()
	config := s.Config()
	if len(c.Request.Body) > int(config.Message) {
		return errTooLong
	}
	if err := s.room(ctx, c.Caller.Owner, config); err != nil {
		return err
	}
	life := time.Until(c.Expires)
	if err := s.index.Put(ctx, spaceOpen, openKey(c), nil, life+longestSend); err != nil {
		return err
	}
	if err := s.put(ctx, spaceCalls, c.ID, c, life+max(config.Keep.Std(), s.kept)); err != nil {
		return err
	}
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	s.count(c.Agent, standing.Waiting)
	return nil
}

// countFor is how long a count of all open calls is good for. What this process opens meanwhile is added to
// it; what others open is not seen for as long.
const countFor = time.Second

// room reports whether one more call of an owner may wait.
func (s *Store) room(ctx context.Context, owner string, config approval.Calls) error {
	mine := ownerKey(owner)
	list, err := s.index.List(ctx, spaceOpen, mine, config.PerCaller)
	if err != nil {
		return err
	}
	if len(list) == config.PerCaller && strings.HasPrefix(list[len(list)-1].Key, mine) {
		return errCallerFull
	}
	s.mu.Lock()
	known := time.Since(s.counted) < countFor && s.open < config.Total
	s.mu.Unlock()
	if known {
		return nil
	}
	all, err := s.index.List(ctx, spaceOpen, "", config.Total) // reads the keys of all
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.open, s.counted = len(all), time.Now()
	s.mu.Unlock()
	if len(all) == config.Total {
		return errFull
	}
	return nil
}

// mostOpen is more than may wait.
const mostOpen = 200_000

// ownerKey begins the keys of an owner's open calls.
func ownerKey(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:16]) + "/"
}

func openKey(c *Call) string { return ownerKey(c.Caller.Owner) + c.ID }

// Look finds a call; nil where there is none.
func (s *Store) Look(ctx context.Context, id string) (*Status, error) {
	st := new(Status)
	if ok, err := s.get(ctx, spaceCalls, id, &st.Call); err != nil || !ok {
		return nil, err
	}
	votes, err := s.values.List(ctx, spaceVotes, id+"/", mostVotes)
	if err != nil {
		return nil, err
	}
	for _, v := range votes {
		var vote Vote
		if !strings.HasPrefix(v.Key, id+"/") {
			break
		}
		if err := json.Unmarshal(v.Data, &vote); err != nil {
			return nil, fmt.Errorf("read a vote: %w", err)
		}
		st.Votes = append(st.Votes, vote)
	}
	slices.SortFunc(st.Votes, func(a, b Vote) int { return a.At.Compare(b.At) })
	if err := s.hear(ctx, st); err != nil {
		return nil, err
	}
	return st, s.settle(ctx, st)
}

// mostVotes is more than rules may ask for.
const mostVotes = 100

// settle fills in the outcome, also that of a call which nobody has settled.
func (s *Store) settle(ctx context.Context, st *Status) error {
	now := time.Now()
	ok, err := s.get(ctx, spaceOutcomes, st.ID, &st.Outcome)
	switch o := &st.Outcome; {
	case err != nil:
		return err
	case ok && o.State == standing.Sending && now.After(o.Until):
		o.State, o.Why = standing.Lost, "the gateway that sent the call ended before it knew whether the agent has it"
	case ok:
	case st.agreed():
		*o = Outcome{State: standing.Approved, At: st.Votes[len(st.Votes)-1].At}
	case now.After(st.Expires):
		*o = Outcome{State: standing.Expired, At: st.Expires, Why: "nobody has agreed in time"}
	default:
		*o = Outcome{State: standing.Waiting, At: st.Created}
	}
	return nil
}

// Vote writes down that somebody agrees. A second vote of the same person changes nothing.
func (s *Store) Vote(ctx context.Context, c *Call, v Vote) error {
	if _, err := s.add(ctx, spaceVotes, c.ID+"/"+v.key(), v, time.Until(c.Expires)+s.kept); err != nil {
		return err
	}
	s.changed(c.ID)
	return nil
}

// longestSend is how long a call counts as open behind the time that people have for it.
const longestSend = time.Hour

// Decide gives a call its outcome, and reports whether it had none: false is that somebody was faster.
func (s *Store) Decide(ctx context.Context, c *Call, o Outcome) (bool, error) {
	o.At = time.Now()
	first, err := s.add(ctx, spaceOutcomes, c.ID, o, time.Until(c.Expires)+s.kept)
	if err != nil || !first {
		return first, err
	}
	becomes := o.State
	if o.State.Ended() {
		err = s.index.Delete(ctx, spaceOpen, openKey(c))
	} else {
		becomes = standing.Approved
	}
	s.count(c.Agent, becomes)
	s.changed(c.ID)
	return true, err
}

// Settle replaces the outcome of a call that this gateway sends, or has sent.
func (s *Store) Settle(ctx context.Context, c *Call, o Outcome) error {
	o.At = time.Now()
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write an outcome: %w", err)
	}
	if _, err := s.values.Replace(ctx, spaceOutcomes, c.ID, data, s.kept); err != nil {
		return err
	}
	if o.State != standing.Sent {
		s.count(c.Agent, o.State)
	}
	err = s.index.Delete(ctx, spaceOpen, openKey(c))
	s.changed(c.ID)
	return err
}

// Waiting are the calls that wait, and those that are on their way, the oldest first.
func (s *Store) Waiting(ctx context.Context) ([]*Status, error) { return s.list(ctx, "") }

// Own are those of one owner.
func (s *Store) Own(ctx context.Context, owner string) ([]*Status, error) {
	return s.list(ctx, ownerKey(owner))
}

// list are the calls that are not over under keys that begin so.
func (s *Store) list(ctx context.Context, begin string) ([]*Status, error) {
	keys, err := s.index.List(ctx, spaceOpen, begin, mostOpen)
	if err != nil {
		return nil, err
	}
	var list []*Status
	for _, v := range keys {
		if !strings.HasPrefix(v.Key, begin) {
			break
		}
		_, id, _ := strings.Cut(v.Key, "/")
		switch st, err := s.Look(ctx, id); {
		case errors.Is(err, state.ErrUnavailable):
			return nil, err
		case err == nil && st != nil: // else it was sealed with a key that is gone, and its time runs out
			list = append(list, st)
		}
	}
	slices.SortFunc(list, func(a, b *Status) int { return a.Created.Compare(b.Created) })
	return list, nil
}

// Close forgets that a call is open, of which nothing more becomes.
func (s *Store) Close(ctx context.Context, c *Call) error {
	return s.index.Delete(ctx, spaceOpen, openKey(c))
}

// Watch tells of changes of a call that are made in this process, until stop is called. Others are
// seen by looking.
func (s *Store) Watch(id string) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[id] == nil {
		s.watches[id] = map[chan struct{}]bool{}
	}
	s.watches[id][c] = true
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.watches[id], c); len(s.watches[id]) == 0 {
			delete(s.watches, id)
		}
	}
}

// changed tells those who watch.
func (s *Store) changed(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.watches[id] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (s *Store) get(ctx context.Context, space, key string, v any) (bool, error) {
	data, ok, err := s.values.Get(ctx, space, key)
	if err != nil || !ok {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("read what waits for approval: %w", err)
	}
	return true, nil
}

func (s *Store) put(ctx context.Context, space, key string, v any, ttl time.Duration) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write what waits for approval: %w", err)
	}
	return s.values.Put(ctx, space, key, data, ttl)
}

func (s *Store) add(ctx context.Context, space, key string, v any, ttl time.Duration) (bool, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return false, fmt.Errorf("write what waits for approval: %w", err)
	}
	return s.values.Add(ctx, space, key, data, ttl)
}
