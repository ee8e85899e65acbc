package operator

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Cards are the agents' cards as the console sees them.
type Cards struct {
	// Agents, with their sources of cards and judges.
	Current *snapshot.Current
	// Rulings on cards and their history, kept in the state.
	Book *trust.Book
}

// List implements cards.Cards. Agents are in the order of their ids, so that pages of the
// list are stable. For each there is the ruling on the card that the agent serves now, the
// error of the latest fetch, and the bytes of the card in force, which differ from what the
// agent serves while a changed card waits for a decision.
func (c Cards) List(context.Context) ([]cards.Card, error) {
	s := c.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	list := make([]cards.Card, 0, len(s.Agents))
	for _, id := range slices.Sorted(maps.Keys(s.Agents)) {
		m := s.Agents[id]
		shown := cards.Card{Agent: id, URL: m.Config.Card.URL, Ruling: m.Judge.Status()}
		if err := m.Agent.Source.Err(); err != nil {
			shown.Failure = err.Error()
		}
		if current := m.Agent.Source.Current(); current != nil {
			shown.InForce = current.Raw
		}
		list = append(list, shown)
	}
	return list, nil
}

// View implements cards.Cards. It asks what requests for the card are answered with. Which
// card somebody gets depends on who asks and in which version of A2A: agents and skills
// that a caller may not use are left out (the extended card of A2A 1.0, section 3.1.11, is
// only for callers that are known). The result is nil where there is no such agent.
func (c Cards) View(_ context.Context, agent string, q *cards.Viewed) (*cards.CardView, error) {
	s := c.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	switch m := s.Agents[agent]; {
	case m == nil:
		return nil, nil //nolint:nilnil // there is no such agent
	case m.Agent.Source.Current() == nil:
		return nil, cards.ErrNoCard
	}
	// An operator who names no version wants to see the current one.
	version, ok := wire.ParseVersion(cmp.Or(q.Version, string(wire.V10)))
	if !ok {
		return nil, api.QuestionInvalid{Member: "version", Err: errors.New("want 1.0, 0.3 or 0.1")}
	}
	// Where anonymous calls are permitted, nobody in particular is a caller too, and is
	// asked for as one. Otherwise who stays nil, and the answer is what a stranger gets.
	var who *authn.Principal
	var err error
	if q.Caller != nil || s.Config.Authn.Anonymous {
		if who, err = explain.Identify(q.Caller, &s.Config.Authn, time.Now()); err != nil {
			return nil, api.QuestionInvalid{Member: "caller", Err: err}
		}
	}
	body, form, err := s.Proxy.CardFor(who, agent, version)
	return &cards.CardView{Visible: body != nil, Card: body, Form: string(form), Stranger: who == nil}, err
}

// History implements cards.Cards. Entries are in the order in which the rulings were made.
func (c Cards) History(ctx context.Context, agent string) ([]trust.Entry, error) {
	return c.Book.History(ctx, agent)
}

// Document implements cards.Cards. digest is "sha256:" and hex digits; false says that no
// card of this digest is kept.
func (c Cards) Document(ctx context.Context, agent, digest string) ([]byte, bool, error) {
	return c.Book.Document(ctx, agent, digest)
}

// Approve implements cards.Cards. The card is in force at once here, and on other replicas
// when they next look at the book. false says that nothing of this digest waits for a
// decision.
func (c Cards) Approve(ctx context.Context, agent, digest, by string) (bool, error) {
	return c.decide(ctx, agent, digest, by, c.Book.Approve)
}

// Reject implements cards.Cards. The card in force stays in force.
func (c Cards) Reject(ctx context.Context, agent, digest, by string) (bool, error) {
	return c.decide(ctx, agent, digest, by, c.Book.Reject)
}

// decide writes a decision into the book and has the agent's card judged anew by it. The
// decision names the digest that the operator has seen: should the agent serve yet another
// card by then, nothing waits under this digest, and the operator is told so instead of
// approving what nobody has looked at.
func (c Cards) decide(
	ctx context.Context, agent, digest, by string,
	write func(ctx context.Context, agent, digest, by string) (trust.Entry, error),
) (bool, error) {
	s := c.Current.Acquire()
	if s == nil {
		return false, snapshot.ErrClosed
	}
	defer s.Release()
	m := s.Agents[agent]
	if m == nil {
		return false, nil
	}
	// The book comes first and the judge second: were it the other way round, a replica
	// that restarts in between would know nothing of the decision.
	_, err := write(ctx, agent, digest, by)
	if errors.Is(err, trust.ErrNotWaiting) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m.Rejudge(ctx)
	return true, nil
}
