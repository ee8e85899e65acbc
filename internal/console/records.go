package console

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/index"
)

// Records are the audit log.
type Records interface {
	// Find has the records that are all of what is asked for. ErrBusy where the log could not
	// be read in time; whoever asks again is nearer to it.
	Find(ctx context.Context, q index.Query) ([]audit.Entry, error)
	// All reads all of the log and gives what is asked for, the oldest first.
	All(ctx context.Context, q index.Query) iter.Seq2[audit.Entry, error]
	// Live has the records from now on, until ctx ends, and the number of the one before.
	Live(ctx context.Context) (after uint64, records iter.Seq2[audit.Entry, error], err error)
	// Verify looks for what was changed in the log, is missing, or stands elsewhere.
	Verify(ctx context.Context, from, to time.Time) (*audit.Report, error)
}

// ErrBusy is the error of Records for what takes longer than an answer may.
var ErrBusy = errors.New("the audit log could not be read in time; ask again, or for less of it")

// RecordPage is the answer of GET /api/v1/audit/records.
type RecordPage struct {
	Records []jsontext.Value `json:"records" doc:"as they were written, the newest first"`
	Next    string           `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// recordOperations are those about the audit log.
var recordOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/audit/records", id: "list-records", tag: "audit", role: Viewer,
		summary: "Audit records that are all of what is asked for, the newest first", params: pages(whichRecords...),
		out: reflect.TypeFor[RecordPage](), errors: []string{codeBusy}, answer: (*Console).records,
	},
	{
		method: http.MethodGet, path: "/api/v1/audit/records/{id}", id: "get-record", tag: "audit", role: Viewer,
		summary: "The record of a number (seq), as it was written", out: reflect.TypeFor[jsontext.Value](),
		errors: []string{codeNoRecord, codeBusy}, answer: (*Console).record,
	},
	{
		method: http.MethodGet, path: "/api/v1/tasks/{id}/timeline", id: "task-timeline", tag: "audit", role: Viewer,
		summary: "The records of calls and events about a task, the oldest first", params: pages(),
		out: reflect.TypeFor[RecordPage](), errors: []string{codeBusy}, answer: (*Console).timeline,
	},
	{
		method: http.MethodPost, path: "/api/v1/audit/verify", id: "verify-audit", tag: "audit", role: Operator,
		summary: "Find what was changed in the audit log, is missing, or stands elsewhere; as far as it takes 15 seconds",
		params:  []param{{name: "from", text: "the first day, as 2026-11-21"}, {name: "to", text: "the last day"}},
		out:     reflect.TypeFor[Verification](), errors: []string{codeBusy}, answer: (*Console).verify,
	},
}

// whichRecords are the parameters of a search.
var whichRecords = []param{
	{name: "caller", text: "of this subject"},
	{name: "agent", text: "of this agent"},
	{name: "skill", text: "decided for this skill"},
	{name: "task", text: "about this task"},
	{name: "context", text: "about this context"},
	{name: "method", text: "calls of this method, under its 1.0 name"},
	{name: "event", text: "events of this kind"},
	{name: "decision", text: "decided so", values: []string{"allow", "deny", "error"}},
	{name: "reason", text: "calls that did not go well for this reason, as in RATE_LIMITED"},
	{name: "type", text: "of this type; calls and events unless set", values: []string{"intent", "call", "event"}},
	{name: "since", text: "made at or after this time (RFC 3339)"},
	{name: "until", text: "made before this time (RFC 3339)"},
}

func (s *Console) records(c *call) (any, error) {
	q, err := c.wanted()
	if err != nil {
		return nil, err
	}
	return s.recordPage(c, q)
}

// wanted is what the parameters of a search ask for.
func (c *call) wanted() (index.Query, error) {
	q := index.Query{
		Principal: c.query.Get("caller"), Agent: c.query.Get("agent"), Skill: c.query.Get("skill"), Task: c.query.Get("task"),
		Context: c.query.Get("context"), Method: c.query.Get("method"), Event: c.query.Get("event"),
		Decision: c.query.Get("decision"), Reason: c.query.Get("reason"), Type: c.query.Get("type"),
	}
	var err error
	if q.From, err = c.time("since", time.RFC3339); err != nil {
		return q, err
	}
	if q.Until, err = c.time("until", time.RFC3339); err != nil {
		return q, err
	}
	if err := q.Check(); err != nil {
		return q, parameter(err.Error())
	}
	return q, nil
}

func (s *Console) timeline(c *call) (any, error) {
	return s.recordPage(c, index.Query{Task: c.PathValue("id"), Oldest: true})
}

// recordPage is the page of what is asked for that the cursor leads to.
func (s *Console) recordPage(c *call, q index.Query) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	if after != "" {
		if q.Behind, err = strconv.ParseUint(after, 10, 63); err != nil || q.Behind == 0 {
			return nil, badCursor()
		}
	}
	q.Limit = limit + 1 // one more: is there more?
	list, err := s.Records.Find(c.Context(), q)
	if err != nil {
		return nil, err
	}
	page := RecordPage{Records: []jsontext.Value{}}
	for _, e := range list[:min(limit, len(list))] {
		page.Records = append(page.Records, e.Line)
	}
	if len(list) > limit {
		page.Next = cursor(strconv.FormatUint(list[limit-1].Seq, 10))
	}
	return page, nil
}

func (s *Console) record(c *call) (any, error) {
	_, line, err := s.oneRecord(c)
	return line, err
}

// oneRecord is the record of the number in the path. Calls and events come before intents:
// they are what is looked for, and found in one look.
func (s *Console) oneRecord(c *call) (seq uint64, line jsontext.Value, err error) {
	absent := refuse(codeNoRecord, "there is no intent, call or event of this number")
	seq, err = strconv.ParseUint(c.PathValue("id"), 10, 62)
	if err != nil {
		return 0, nil, absent
	}
	for _, kind := range []string{"", "intent"} {
		list, err := s.Records.Find(c.Context(), index.Query{Type: kind, Behind: seq + 1, Limit: 1})
		if err != nil {
			return 0, nil, err
		}
		if len(list) > 0 && list[0].Seq == seq {
			return seq, list[0].Line, nil
		}
	}
	return 0, nil, absent
}

// time is a parameter that is one, zero where it is not there.
func (c *call) time(name, layout string) (time.Time, error) {
	text := c.query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return t, parameter(name + " must be a time as " + layout)
	}
	return t, nil
}
