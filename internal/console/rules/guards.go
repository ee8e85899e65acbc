package rules

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
)

// guardPage is the answer of GET /api/v1/guards.
type guardPage struct {
	Guards []shownGuard `json:"guards" doc:"guards in the order of policy.guards"`
}

// shownGuard is a guard as the configuration in force has it, with what is not written filled in.
type shownGuard struct {
	Name   string   `json:"name"`
	Use    string   `json:"use"`
	On     []string `json:"on" doc:"what the guard looks at: request, answer, event"`
	Action string   `json:"action" doc:"report, redact or refuse"`
	Mode   string   `json:"mode" doc:"enforce or shadow"`
	Agents []string `json:"agents" doc:"agents whose calls the guard looks at; empty for any"`

	Conditions map[string]jsontext.Value `json:"conditions" doc:"its other conditions, as the configuration has them"`
	Settings   map[string]jsontext.Value `json:"settings" doc:"what configures its use, without secrets"`
}

// guardFindings is the answer of GET /api/v1/guards/findings.
type guardFindings struct {
	Since   time.Time `json:"since" doc:"start of the counted period; it counts calls by their end"`
	Until   time.Time `json:"until"`
	Calls   int       `json:"calls" doc:"number of counted calls, in each of which a guard found something"`
	More    bool      `json:"more" doc:"there were more such calls than admin.map.records; only the newest count, and since is the end of the oldest of them"`
	Guards  []found   `json:"guards" doc:"counts by guard"`
	Agents  []found   `json:"agents" doc:"counts by agent"`
	Callers []found   `json:"callers" doc:"counts by caller; 100 at most"`
	Kinds   []found   `json:"kinds" doc:"counts by kind of what was found; 100 at most"`
}

// found counts what guards have found that has something in common, most calls first.
type found struct {
	Name     string `json:"name" doc:"empty for callers without a name"`
	Calls    int    `json:"calls"`
	Findings int64  `json:"findings" doc:"findings in these calls, of those that records have"`
	Refused  int    `json:"refused" doc:"calls that were refused, or whose answer was"`
	Redacted int    `json:"redacted" doc:"calls in which something was redacted"`
	Recorded int    `json:"recorded" doc:"calls in which findings were only recorded"`
}

// mostFound bounds lists of what has no bound of its own.
const mostFound = 100

// guards counts what guards have found. Nothing is kept between two requests.
type guards struct {
	config Config
	log    records.Records
	most   int // calls that are counted
}

// GuardsScreen is about the guards in force, and what they have found: by the audit log, since metrics know
// neither callers nor agents.
func GuardsScreen(config Config, log records.Records, most int) api.Screen {
	s := &guards{config, log, most}
	return api.Screen{
		Title: "Guards", Page: "/guards", Link: true,
		Shows: "the guards in force, and what they found by guard, agent, caller and kind, with links to the audit log; what they make of a text that you type; recorded calls with captured content that other guards would treat differently",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/guards", ID: "list-guards", Tag: "policy", Role: api.Viewer,
			Summary: "List the guards in force", Out: reflect.TypeFor[guardPage](), Answer: s.list,
		}, {
			Method: http.MethodGet, Path: "/api/v1/guards/findings", ID: "guard-findings", Tag: "policy", Role: api.Viewer,
			Summary: "Count what guards found, by guard, agent, caller and kind, from the calls on record",
			Params:  records.BetweenParams,
			Out:     reflect.TypeFor[guardFindings](), Errors: []api.Code{api.Busy}, Answer: s.findings,
		}},
	}
}

// settingsOfGuards are the keys of a guard that configure its use; the others that no field here has are conditions.
var settingsOfGuards = []string{"kinds", "links", "size", "schema", "service"}

