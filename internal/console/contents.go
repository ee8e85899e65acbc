package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/telemetry/audit"
	"github.com/a2a-gateway/a2a-gateway/telemetry/audit/vault"
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
	Next    string    `json:"next,omitzero"` // what to ask for as after; "" at the end
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

// contentRoutes are those about captured content.
var contentRoutes = []route{
	{http.MethodGet, "/api/v1/content", false, (*Console).contents},
	{http.MethodPost, "/api/v1/content/erase", true, (*Console).eraseContents},
}

// subject is whose content is meant. It is never everybody's.
func subject(name, issuer string) (vault.Subject, error) {
	if name == "" {
		return vault.Subject{}, parameter("subject is missing: it says whose content is meant")
	}
	return vault.Subject{Name: name, Issuer: issuer}, nil
}

func (s *Console) contents(r *http.Request) (any, error) {
	q, err := query(r, "subject", "issuer", "after", "limit")
	if err != nil {
		return nil, err
	}
	whose, err := subject(q.Get("subject"), q.Get("issuer"))
	if err != nil {
		return nil, err
	}
	limit := usualPage
	if q.Has("limit") {
		if limit, err = strconv.Atoi(q.Get("limit")); err != nil || limit < 1 || limit > longestPage {
			return nil, parameter("limit must be a number from 1 to 1000")
		}
	}
	list, err := s.Contents.Of(r.Context(), whose, q.Get("after"), limit+1) // one more: is there more?
	if errors.Is(err, vault.ErrAbsent) {
		return nil, parameter("after is no id of content")
	}
	if err != nil {
		return nil, err
	}
	page := ContentPage{Content: []Content{}}
	for i := range list[:min(limit, len(list))] {
		page.Content = append(page.Content, contentOf(&list[i]))
	}
	if len(list) > limit {
		page.Next = list[limit-1].ID
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
func (s *Console) eraseContents(r *http.Request) (any, error) {
	q, err := query(r, "subject", "issuer")
	if err != nil {
		return nil, err
	}
	whose, err := subject(q.Get("subject"), q.Get("issuer"))
	if err != nil {
		return nil, err
	}
	e, err := s.Contents.Erase(whose, by(r))
	switch {
	case errors.Is(err, audit.ErrUnrecorded):
		s.Log.Error("erase content", "error", err)
		return nil, refuse(http.StatusServiceUnavailable, "UNRECORDED", "the erasure cannot be recorded, and is not done")
	case err != nil && e.State == vault.Failed:
		s.Log.Error("erase content", "erasure", e.ID, "error", err)
		return nil, refuse(http.StatusInternalServerError, "NOT_ERASED",
			"some of it may be left, and is to be erased again; the log says more")
	}
	return Erased{e.ID, e.Items, e.Bytes}, err
}
