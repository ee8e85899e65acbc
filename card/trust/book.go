package trust

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Spaces of the state. The values have to be sealed: they say what is inside.
const (
	standingSpace = "cards"          // by agent
	historySpace  = "card-history"   // by agent/digest
	documentSpace = "card-documents" // by agent/digest
	decisionSpace = "card-decisions"
	decisionKey   = "latest"
)

// State says what became of a card.
type State string

// The states.
const (
	Pending     State = "pending"     // none was judged yet
	Accepted    State = "accepted"    // it came into force by itself
	Alerted     State = "alerted"     // so did this one, and somebody should look at it
	Quarantined State = "quarantined" // it waits for a person
	Approved    State = "approved"    // a person had it come into force
	Rejected    State = "rejected"    // a person did not
	Refused     State = "refused"     // signature, digests or collisions do not allow it
)

// States are all of them.
func States() []State {
	return []State{Pending, Accepted, Alerted, Quarantined, Approved, Rejected, Refused}
}

// Standing is the card of an agent that is in force.
// One exists per agent. It is kept for good, so that a gateway which starts while the agent is away
// still has a card to go by.
type Standing struct {
	Digest string    `json:"digest"`
	State  State     `json:"state"`
	At     time.Time `json:"at"`
	By     string    `json:"by,omitzero"`
	Signed bool      `json:"signed,omitzero"` // by a key that was trusted
	Card   []byte    `json:"card"`
}

// Entry is a card that was seen.
type Entry struct {
	Digest    string         `json:"digest"`
	State     State          `json:"state"`
	Seen      time.Time      `json:"seen"`              // when it became what State says, by itself
	Why       string         `json:"why,omitzero"`      // it waits or was refused
	Against   string         `json:"against,omitzero"`  // digest of the card that Changes count from
	Changes   []Change       `json:"changes,omitempty"` // since that card
	Findings  []lint.Finding `json:"findings,omitempty"`
	Score     int            `json:"score"`              // of the findings
	Signature string         `json:"signature,omitzero"` // who signed it, or why that does not count
	Signed    bool           `json:"signed,omitzero"`    // by a trusted key
	By        string         `json:"by,omitzero"`        // who approved or rejected it
	Decided   time.Time      `json:"decided,omitzero"`   // when
}

// ErrNotWaiting means that there is no card of that digest which waits for a person.
var ErrNotWaiting = errors.New("no such card waits")

// Book is the record of agents' cards. It is safe for concurrent use, by replicas too.
// It keeps JSON values in the shared state under these spaces, by the agent's id:
//
//	cards           agent          the card in force, with its document
//	card-history    agent/digest   what became of a card
//	card-documents  agent/digest   the card itself, for as long as its entry
//	card-decisions  latest         a word that changes with each decision of a person
type Book struct {
	values state.Values
	now    func() time.Time
}

// NewBook makes the record that is in values.
func NewBook(values state.Values) *Book { return &Book{values: values, now: time.Now} }

// Standing is the card of an agent that is in force; false for none.
func (b *Book) Standing(ctx context.Context, agent string) (Standing, bool, error) {
	var s Standing
	ok, err := b.get(ctx, standingSpace, agent, &s)
	return s, ok, err
}

// Entry is what is remembered of a card; false for nothing.
func (b *Book) Entry(ctx context.Context, agent, digest string) (Entry, bool, error) {
	var e Entry
	ok, err := b.get(ctx, historySpace, place(agent, digest), &e)
	return e, ok, err
}

// Document is a card that is remembered.
func (b *Book) Document(ctx context.Context, agent, digest string) ([]byte, bool, error) {
	doc, ok, err := b.values.Get(ctx, documentSpace, place(agent, digest))
	if err != nil {
		return nil, false, fmt.Errorf("read card: %w", err)
	}
	return doc, ok, nil
}

// History are the cards of an agent that are remembered, the latest first.
func (b *Book) History(ctx context.Context, agent string) ([]Entry, error) {
	const page = 8 // most agents have a card or two, and each entry read costs its unsealing
	var all []Entry
	prefix := place(agent, "")
	for after := prefix; ; {
		list, err := b.values.List(ctx, historySpace, after, page)
		if err != nil {
			return nil, fmt.Errorf("list cards: %w", err)
		}
		for i := range list {
			if !strings.HasPrefix(list[i].Key, prefix) {
				return latestFirst(all), nil
			}
			var e Entry
			if err := json.Unmarshal(list[i].Data, &e); err != nil {
				return nil, fmt.Errorf("list cards: %w", err)
			}
			all, after = append(all, e), list[i].Key
		}
		if len(list) < page {
			return latestFirst(all), nil
		}
	}
}

// latestFirst orders entries for people. Those of one moment are in the order of their digests, so
// that every replica shows the same.
func latestFirst(all []Entry) []Entry {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(a.Digest, b.Digest))
	})
	return all
}

