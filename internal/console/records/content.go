package records

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Why what was captured of a call is not shown.
var (
	contentOff     = api.Code{Name: "CONTENT_OFF", Status: http.StatusForbidden}
	notCaptured    = api.Code{Name: "NOT_CAPTURED", Status: http.StatusNotFound}
	contentLost    = api.Code{Name: "CONTENT_LOST", Status: http.StatusNotFound}
	contentErased  = api.Code{Name: "CONTENT_ERASED", Status: http.StatusNotFound}
	contentExpired = api.Code{Name: "CONTENT_EXPIRED", Status: http.StatusNotFound}
	contentChanged = api.Code{Name: "CONTENT_CHANGED", Status: http.StatusInternalServerError}
)

// captured opens what was captured of a call. vault.ErrErased and vault.ErrAbsent say that it is not there.
type captured interface {
	Item(id string) (vault.Item, error)
}

// recordContent is the answer of GET /api/v1/audit/records/{id}/content.
type recordContent struct {
	ID       string       `json:"id" doc:"id of the content, as in the record of the call"`
	Label    string       `json:"label"`
	Until    string       `json:"until,omitzero" doc:"last day on which the gateway keeps the content; absent for ever"`
	Request  *contentBody `json:"request,omitzero" doc:"params of the request; absent if not captured"`
	Response *contentBody `json:"response,omitzero" doc:"answer of the agent; absent if not captured"`
}

// contentBody is what was kept of one body.
type contentBody struct {
	Text       string `json:"text" doc:"redacted JSON; for a stream, one event a line"`
	Bytes      int64  `json:"bytes" doc:"size of the original body in bytes"`
	Cut        bool   `json:"cut,omitzero" doc:"the text is truncated at telemetry.audit.content.limit"`
	Redactions int    `json:"redactions" doc:"number of redactions"`
	Fault      string `json:"fault,omitzero" doc:"why there is no text"`
}

// shows opens what was captured. It embeds pairs for the record that names it.
type shows struct {
	pairs

	captured captured
	shown    bool // admin.content
}

// contentOperation shows what was captured of a call, unless that is not to be shown here.
func contentOperation(of pairs, from captured, shown bool) api.Operation {
	s := &shows{of, from, shown}
	return api.Operation{
		Method: http.MethodGet, Path: "/api/v1/audit/records/{id}/content", ID: "get-record-content", Tag: "audit", Role: api.Operator,
		Summary: "Show the captured content of a call, by the number of its record (type call), if admin.content is true. The gateway first records who gets it",
		Out:     reflect.TypeFor[recordContent](),
		Errors:  []api.Code{noRecord, contentOff, notCaptured, contentLost, contentErased, contentExpired, contentChanged, api.Unrecorded, api.Busy},
		Answer:  s.content,
	}
}

// naming is what the record of a call says of content.
type naming struct {
	Content struct {
		ID     string `json:"id"`
		Digest string `json:"digest"`
		Until  string `json:"until"`
		Lost   bool   `json:"lost"`
	} `json:"content"`
}

// content puts on record who is shown what, and answers with it. It is opened before, so that the
// record says of nothing that it was shown which is not there.
func (s *shows) content(c *api.Call) (any, error) {
	if !s.shown {
		return nil, contentOff.Refuse("admin.content is false: set it to true to have what was captured shown here, or use a2a-gateway audit content")
	}
	_, line, err := s.oneRecord(c)
	if err != nil {
		return nil, err
	}
	var n naming
	if err := json.Unmarshal(line, &n); err != nil {
		return nil, err
	}
	item, err := s.open(&n, c)
	if err != nil {
		return nil, err
	}
	attrs := map[string]string{"id": item.ID, "request_id": item.RequestID, "principal": item.Subject, "issuer": item.Issuer, "agent": item.Agent, "label": item.Label}
	if item.Task != "" {
		attrs["task_id"] = item.Task
	}
	err = c.Change("content.shown", attrs, nil, func(context.Context) (bool, error) { return true, nil })
	if err != nil {
		return nil, err
	}
	return recordContent{ID: item.ID, Label: item.Label, Until: n.Content.Until, Request: bodyOf(item.Request), Response: bodyOf(item.Response)}, nil
}

// open opens what a record names. The digest is compared: what is not what the record says is not shown.
func (s *shows) open(n *naming, c *api.Call) (vault.Item, error) {
	switch {
	case n.Content.Lost:
		return vault.Item{}, contentLost.Refuse("what was captured of this call could not be written; the gateway's log says why")
	case n.Content.ID == "":
		return vault.Item{}, notCaptured.Refuse("nothing was captured of this call: no rule of telemetry.audit.content.rules fits it, or it went to no agent")
	}
	item, err := s.captured.Item(n.Content.ID)
	gone := errors.Is(err, vault.ErrErased) || errors.Is(err, vault.ErrAbsent)
	switch {
	case gone && n.Content.Until != "" && n.Content.Until < time.Now().UTC().Format(time.DateOnly):
		return item, contentExpired.Refuse("what was captured of this call was kept until " + n.Content.Until + " (retention of the rule), and was destroyed then")
	case gone:
		return item, contentErased.Refuse("what was captured of this call was erased, or its files are not there any more")
	case err != nil:
		c.Log.Error("open captured content", "id", n.Content.ID, "error", err)
		return item, contentChanged.Refuse("what was captured of this call cannot be opened; the gateway's log says why")
	case item.Digest != n.Content.Digest:
		return item, contentChanged.Refuse("what was captured of this call has another digest than its record says; have the log verified")
	}
	return item, nil
}

func bodyOf(b *vault.Body) *contentBody {
	if b == nil {
		return nil
	}
	return &contentBody{Text: b.Text, Bytes: b.Bytes, Cut: b.Cut, Redactions: b.Redactions, Fault: b.Fault}
}
