package records

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// knownValues is the answer of GET /api/v1/audit/values: what a field of a search can be completed with.
type knownValues struct {
	Values  []knownValue `json:"values" doc:"values of the field, most frequent first"`
	More    bool         `json:"more" doc:"there are more values than the answer contains"`
	Counted int          `json:"counted" doc:"number of records read: the newest calls and events, at most admin.map.records"`
}

// knownValue is one of them.
type knownValue struct {
	Value   string `json:"value"`
	Records int    `json:"records" doc:"number of read records with this value"`
}

// mostValues are as many as a list of completions can have.
const mostValues = 50

// completed are the fields that can be. Ids are not among them: nobody types one.
func completed() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(index.Texts)), index.IsID)
}

// completions finds values in the newest records. Neither the index, which has digests, nor anything in
// memory knows the names of callers.
type completions struct {
	log  Records
	most int // records that are looked at
}

// ValuesScreen completes the fields of searches, by what the newest records have, at most so many of them.
func ValuesScreen(log Records, most int) api.Screen {
	s := &completions{log, most}
	return api.Screen{
		Title: "Completions",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/audit/values", ID: "list-audit-values", Tag: "audit", Role: api.Viewer,
			Summary: "List values of a field in the newest audit records, to complete a search",
			Params: []api.Param{
				{Name: "field", Text: "which field of a search to complete", Required: true, Values: completed()},
				{Name: "contains", Text: "only values that contain this text, in any case"},
			},
			Out: reflect.TypeFor[knownValues](), Errors: []api.Code{api.Busy}, Answer: s.values,
		}},
	}
}

func (s *completions) values(c *api.Call) (any, error) {
	list, err := s.log.Find(c.Context(), index.Query{Limit: s.most})
	if err != nil {
		return nil, err
	}
	field, like := c.Query.Get("field"), strings.ToLower(c.Query.Get("contains"))
	answer := knownValues{Values: []knownValue{}, Counted: len(list)}
	found := map[string]int{}
	var h index.Head
	for _, e := range list {
		if h.Read(e.Line) != nil {
			continue // what cannot be read completes nothing
		}
		for _, v := range h.Has(field) {
			if strings.Contains(strings.ToLower(v), like) {
				found[v]++
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(found[b]-found[a], cmp.Compare(a, b))
	})
	answer.More = len(names) > mostValues
	for _, name := range names[:min(len(names), mostValues)] {
		answer.Values = append(answer.Values, knownValue{name, found[name]})
	}
	return answer, nil
}
