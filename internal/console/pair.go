package console

import (
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
)

// Pair is the answer of GET /api/v1/audit/records/{id}/pair.
type Pair struct {
	Intent jsontext.Value `json:"intent,omitzero" doc:"what is on record since before the agent was asked; none where it was not"`
	Call   jsontext.Value `json:"call,omitzero" doc:"what became of it; none while it goes on, or where the gateway was killed meanwhile"`
}

// pairSearch bounds how many later calls of a caller are looked through for the end of one.
const pairSearch = 10 * longestPage

// pairOperation joins the records of a call.
var pairOperation = operation{
	method: http.MethodGet, path: "/api/v1/audit/records/{id}/pair", id: "get-record-pair", tag: "audit", role: Viewer,
	summary: "The intent and the outcome of a call, by the number of either record", out: reflect.TypeFor[Pair](),
	errors: []string{codeNoRecord, codeBusy}, answer: (*Console).pair,
}

// half is what tells which other record is of the same call.
type half struct {
	Type      string    `json:"type"`
	Time      time.Time `json:"time"`
	Start     time.Time `json:"start"`
	Request   string    `json:"request_id"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"`
	Method    string    `json:"method"`
}

func (s *Console) pair(c *call) (any, error) {
	seq, line, err := s.oneRecord(c)
	if err != nil {
		return nil, err
	}
	var h half
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, err
	}
	q := index.Query{Principal: plain(h.Principal), Agent: plain(h.Agent), Method: plain(h.Method), Oldest: true, Limit: longestPage}
	var p Pair
	switch {
	case h.Type == "intent":
		q.Type, q.From, q.Behind = "call", h.Time, seq
		p.Intent = line
		p.Call, err = s.other(c, q, h.Request)
	case h.Type == "call" && h.Start.Before(h.Time):
		q.Type, q.From, q.Until = "intent", h.Start, h.Time
		p.Call = line
		p.Intent, err = s.other(c, q, h.Request)
	default: // an event is by itself
		return nil, refuse(codeNoRecord, "the record of this number is not about a call")
	}
	return p, err
}

// other is the record of a request among those that are asked for, nil where it is not.
func (s *Console) other(c *call, q index.Query, request string) (jsontext.Value, error) {
	for n := 0; n < pairSearch && request != ""; n += longestPage {
		list, err := s.Records.Find(c.Context(), q)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			var h half
			if json.Unmarshal(e.Line, &h) == nil && h.Request == request {
				return e.Line, nil
			}
			q.Behind = e.Seq
		}
		if len(list) < longestPage {
			break
		}
	}
	return nil, nil
}

// plain is a text of a record as one asks for it. One that was cleaned is not asked for: it
// would be cleaned again.
func plain(text string) string {
	if strings.Contains(text, `\`) {
		return ""
	}
	return text
}