// Approve has a card that waits, or that was alerted, come into force: by is who says so.
// The error wraps ErrNotWaiting where there is none of that digest.
// The gateway, and every replica, acts by it when it asks for Decisions next.
func (b *Book) Approve(ctx context.Context, agent, digest, by string) (Entry, error) {
	e, doc, err := b.waiting(ctx, agent, digest, Quarantined, Rejected, Alerted)
	if err != nil {
		return e, err
	}
	e.State, e.By, e.Decided = Approved, by, b.now().UTC()
	if err := b.stand(ctx, agent, Standing{digest, Approved, e.Decided, by, e.Signed, doc}); err != nil {
		return e, err
	}
	return e, b.decide(ctx, agent, e)
}

// Reject says that a card that waits is not wanted. It is like Approve otherwise.
func (b *Book) Reject(ctx context.Context, agent, digest, by string) (Entry, error) {
	e, _, err := b.waiting(ctx, agent, digest, Quarantined)
	if err != nil {
		return e, err
	}
	e.State, e.By, e.Decided = Rejected, by, b.now().UTC()
	return e, b.decide(ctx, agent, e)
}

// Decisions is a word that is another one after each decision of a person, for those who
// have to judge again then.
func (b *Book) Decisions(ctx context.Context) (string, error) {
	word, _, err := b.values.Get(ctx, decisionSpace, decisionKey)
	if err != nil {
		return "", fmt.Errorf("read decisions: %w", err)
	}
	return string(word), nil
}

// waiting finds a card that somebody decides about, if it is in one of the states in which there is
// something to be decided and its document is still kept.
func (b *Book) waiting(ctx context.Context, agent, digest string, states ...State) (Entry, []byte, error) {
	e, ok, err := b.Entry(ctx, agent, digest)
	if err != nil {
		return e, nil, err
	}
	doc, kept, err := b.Document(ctx, agent, digest)
	if err == nil && (!ok || !kept || !slices.Contains(states, e.State)) {
		err = ErrNotWaiting
	}
	return e, doc, err
}

// decide writes what a person said. What was remembered for a while goes on to be.
func (b *Book) decide(ctx context.Context, agent string, e Entry) error {
	if err := b.put(ctx, historySpace, place(agent, e.Digest), e, defaultKeep); err != nil {
		return err
	}
	if err := b.values.Put(ctx, decisionSpace, decisionKey, []byte(rand.Text()), 0); err != nil {
		return fmt.Errorf("write decision: %w", err)
	}
	return nil
}

// stand has a card be the one in force. It stays so for good: how long entries are kept says nothing
// of the card that calls go by.
func (b *Book) stand(ctx context.Context, agent string, s Standing) error {
	return b.put(ctx, standingSpace, agent, s, 0)
}

// first stands a card unless one stands already, and returns the one that does.
// Two replicas that see two first cards at one moment agree on the one that was written first.
func (b *Book) first(ctx context.Context, agent string, s Standing) (Standing, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return s, fmt.Errorf("write card: %w", err)
	}
	added, err := b.values.Add(ctx, standingSpace, agent, data, 0)
	if err != nil {
		return s, fmt.Errorf("write card: %w", err)
	}
	if added {
		return s, nil
	}
	other, ok, err := b.Standing(ctx, agent)
	if err != nil || !ok {
		return s, err
	}
	return other, nil
}

// remember writes down a card that was seen, and forgets the oldest beyond count.
// The document has a key of its own, so that listing a history does not read every card.
func (b *Book) remember(ctx context.Context, agent string, e Entry, doc []byte, count int, keep time.Duration) error {
	if err := b.values.Put(ctx, documentSpace, place(agent, e.Digest), doc, keep); err != nil {
		return fmt.Errorf("write card: %w", err)
	}
	if err := b.put(ctx, historySpace, place(agent, e.Digest), e, keep); err != nil {
		return err
	}
	all, err := b.History(ctx, agent)
	if err != nil {
		return err
	}
	for i := count; i < len(all); i++ {
		for _, space := range [...]string{historySpace, documentSpace} {
			if err := b.values.Delete(ctx, space, place(agent, all[i].Digest)); err != nil {
				return fmt.Errorf("forget card: %w", err)
			}
		}
	}
	return nil
}

// put writes to the state, as JSON.
// keep is how long the state holds it; 0 for ever.
func (b *Book) put(ctx context.Context, space, key string, v any, keep time.Duration) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = b.values.Put(ctx, space, key, data, keep)
	}
	if err != nil {
		return fmt.Errorf("write card: %w", err)
	}
	return nil
}

// get reads from the state, and reports whether there was anything.
func (b *Book) get(ctx context.Context, space, key string, v any) (bool, error) {
	data, ok, err := b.values.Get(ctx, space, key)
	if err == nil && ok {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("read card: %w", err)
	}
	return ok, nil
}

// place is a key. Ids of agents have no slash.
func place(agent, digest string) string { return agent + "/" + digest }
