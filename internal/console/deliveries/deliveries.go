package deliveries

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
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

// noDelivery: there is none of that id.
var noDelivery = api.Code{Name: "NO_SUCH_DELIVERY", Status: http.StatusNotFound}

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

// screen lists deliveries, and changes them.
type screen struct{ queue Deliveries }

// Screen is that of webhooks.
func Screen(queue Deliveries) api.Screen {
	s := &screen{queue}
	return api.Screen{
		Title: "Push", Page: "/push", Link: true,
		Shows: "waiting push notifications and dead letters; retry and drop them",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/push", ID: "push-depth", Tag: "push", Role: api.Viewer,
				Summary: "Count waiting push notifications and dead letters", Out: reflect.TypeFor[Depth](), Answer: s.depth,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/push/deliveries", ID: "list-deliveries", Tag: "push", Role: api.Viewer,
				Summary: "List waiting push notifications, or dead letters",
				Params:  []api.Param{{Name: "state", Text: "which notifications to list: dead letters (dead) or waiting ones", Required: true, Values: []string{Dead, Waiting}}}, Pages: true,
				Out: reflect.TypeFor[Page](), Answer: s.list,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/push/deliveries/{id}/retry", ID: "retry-delivery", Tag: "push", Role: api.Operator, Writes: true,
				Summary: "Retry a dead letter", Out: reflect.TypeFor[api.Changed](), Errors: []api.Code{noDelivery},
				Answer: s.retry,
			},
			{
				Method: http.MethodDelete, Path: "/api/v1/push/deliveries/{id}", ID: "drop-delivery", Tag: "push", Role: api.Operator, Writes: true,
				Summary: "Drop a push notification", Out: reflect.TypeFor[api.Changed](), Errors: []api.Code{noDelivery}, Answer: s.drop,
			},
		},
	}
}

func (s *screen) depth(c *api.Call) (any, error) {
	d, err := s.queue.Depth(c.Context())
	return Depth{d.Waiting, d.Dead, d.Oldest}, err
}

func (s *screen) list(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	list, err := s.queue.List(c.Context(), c.Query.Get("state") == Dead, after, limit+1) // one more: is there more?
	if err != nil {
		return nil, err
	}
	page := Page{Deliveries: []Delivery{}}
	for i := range list[:min(limit, len(list))] {
		page.Deliveries = append(page.Deliveries, show(&list[i]))
	}
	if len(list) > limit {
		page.Next = c.Cursor(list[limit-1].ID)
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

func (s *screen) retry(c *api.Call) (any, error) {
	id := c.PathValue("id")
	return api.Changed{ID: id, State: Waiting}, s.changeDelivery(c, "push.retry", id, s.queue.Retry)
}

func (s *screen) drop(c *api.Call) (any, error) {
	id := c.PathValue("id")
	return api.Changed{ID: id, State: "dropped"}, s.changeDelivery(c, "push.drop", id, s.queue.Drop)
}

func (s *screen) changeDelivery(c *api.Call, kind, id string, do func(context.Context, string) (bool, error)) error {
	missing := noDelivery.Refuse("there is no such delivery")
	return c.Change(kind, map[string]string{"id": id}, missing, func(ctx context.Context) (bool, error) { return do(ctx, id) })
}
