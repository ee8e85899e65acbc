package cards

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"sort"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
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
	// View is an agent's card as a caller gets it; nil where there is no such agent. The
	// error is an api.QuestionInvalid where it is the asker's to mend, and ErrNoCard where no card
	// is in force.
	View(ctx context.Context, agent string, q *Viewed) (*CardView, error)
}

// ErrNoCard is what there is to say of an agent whose card was not fetched yet, or not approved.
var ErrNoCard = errors.New("no card of this agent is in force")

// noCard: what is asked for is not there, or does not wait.
var noCard = api.Code{Name: "NO_SUCH_CARD", Status: http.StatusNotFound}

// Card is what a gateway knows of an agent's card.
type Card struct {
	Agent   string
	URL     secret.URL   // where it is fetched
	Ruling  trust.Ruling // on the card that the agent serves
	Failure string       // of the latest fetch, "" where it went well
	InForce []byte       // nil for none
}

// cardPage is the answer of GET /api/v1/cards.
type cardPage struct {
	Cards []CardSummary `json:"cards"`
	Next  string        `json:"next,omitzero"` // cursor of the next page; "" at the end
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

// Viewed is whose view of a card is asked for.
type Viewed struct {
	Caller  *verdict.Claimed `json:"caller,omitzero" doc:"caller that gets the card; default: a caller without a credential"`
	Version string           `json:"version,omitzero" doc:"version of A2A that the caller requests: 1.0 (default), 0.3 or 0.1"`
}

// CardView is the answer of POST /api/v1/cards/{id}/view.
type CardView struct {
	Visible bool           `json:"visible" doc:"the caller gets a card; if false, the agent does not exist for the caller"`
	Card    jsontext.Value `json:"card,omitzero" doc:"the card as the gateway serves it, except for the order of its members"`
	Form    string         `json:"form,omitzero" doc:"members of the card: mixed, or those of one version of A2A, as in agents[].card.form"`
	// Stranger is a caller whose calls come to nothing, whatever they ask for.
	Stranger bool `json:"stranger" doc:"the caller has no credential, but calls need one"`
}

// screen answers about cards.
type screen struct{ all Cards }

// Screen is that of an agent, of which most is about its card.
func Screen(cards Cards) api.Screen {
	s := &screen{cards}
	return api.Screen{
		Title: "an agent", Page: "/agents/$id",
		Shows: "the state of the agent, the reason for it and the remedy; its instances with latency, calls in flight and ejections, those without calls first, then the slowest; its card, next to the card in force if they differ; approve and reject cards; findings, skills, endpoints, extensions and earlier cards",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/cards", ID: "list-cards", Tag: "cards", Role: api.Viewer,
				Summary: "List the agents' cards and their states", Pages: true, Out: reflect.TypeFor[cardPage](), Answer: s.cards,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/cards/{id}", ID: "get-card", Tag: "cards", Role: api.Viewer,
				Summary: "Show the card that an agent serves, the card in force, and earlier cards", Out: reflect.TypeFor[CardDetail](),
				Errors: []api.Code{api.NoAgent}, Answer: s.card,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/cards/{id}/view", ID: "view-card", Tag: "cards", Role: api.Viewer,
				Summary: "Show an agent's card as a given caller gets it", In: reflect.TypeFor[Viewed](),
				Out: reflect.TypeFor[CardView](), Errors: []api.Code{api.NoAgent, noCard, api.InvalidQuestion}, Answer: s.cardView,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/cards/{id}/approve", ID: "approve-card", Tag: "cards", Role: api.Operator, Writes: true,
				Summary: "Approve a card that waits for approval", Params: whichCard, Out: reflect.TypeFor[api.Changed](),
				Errors: []api.Code{noCard}, Answer: s.approve,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/cards/{id}/reject", ID: "reject-card", Tag: "cards", Role: api.Operator, Writes: true,
				Summary: "Reject a card that waits for approval", Params: whichCard, Out: reflect.TypeFor[api.Changed](),
				Errors: []api.Code{noCard}, Answer: s.reject,
			},
		},
	}
}

func (s *screen) cardView(c *api.Call) (any, error) {
	var q Viewed
	if err := c.Decode(&q, api.InvalidQuestion); err != nil {
		return nil, err
	}
	view, err := s.all.View(c.Context(), c.PathValue("id"), &q)
	switch {
	case errors.Is(err, ErrNoCard):
		return nil, noCard.Refuse(err.Error())
	case err != nil:
		return nil, err
	case view == nil:
		return nil, api.NoAgent.Refuse("there is no such agent")
	}
	return view, nil
}

// whichCard asks for the digest, so that what is approved is what somebody has read and
// not what the agent serves a moment later.
var whichCard = []api.Param{{Name: "digest", Text: "which card to approve or reject, by its digest", Required: true}}

func summary(c *Card) CardSummary {
	r := &c.Ruling
	return CardSummary{
		Agent: c.Agent, State: r.State, Digest: r.Digest, InForce: r.Standing, Seen: r.Seen, Why: r.Why,
		Severity: trust.Worst(r.Changes), Score: r.Score, Failure: c.Failure,
	}
}

func (s *screen) cards(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	list, err := s.all.List(c.Context())
	if err != nil {
		return nil, err
	}
	list = list[sort.Search(len(list), func(i int) bool { return list[i].Agent > after }):]
	page := cardPage{Cards: []CardSummary{}}
	for i := range list[:min(limit, len(list))] {
		page.Cards = append(page.Cards, summary(&list[i]))
	}
	if len(list) > limit {
		page.Next = c.Cursor(list[limit-1].Agent)
	}
	return page, nil
}

func (s *screen) card(c *api.Call) (any, error) {
	agent := c.PathValue("id")
	list, err := s.all.List(c.Context())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(one Card) bool { return one.Agent == agent })
	if i < 0 {
		return nil, api.NoAgent.Refuse("there is no such agent")
	}
	d := CardDetail{CardSummary: summary(&list[i]), URL: list[i].URL.String(), History: []trust.Entry{}}
	history, err := s.all.History(c.Context(), agent)
	if err != nil {
		return nil, err
	}
	d.History = append(d.History, history...)
	served, ok, err := s.all.Document(c.Context(), agent, list[i].Ruling.Digest)
	if err != nil {
		return nil, err
	}
	if ok {
		d.Served = lint.Redact(served)
	}
	d.Standing = lint.Redact(list[i].InForce)
	return d, nil
}

func (s *screen) approve(c *api.Call) (any, error) {
	return s.decide(c, "card.approved", trust.Approved, s.all.Approve)
}

func (s *screen) reject(c *api.Call) (any, error) {
	return s.decide(c, "card.rejected", trust.Rejected, s.all.Reject)
}

func (s *screen) decide(
	c *api.Call, kind string, state trust.State,
	do func(ctx context.Context, agent, digest, by string) (bool, error),
) (any, error) {
	agent, digest := c.PathValue("id"), c.Query.Get("digest")
	missing := noCard.Refuse("no card of this agent and digest waits")
	attrs := map[string]string{"agent": agent, "digest": digest}
	return api.Changed{ID: agent, State: string(state)}, c.Change(kind, attrs, missing, func(ctx context.Context) (bool, error) {
		return do(ctx, agent, digest, c.Caller.Name)
	})
}
