package contents

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Contents are what was captured of calls. What it says is not shown here: whoever has to
// read it has the files and the keys, or is shown it by its record (records.RecordScreen).
type Contents interface {
	// Of has the first of a subject's, the oldest first, behind the item of an id.
	Of(ctx context.Context, s vault.Subject, after string, limit int) ([]vault.Item, error)
	// Item is the one of an id, with what it says. vault.ErrErased and vault.ErrAbsent say that it is not
	// there.
	Item(id string) (vault.Item, error)
	// Erase destroys all of a subject's for good, with records of its own; by are attributes of
	// these, and say who wants it. An error that is audit.ErrUnrecorded means that it did not.
	Erase(s vault.Subject, by map[string]string) (vault.Erasure, error)
}

// notErased: an erasure did not come to its end.
var notErased = api.Code{Name: "NOT_ERASED", Status: http.StatusInternalServerError}

// ContentPage is the answer of GET /api/v1/content.
type ContentPage struct {
	Content []Content `json:"content"`
	Next    string    `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// Content is what was captured of one call, without what that says.
type Content struct {
	ID        string    `json:"id"`     // as in the record of the call
	Digest    string    `json:"digest"` // as there
	Time      time.Time `json:"time"`
	RequestID string    `json:"request_id"`
	Issuer    string    `json:"issuer,omitzero"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"`
	Skill     string    `json:"skill,omitzero"`
	Method    string    `json:"method"`
	Task      string    `json:"task_id,omitzero"`
	Label     string    `json:"label"`
}

// Erased is the answer of POST /api/v1/content/erase.
type Erased struct {
	ID    string `json:"id"` // as in the records of the erasure
	Calls int    `json:"calls"`
	Bytes int64  `json:"bytes"`
}

// screen lists what was captured, and erases it.
type screen struct{ captured Contents }

// Screen is that of captured content.
func Screen(captured Contents) api.Screen {
	s := &screen{captured}
	return api.Screen{
		Title: "Captured content", Page: "/content", Link: true,
		Shows: "the captured messages of a caller, without their content; erase them",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/content", ID: "list-content", Tag: "content", Role: api.Operator,
				Summary: "List the captured content of a principal's calls, without the bodies", Params: whose, Pages: true,
				Out: reflect.TypeFor[ContentPage](), Answer: s.contents,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/content/erase", ID: "erase-content", Tag: "content", Role: api.Admin, Writes: true,
				Summary: "Erase the captured content of a principal's calls for good", Params: whose, Out: reflect.TypeFor[Erased](),
				Errors: []api.Code{notErased}, Answer: s.eraseContents,
			},
		},
	}
}

// whose content is meant: never everybody's.
var whose = []api.Param{
	{Name: "subject", Text: "whose content to list or erase, as the subject of a principal", Required: true},
	{Name: "issuer", Text: "issuer of the principal; default: any"},
}

func subject(c *api.Call) vault.Subject {
	return vault.Subject{Name: c.Query.Get("subject"), Issuer: c.Query.Get("issuer")}
}

func (s *screen) contents(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	list, err := s.captured.Of(c.Context(), subject(c), after, limit+1) // one more: is there more?
	if errors.Is(err, vault.ErrAbsent) {
		return nil, c.BadCursor()
	}
	if err != nil {
		return nil, err
	}
	page := ContentPage{Content: []Content{}}
	for i := range list[:min(limit, len(list))] {
		page.Content = append(page.Content, contentOf(&list[i]))
	}
	if len(list) > limit {
		page.Next = c.Cursor(list[limit-1].ID)
	}
	return page, nil
}

func contentOf(i *vault.Item) Content {
	return Content{
		ID: i.ID, Digest: i.Digest, Time: i.Time, RequestID: i.RequestID, Issuer: i.Issuer, Principal: i.Subject,
		Agent: i.Agent, Skill: i.Skill, Method: i.Method, Task: i.Task, Label: i.Label,
	}
}

// eraseContents goes on to the end, whether somebody still waits for the answer or not.
func (s *screen) eraseContents(c *api.Call) (any, error) {
	e, err := s.captured.Erase(subject(c), c.By())
	switch {
	case errors.Is(err, audit.ErrUnrecorded):
		c.Log.Error("erase content", "error", err)
		return nil, api.Unrecorded.Refuse("the erasure cannot be recorded, and is not done")
	case err != nil && e.State == vault.Failed:
		c.Log.Error("erase content", "erasure", e.ID, "error", err)
		return nil, notErased.Refuse("some of it may be left, and is to be erased again; the log says more")
	}
	return Erased{e.ID, e.Items, e.Bytes}, err
}
