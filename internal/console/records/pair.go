package records

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// pair is the answer of GET /api/v1/audit/records/{id}/pair.
type pair struct {
	Intent jsontext.Value `json:"intent,omitzero" doc:"record written before the gateway called the agent; absent if it did not call the agent"`
	Call   jsontext.Value `json:"call,omitzero" doc:"record of the outcome; absent while the call is in flight, or if the gateway was killed meanwhile"`
}

// noRecord: there is none of that number.
var noRecord = api.Code{Name: "NO_SUCH_RECORD", Status: http.StatusNotFound}

// pairSearch bounds how many later calls of a caller are looked through for the end of one.
const pairSearch = 10 * pairPage

// pairPage is how many of them are read at a time.
const pairPage = 1000

// rulePlaces says where rules are written. It is asked by the name of a rule and answers with FILE:LINE,
// or "" for what is no rule of the configuration, or no longer one.
type rulePlaces interface{ RulePlace(name string) string }

// pairs joins the records of a call. It embeds search for the log.
type pairs struct {
	search

	places rulePlaces
}

// RecordScreen is that of a record, with the other one of the same call. Its page shows
// both records, whichever of them the address names. What was captured of the call is shown
// where shown says so.
func RecordScreen(log Records, places rulePlaces, from captured, shown bool) api.Screen {
	s := &pairs{search{log}, places}
	return api.Screen{
		Title: "a record", Page: "/audit/$seq",
		Shows: "the decision and the rule behind it, intent and outcome of the call, and all fields of the record; for a refused call also the stage, the place of the rule in the configuration and the remedy; links to explain the call, to try it again, or to replay it with a changed rule",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/audit/records/{id}", ID: "get-record", Tag: "audit", Role: api.Viewer,
				Summary: "Get the record with this number (seq), as written", Out: reflect.TypeFor[jsontext.Value](),
				Errors: []api.Code{noRecord, api.Busy}, Answer: s.record,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/audit/records/{id}/pair", ID: "get-record-pair", Tag: "audit", Role: api.Viewer,
				Summary: "Get the intent and the outcome of a call, by the number of either record", Out: reflect.TypeFor[pair](),
				Errors: []api.Code{noRecord, api.Busy}, Answer: s.pair,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/audit/records/{id}/refusal", ID: "get-record-refusal", Tag: "audit", Role: api.Viewer,
				Summary: "Explain why a call was refused: the stage of the request path, the rule or limit, and the remedy",
				Out:     reflect.TypeFor[refused](), Errors: []api.Code{noRecord, notRefused, api.Busy}, Answer: s.refusal,
			},
			contentOperation(*s, from, shown),
		},
	}
}

// half is what tells which other record is of the same call. Both records of a call have
// the request id in common, but the log has no index by it. So the search goes over what
// the index knows (caller, agent, method, time), and compares ids.
type half struct {
	Type      string    `json:"type"`
	Time      time.Time `json:"time"`
	Start     time.Time `json:"start"`
	Request   string    `json:"request_id"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"`
	Method    string    `json:"method"`
}

// pair gives the record of the number in the path and the other one of its call. The intent
// comes before the call, so that the search for a call goes forwards from it, and that for
// an intent is bounded by the call's start and end.
func (s *pairs) pair(c *api.Call) (any, error) {
	seq, line, err := s.oneRecord(c)
	if err != nil {
		return nil, err
	}
	var h half
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, err
	}
	q := index.Query{Principal: plain(h.Principal), Agent: plain(h.Agent), Method: plain(h.Method), Oldest: true, Limit: pairPage}
	var p pair
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
		return nil, noRecord.Refuse("the record of this number is not about a call")
	}
	return p, err
}

// other is the record of a request among those that are asked for, nil where it is not. It
// reads pairSearch records at most: a caller who makes thousands of calls while one goes on
// must not turn a page of the console into a search of the log.
func (s *pairs) other(c *api.Call, q index.Query, request string) (jsontext.Value, error) {
	for n := 0; n < pairSearch && request != ""; n += pairPage {
		list, err := s.log.Find(c.Context(), q)
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
		// The end of what the log has.
		if len(list) < pairPage {
			break
		}
	}
	return nil, nil
}

// plain is a text of a record as one asks for it. One that was cleaned is not asked for: it
// would be cleaned again. Records have characters that could mislead a reader escaped with
// a backslash, such as \u202e. Without the text the search is wider, and the comparison of
// ids still finds the record.
func plain(text string) string {
	if strings.Contains(text, `\`) {
		return ""
	}
	return text
}

// record gives the record of the number in the path, as it was written.
func (s *pairs) record(c *api.Call) (any, error) {
	_, line, err := s.oneRecord(c)
	return line, err
}

// oneRecord is the record of the number in the path. Calls and events come before intents:
// they are what is looked for, and found in one look.
func (s *pairs) oneRecord(c *api.Call) (seq uint64, line jsontext.Value, err error) {
	absent := noRecord.Refuse("there is no intent, call or event of this number")
	seq, err = strconv.ParseUint(c.PathValue("id"), 10, 62)
	if err != nil {
		return 0, nil, absent
	}
	for _, kind := range []string{"", "intent"} {
		// Behind with one more than the number, newest first, begins with the record
		// itself, or with an earlier one where it is of another type.
		list, err := s.log.Find(c.Context(), index.Query{Type: kind, Behind: seq + 1, Limit: 1})
		if err != nil {
			return 0, nil, err
		}
		if len(list) > 0 && list[0].Seq == seq {
			return seq, list[0].Line, nil
		}
	}
	return 0, nil, absent
}
