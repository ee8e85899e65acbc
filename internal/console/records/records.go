package records

import (
	"context"
	"iter"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

// Records are the audit log. internal/operator has it, over the files of the log and an
// index beside them.
type Records interface {
	// Find has the records that are all of what is asked for. ErrBusy where the log could not
	// be read in time; whoever asks again is nearer to it.
	Find(ctx context.Context, q index.Query) ([]reader.Entry, error)
	// All reads all of the log and gives what is asked for, the oldest first.
	All(ctx context.Context, q index.Query) iter.Seq2[reader.Entry, error]
	// Live has the records from now on, until ctx ends, and the number of the one before.
	Live(ctx context.Context) (after uint64, records iter.Seq2[reader.Entry, error], err error)
	// Verify looks for what was changed in the log, is missing, or stands elsewhere.
	Verify(ctx context.Context, from, to time.Time) (*audit.Report, error)
}

// ErrBusy is the error of Records for what takes longer than an answer may.
var ErrBusy error = busy{}

// busy is a type of its own so that the error can carry its answer (Refusal), and api need
// not know this package.
type busy struct{}

// Error implements error.
func (busy) Error() string {
	return "the audit log could not be read in time; ask again, or for less of it"
}

// Refusal is what the operator is told of it.
func (e busy) Refusal() *api.Refusal {
	return &api.Refusal{Code: api.Busy, Message: e.Error(), Header: http.Header{"Retry-After": {"5"}}}
}

// recordsPage is the answer of GET /api/v1/audit/records.
type recordsPage struct {
	Records []jsontext.Value `json:"records" doc:"records as written, newest first"`
	Next    string           `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// search looks for records. Screens that answer with pages of records embed it.
type search struct{ log Records }

// AuditScreen is that of the audit log.
func AuditScreen(log Records) api.Screen {
	s := &search{log}
	return api.Screen{
		Title: "Audit", Page: "/audit", Link: true,
		Shows: "records by caller, agent, skill, method, task, decision and time, in pages; export the matching records as JSONL or OCSF; verify the log and list its faults",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/audit/records", ID: "list-records", Tag: "audit", Role: api.Viewer,
				Summary: "Find the audit records that match all parameters, newest first", Params: whichRecords, Pages: true,
				Out: reflect.TypeFor[recordsPage](), Errors: []api.Code{api.Busy}, Answer: s.records,
			},
		},
	}
}

// whichRecords are the parameters of a search. They are joined by "and"; a parameter that
// is not there leaves nothing out. Texts are compared whole, and a * in them stands for any run of characters.
var whichRecords = []api.Param{
	{Name: "caller", Text: "subject of the caller; in this and the other texts, a * stands for any characters"},
	{Name: "agent", Text: "id of the agent"},
	{Name: "skill", Text: "skill that the decision was about"},
	{Name: "task", Text: "id of the task"},
	{Name: "context", Text: "id of the context"},
	{Name: "method", Text: "calls of this method, by any name that it has had"},
	{Name: "event", Text: "kind of event"},
	{Name: "decision", Text: "decision about the call", Values: []string{"allow", "deny", "error"}},
	{Name: "reason", Text: "reason for which the call failed, such as RATE_LIMITED"},
	{Name: "issuer", Text: "issuer of the caller's credential"},
	{Name: "rule", Text: "rule that decided the call, or limit that refused it"},
	{Name: "approval", Text: "id of the approval that the call waited for or went with, or that a decision was about"},
	{Name: "guard", Text: "guard that found something in the call; * for any"},
	{Name: "finding", Text: "kind of what a guard found in the call, such as iban; with guard, of what that guard found"},
	{Name: "stage", Text: "stage of the request path that refused the call", Values: refusal.Stages()},
	{Name: "type", Text: "type of the records; default: calls and events", Values: []string{"intent", "call", "event"}},
	{Name: "since", Text: "only records since this time (RFC 3339)"},
	{Name: "until", Text: "only records before this time (RFC 3339)"},
}

// records answers a search with one page of what it finds.
func (s *search) records(c *api.Call) (any, error) {
	q, err := wanted(c)
	if err != nil {
		return nil, err
	}
	return s.recordPage(c, q)
}

// wanted is what the parameters of a search ask for. An error names the parameter: a time
// that is none, or parameters that exclude each other.
func wanted(c *api.Call) (index.Query, error) {
	q := index.Query{Decision: c.Query.Get("decision"), Type: c.Query.Get("type"), Stage: c.Query.Get("stage")}
	for name, of := range index.Texts {
		*of(&q) = c.Query.Get(name)
	}
	var err error
	if q.From, err = c.Time("since", time.RFC3339); err != nil {
		return q, err
	}
	if q.Until, err = c.Time("until", time.RFC3339); err != nil {
		return q, err
	}
	if err := q.Check(); err != nil {
		return q, c.InvalidParameter(err.Error())
	}
	return q, nil
}

// recordPage is the page of what is asked for that the cursor leads to. The cursor is the
// number of the last record of the page before. Numbers never change, so that records that
// are written meanwhile neither shift a page nor show up twice.
func (s *search) recordPage(c *api.Call, q index.Query) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	if after != "" {
		if q.Behind, err = strconv.ParseUint(after, 10, 63); err != nil || q.Behind == 0 {
			return nil, c.BadCursor()
		}
	}
	q.Limit = limit + 1 // one more: is there more?
	list, err := s.log.Find(c.Context(), q)
	if err != nil {
		return nil, err
	}
	page := recordsPage{Records: []jsontext.Value{}}
	for _, e := range list[:min(limit, len(list))] {
		page.Records = append(page.Records, e.Line)
	}
	if len(list) > limit {
		page.Next = c.Cursor(strconv.FormatUint(list[limit-1].Seq, 10))
	}
	return page, nil
}
