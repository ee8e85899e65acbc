package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// Deliveries are the webhooks that wait, and those that were given up.
type Deliveries interface {
	// List has at most limit of them, by the bytes of their ids, behind the id after; only
	// those given up, or only those that wait.
	List(ctx context.Context, dead bool, after string, limit int) ([]push.Shown, error)
	// Depth counts.
	Depth(ctx context.Context) (state.Depth, error)
	// Retry has one that was given up wait anew; false where there is none of that id.
	Retry(ctx context.Context, id string) (bool, error)
	// Drop forgets one, given up or not; false where there is none of that id.
	Drop(ctx context.Context, id string) (bool, error)
}

// States of a delivery.
const (
	Dead    = "dead"    // given up
	Waiting = "waiting" // to be delivered
)

// Depth is the answer of GET /api/v1/push.
type Depth struct {
	Waiting int64     `json:"waiting"`
	Dead    int64     `json:"dead"`
	Oldest  time.Time `json:"oldest,omitzero"` // when the oldest that waits was taken in
}

// Page is the answer of GET /api/v1/push/deliveries.
type Page struct {
	Deliveries []Delivery `json:"deliveries"`
	Next       string     `json:"next,omitzero"` // what to ask for as after; "" at the end
}

// Delivery is one notification for a webhook. It is all that the API says of one.
type Delivery struct {
	ID       string    `json:"id"`
	State    string    `json:"state"`
	Agent    string    `json:"agent,omitzero"`
	Task     string    `json:"task,omitzero"`
	Config   string    `json:"config,omitzero"`
	Owner    string    `json:"owner,omitzero"`
	Target   string    `json:"target,omitzero"` // scheme, host and port
	Attempts int       `json:"attempts"`
	Created  time.Time `json:"created"`
	Due      time.Time `json:"due,omitzero"` // of one that waits
	Failure  string    `json:"failure,omitzero"`
	Sealed   bool      `json:"sealed,omitzero"` // with a key that is gone: nobody can deliver it
}

const (
	usualPage   = 100
	longestPage = 1000
)

func (s *Console) depth(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	d, err := s.Deliveries.Depth(r.Context())
	return Depth{d.Waiting, d.Dead, d.Oldest}, err
}

func (s *Console) list(r *http.Request) (any, error) {
	q, err := query(r, "state", "after", "limit")
	if err != nil {
		return nil, err
	}
	which := q.Get("state")
	if which != Dead && which != Waiting {
		return nil, parameter("state must be dead or waiting")
	}
	limit := usualPage
	if q.Has("limit") {
		if limit, err = strconv.Atoi(q.Get("limit")); err != nil || limit < 1 || limit > longestPage {
			return nil, parameter("limit must be a number from 1 to 1000")
		}
	}
	list, err := s.Deliveries.List(r.Context(), which == Dead, q.Get("after"), limit+1) // one more: is there more?
	if err != nil {
		return nil, err
	}
	page := Page{Deliveries: []Delivery{}}
	for i := range list[:min(limit, len(list))] {
		page.Deliveries = append(page.Deliveries, show(&list[i]))
	}
	if len(list) > limit {
		page.Next = list[limit-1].ID
	}
	return page, nil
}

func show(s *push.Shown) Delivery {
	d := Delivery{
		ID: s.ID, State: Waiting, Agent: s.Agent, Task: s.Task, Config: s.Config, Owner: s.Owner, Target: s.Target,
		Attempts: s.Attempts, Created: s.Created, Due: s.Due, Failure: s.Failure, Sealed: s.Sealed,
	}
	if s.Dead {
		d.State, d.Due = Dead, time.Time{}
	}
	return d
}

// changed is the answer to a change.
type changed struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

func (s *Console) retry(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return changed{id, Waiting}, s.changeDelivery(r, "push.retry", id, s.Deliveries.Retry)
}

func (s *Console) drop(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return changed{id, "dropped"}, s.changeDelivery(r, "push.drop", id, s.Deliveries.Drop)
}

func (s *Console) changeDelivery(r *http.Request, kind, id string, do func(context.Context, string) (bool, error)) error {
	missing := refuse(http.StatusNotFound, "NO_SUCH_DELIVERY", "there is no such delivery")
	return s.change(r, kind, map[string]string{"id": id}, missing, func(ctx context.Context) (bool, error) { return do(ctx, id) })
}

// query reads the parameters, each of which is known and there once: what is misspelt
// must not be a wider question than was meant.
func query(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, parameter("the query is malformed")
	}
	asked := 0
	for _, name := range known {
		if len(q[name]) > 1 {
			return nil, parameter(name + " is there more than once")
		}
		asked += len(q[name])
	}
	if asked != len(q) {
		return nil, parameter("the query holds an unknown parameter")
	}
	return q, nil
}

func parameter(message string) error {
	return refuse(http.StatusBadRequest, "INVALID_PARAMETER", message)
}