// list answers with the guards as the configuration shows them, without secrets.
func (s *guards) list(*api.Call) (any, error) {
	text, err := s.config.Config()
	if err != nil {
		return nil, err
	}
	var shown struct {
		Policy struct {
			Guards []jsontext.Value `json:"guards"`
		} `json:"policy"`
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		return nil, err
	}
	page := guardPage{Guards: []shownGuard{}}
	for _, text := range shown.Policy.Guards {
		g := shownGuard{Conditions: map[string]jsontext.Value{}, Settings: map[string]jsontext.Value{}}
		var keys map[string]jsontext.Value
		if err := json.Unmarshal(text, &g); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &keys); err != nil {
			return nil, err
		}
		g.Action, g.Mode = cmp.Or(g.Action, "refuse"), cmp.Or(g.Mode, "enforce")
		if len(g.On) == 0 {
			g.On = []string{"request", "answer", "event"}
		}
		for _, key := range []string{"name", "use", "on", "action", "mode", "agents"} {
			delete(keys, key)
		}
		for key, value := range keys {
			switch {
			case empty(value):
			case slices.Contains(settingsOfGuards, key):
				g.Settings[key] = value
			default:
				g.Conditions[key] = value
			}
		}
		page.Guards = append(page.Guards, g)
	}
	return page, nil
}

// empty reports whether a value of the configuration says nothing.
func empty(value jsontext.Value) bool {
	switch value.Kind() {
	case '{':
		var of map[string]jsontext.Value
		_ = json.Unmarshal(value, &of) // it is what was just read
		return !slices.ContainsFunc(slices.Collect(maps.Values(of)), func(v jsontext.Value) bool { return !empty(v) })
	case '[', '"':
		return len(value) == len("[]")
	case '0':
		return string(value) == "0"
	default:
		return string(value) != "true"
	}
}

// guarded is what is counted of the record of a call.
type guarded struct {
	Time      time.Time `json:"time"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"`
	Guards    []struct {
		Guard  string `json:"guard"`
		Kind   string `json:"kind"`
		Count  int64  `json:"count"`
		Action string `json:"action"`
		Shadow bool   `json:"shadow"`
	} `json:"guards"`
}

// findings counts the newest calls in the window in which guards found something, at most s.most of them.
func (s *guards) findings(c *api.Call) (any, error) {
	from, until, err := records.Between(c)
	if err != nil {
		return nil, err
	}
	list, err := s.log.Find(c.Context(), index.Query{Type: "call", Guard: "*", From: from, Until: until, Limit: s.most + 1}) // one more: is there more?
	if err != nil {
		return nil, err
	}
	answer := guardFindings{Since: from, Until: until, More: len(list) > s.most}
	var t [4]map[string]*found
	for i := range t {
		t[i] = map[string]*found{}
	}
	for _, e := range list[:min(len(list), s.most)] {
		var g guarded
		if err := json.Unmarshal(e.Line, &g); err != nil {
			return nil, fmt.Errorf("read record %d: %w", e.Seq, err)
		}
		if answer.More {
			answer.Since = g.Time // the newest come first
		}
		answer.Calls++
		g.count(t[0], func(i int) string { return g.Guards[i].Guard })
		g.count(t[1], func(int) string { return g.Agent })
		g.count(t[2], func(int) string { return g.Principal })
		g.count(t[3], func(i int) string { return g.Guards[i].Kind })
	}
	for i, list := range []*[]found{&answer.Guards, &answer.Agents, &answer.Callers, &answer.Kinds} {
		*list = busiest(t[i])
	}
	return answer, nil
}

// count counts the call once for each name that its findings have, by the worst that came of those.
func (g *guarded) count(by map[string]*found, name func(i int) string) {
	worst, findings := map[string]int{}, map[string]int64{}
	for i, f := range g.Guards {
		n := name(i)
		became := slices.Index([]string{"redact", "refuse"}, f.Action) + 1
		if f.Shadow {
			became = 0
		}
		worst[n] = max(worst[n], became)
		findings[n] += f.Count
	}
	for n, became := range worst {
		one := by[n]
		if one == nil {
			one = &found{Name: n}
			by[n] = one
		}
		one.Calls++
		one.Findings += findings[n]
		*[]*int{&one.Recorded, &one.Redacted, &one.Refused}[became]++
	}
}

// busiest are those with most calls, mostFound at most. A map has no order: the name decides between as many.
func busiest(all map[string]*found) []found {
	list := []found{}
	for _, f := range all {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), mostFound)]
}
