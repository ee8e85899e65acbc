package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/proxy/card/lint"
	"github.com/a2a-gateway/a2a-gateway/proxy/card/trust"
)

// Cards are the agents' cards, and what becomes of those that have changed.
type Cards interface {
	// List has the agents of the configuration in force, by their ids.
	List(ctx context.Context) ([]Card, error)
	// History has the cards of an agent that were seen, the latest first.
	History(ctx context.Context, agent string) ([]trust.Entry, error)
	// Document is one of them; false where it is not kept.
	Document(ctx context.Context, agent, digest string) ([]byte, bool, error)
	// Approve has one come into force, and Reject keeps one from it; by is who says so.
	// False where there is no such agent, or none of that digest waits.
	Approve(ctx context.Context, agent, digest, by string) (bool, error)
	Reject(ctx context.Context, agent, digest, by string) (bool, error)
}

// Card is what a gateway knows of an agent's card.
type Card struct {
	Agent   string
	URL     string       // where it is fetched
	Ruling  trust.Ruling // on the card that the agent serves
	Failure string       // of the latest fetch, "" where it went well
	InForce []byte       // nil for none
}

// CardPage is the answer of GET /api/v1/cards.
type CardPage struct {
	Cards []CardSummary `json:"cards"`
}

// CardSummary says in short what becomes of an agent's card.
type CardSummary struct {
	Agent    string         `json:"agent"`
	State    trust.State    `json:"state"`
	Digest   string         `json:"digest,omitzero"`  // of the card that the agent serves
	InForce  string         `json:"inForce,omitzero"` // digest of the card that is in force
	Seen     time.Time      `json:"seen,omitzero"`
	Why      string         `json:"why,omitzero"`
	Severity trust.Severity `json:"severity,omitzero"` // of the changes
	Score    int            `json:"score"`             // of what lint finds
	Failure  string         `json:"failure,omitzero"`  // of the latest fetch
}

// CardDetail is the answer of GET /api/v1/cards/{agent}.
type CardDetail struct {
	CardSummary

	URL     string        `json:"url"`
	History []trust.Entry `json:"history"`

	// Served and Standing are the card that the agent serves, as far as it is kept, and the
	// one in force: without what looks like a secret.
	Served   jsontext.Value `json:"served,omitzero"`
	Standing jsontext.Value `json:"standing,omitzero"`
}

func summary(c *Card) CardSummary {
	r := &c.Ruling
	return CardSummary{
		Agent: c.Agent, State: r.State, Digest: r.Digest, InForce: r.Standing, Seen: r.Seen, Why: r.Why,
		Severity: trust.Worst(r.Changes), Score: r.Score, Failure: c.Failure,
	}
}

func (s *Console) cards(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	list, err := s.Cards.List(r.Context())
	if err != nil {
		return nil, err
	}
	page := CardPage{Cards: []CardSummary{}}
	for i := range list {
		page.Cards = append(page.Cards, summary(&list[i]))
	}
	return page, nil
}

func (s *Console) card(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	agent := r.PathValue("id")
	list, err := s.Cards.List(r.Context())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(c Card) bool { return c.Agent == agent })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, "NO_SUCH_AGENT", "there is no such agent")
	}
	d := CardDetail{CardSummary: summary(&list[i]), URL: withoutUser(list[i].URL), History: []trust.Entry{}}
	history, err := s.Cards.History(r.Context(), agent)
	if err != nil {
		return nil, err
	}
	d.History = append(d.History, history...)
	served, ok, err := s.Cards.Document(r.Context(), agent, list[i].Ruling.Digest)
	if err != nil {
		return nil, err
	}
	if ok {
		d.Served = lint.Redact(served)
	}
	d.Standing = lint.Redact(list[i].InForce)
	return d, nil
}

func (s *Console) approve(r *http.Request) (any, error) {
	return s.decide(r, "card.approved", trust.Approved, s.Cards.Approve)
}

func (s *Console) reject(r *http.Request) (any, error) {
	return s.decide(r, "card.rejected", trust.Rejected, s.Cards.Reject)
}

// decide asks for the digest, so that what is approved is what somebody has read and not
// what the agent serves a moment later.
func (s *Console) decide(
	r *http.Request, kind string, state trust.State,
	do func(ctx context.Context, agent, digest, by string) (bool, error),
) (any, error) {
	q, err := query(r, "digest")
	if err != nil {
		return nil, err
	}
	agent, digest := r.PathValue("id"), q.Get("digest")
	if digest == "" {
		return nil, parameter("digest is missing: it says which card is meant")
	}
	missing := refuse(http.StatusNotFound, "NO_SUCH_CARD", "no card of this agent and digest waits")
	attrs := map[string]string{"agent": agent, "digest": digest}
	return changed{agent, string(state)}, s.change(r, kind, attrs, missing, func(ctx context.Context) (bool, error) {
		return do(ctx, agent, digest, adminToken)
	})
}

// withoutUser is a URL of the configuration without who shows it which password.
func withoutUser(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}
