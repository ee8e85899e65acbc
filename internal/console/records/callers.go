package records

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// TopCallers is the answer of GET /api/v1/callers: who made most calls.
type TopCallers struct {
	Since   time.Time   `json:"since" doc:"start of the counted period; it counts calls by their end"`
	Until   time.Time   `json:"until"`
	Counted int         `json:"counted" doc:"number of counted calls"`
	More    bool        `json:"more" doc:"there were more calls than admin.map.records; only the newest count, and since is the end of the oldest of them"`
	All     int         `json:"all" doc:"number of different callers"`
	Callers []topCaller `json:"callers" doc:"callers with most calls, busiest first"`
}

// topCaller is one of them.
type topCaller struct {
	Name   string `json:"name" doc:"subject of the caller; empty for all unknown callers"`
	Calls  int    `json:"calls"`
	Denied int    `json:"denied" doc:"calls among them that were denied"`
	Failed int    `json:"failed" doc:"calls among them that failed for another reason"`
}

const (
	usualCallers = 10
	mostCallers  = 50
)

// ranking counts calls by who made them. Callers are without bound, so that metrics have no
// label for them and nothing in memory counts them: records do, of which so many are read at
// most. Nothing is kept between two requests.
type ranking struct {
	log  Records
	most int // calls that are counted
}

// CallersScreen says who made most calls. It reads the audit log, as the map does.
func CallersScreen(log Records, most int) api.Screen {
	s := &ranking{log, most}
	return api.Screen{
		Title: "Top callers",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/callers", ID: "top-callers", Tag: "audit", Role: api.Viewer,
			Summary: "List the callers with most calls on record",
			Params: slices.Concat(BetweenParams, []api.Param{
				{Name: "top", Text: "number of callers; default: 10", Least: 1, Most: mostCallers},
			}),
			Out: reflect.TypeFor[TopCallers](), Errors: []api.Code{api.Busy}, Answer: s.callers,
		}},
	}
}

func (s *ranking) callers(c *api.Call) (any, error) {
	from, until, err := Between(c)
	if err != nil {
		return nil, err
	}
	list, err := s.log.Find(c.Context(), index.Query{Type: "call", From: from, Until: until, Limit: s.most + 1}) // one more: is there more?
	if err != nil {
		return nil, err
	}
	answer := TopCallers{Since: from, Until: until, More: len(list) > s.most}
	list = list[:min(len(list), s.most)]
	answer.Counted = len(list)
	found := map[string]volume{}
	for _, e := range list {
		var m mapped
		if err := json.Unmarshal(e.Line, &m); err != nil {
			return nil, fmt.Errorf("read record %d: %w", e.Seq, err)
		}
		if answer.More {
			answer.Since = m.Time // the newest come first
		}
		count(found, m.Principal, m.volume())
	}
	answer.All = len(found)
	answer.Callers = topOf(found, cmp.Or(c.Number("top"), usualCallers))
	return answer, nil
}

// topOf are so many of those who made most calls. The name decides between as many: a map has no
// order.
func topOf(found map[string]volume, top int) []topCaller {
	names := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(found[b].calls-found[a].calls, cmp.Compare(a, b))
	})
	list := []topCaller{}
	for _, name := range names[:min(len(names), top)] {
		v := found[name]
		list = append(list, topCaller{Name: name, Calls: v.calls, Denied: v.denied, Failed: v.failed})
	}
	return list
}
