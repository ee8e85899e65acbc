package console

import (
	"context"
	"net/http"
	"reflect"
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
	Next       string     `json:"next,omitzero"` // cursor of the next page; "" at the end
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

// deliveryOperations are those about webhooks.
var deliveryOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/push", id: "push-depth", tag: "push", role: Viewer,
		summary: "How many webhooks wait and were given up", out: reflect.TypeFor[Depth](), answer: (*Console).depth,
	},
	{
		method: http.MethodGet, path: "/api/v1/push/deliveries", id: "list-deliveries", tag: "push", role: Viewer,
		summary: "Webhooks that wait, or those that were given up",
		params:  pages(param{name: "state", text: "which are meant", required: true, values: []string{Dead, Waiting}}),
		out:     reflect.TypeFor[Page](), answer: (*Console).list,
	},
	{
		method: http.MethodPost, path: "/api/v1/push/deliveries/{id}/retry", id: "retry-delivery", tag: "push", role: Operator, writes: true,
		summary: "Try one that was given up again", out: reflect.TypeFor[Changed](), errors: []string{codeNoDelivery},
		answer: (*Console).retry,
	},
	{
		method: http.MethodDelete, path: "/api/v1/push/deliveries/{id}", id: "drop-delivery", tag: "push", role: Operator, writes: true,
		summary: "Forget one", out: reflect.TypeFor[Changed](), errors: []string{codeNoDelivery}, answer: (*Console).drop,
	},
}

func (s *Console) depth(c *call) (any, error) {
	d, err := s.Deliveries.Depth(c.Context())
	return Depth{d.Waiting, d.Dead, d.Oldest}, err
}

func (s *Console) list(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	list, err := s.Deliveries.List(c.Context(), c.query.Get("state") == Dead, after, limit+1) // one more: is there more?
	if err != nil {
		return nil, err
	}
	page := Page{Deliveries: []Delivery{}}
	for i := range list[:min(limit, len(list))] {
		page.Deliveries = append(page.Deliveries, show(&list[i]))
	}
	if len(list) > limit {
		page.Next = cursor(list[limit-1].ID)
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

// Changed is the answer to a change: what has become of what.
type Changed struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

func (s *Console) retry(c *call) (any, error) {
	id := c.PathValue("id")
	return Changed{id, Waiting}, s.changeDelivery(c, "push.retry", id, s.Deliveries.Retry)
}

func (s *Console) drop(c *call) (any, error) {
	id := c.PathValue("id")
	return Changed{id, "dropped"}, s.changeDelivery(c, "push.drop", id, s.Deliveries.Drop)
}

func (s *Console) changeDelivery(c *call, kind, id string, do func(context.Context, string) (bool, error)) error {
	missing := refuse(codeNoDelivery, "there is no such delivery")
	return s.change(c, kind, map[string]string{"id": id}, missing, func(ctx context.Context) (bool, error) { return do(ctx, id) })
}
