package console

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
)

// Contents are what was captured of calls. What it says is not shown here: whoever has to
// read it has the files and the keys.
type Contents interface {
	// Of has the first of a subject's, the oldest first, behind the item of an id.
	Of(ctx context.Context, s vault.Subject, after string, limit int) ([]vault.Item, error)
	// Erase destroys all of a subject's for good, with records of its own; by are attributes of
	// these, and say who wants it. An error that is audit.ErrUnrecorded means that it did not.
	Erase(s vault.Subject, by map[string]string) (vault.Erasure, error)
}

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

// contentOperations are those about captured content.
var contentOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/content", id: "list-content", tag: "content", role: Operator,
		summary: "What was captured of a principal's calls, without what it says", params: pages(whose...),
		out: reflect.TypeFor[ContentPage](), answer: (*Console).contents,
	},
	{
		method: http.MethodPost, path: "/api/v1/content/erase", id: "erase-content", tag: "content", role: Admin, writes: true,
		summary: "Erase it, for good", params: whose, out: reflect.TypeFor[Erased](),
		errors: []string{codeNotErased}, answer: (*Console).eraseContents,
	},
}

// whose content is meant: never everybody's.
var whose = []param{
	{name: "subject", text: "whose content is meant", required: true},
	{name: "issuer", text: "of which issuer that principal is; of any unless set"},
}

func (c *call) subject() vault.Subject {
	return vault.Subject{Name: c.query.Get("subject"), Issuer: c.query.Get("issuer")}
}

func (s *Console) contents(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	list, err := s.Contents.Of(c.Context(), c.subject(), after, limit+1) // one more: is there more?
	if errors.Is(err, vault.ErrAbsent) {
		return nil, badCursor()
	}
	if err != nil {
		return nil, err
	}
	page := ContentPage{Content: []Content{}}
	for i := range list[:min(limit, len(list))] {
		page.Content = append(page.Content, contentOf(&list[i]))
	}
	if len(list) > limit {
		page.Next = cursor(list[limit-1].ID)
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
func (s *Console) eraseContents(c *call) (any, error) {
	e, err := s.Contents.Erase(c.subject(), c.by())
	switch {
	case errors.Is(err, audit.ErrUnrecorded):
		s.Log.Error("erase content", "error", err)
		return nil, refuse(codeUnrecorded, "the erasure cannot be recorded, and is not done")
	case err != nil && e.State == vault.Failed:
		s.Log.Error("erase content", "erasure", e.ID, "error", err)
		return nil, refuse(codeNotErased,
			"some of it may be left, and is to be erased again; the log says more")
	}
	return Erased{e.ID, e.Items, e.Bytes}, err
}
