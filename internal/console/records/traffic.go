package records

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Traffic is the answer of GET /api/v1/map: what callers, agents and extensions had to do
// with each other.
type Traffic struct {
	Since   time.Time     `json:"since" doc:"start of the counted period; it counts calls by their end"`
	Counted int           `json:"counted" doc:"number of counted calls"`
	More    bool          `json:"more" doc:"there were more calls than admin.map.records in the window; only the newest count, and since is the end of the oldest of them"`
	Nodes   []trafficNode `json:"nodes" doc:"nodes of each kind, busiest first; the last one stands for the rest"`
	Links   []trafficLink `json:"links" doc:"links from callers to agents, and from agents to extensions"`
}

// trafficNode is a caller, an agent or an extension; or all those that are not among the busiest.
type trafficNode struct {
	ID     string `json:"id" doc:"id of the node for links, valid only in this answer"`
	Kind   string `json:"kind" doc:"kind of the node: caller, agent or extension"`
	Name   string `json:"name" doc:"name of the caller, agent or extension; empty for calls without one, and for the rest"`
	Rest   int    `json:"rest,omitzero" doc:"number of names that this node stands for"`
	Calls  int    `json:"calls"`
	Denied int    `json:"denied" doc:"calls among them that were denied"`
	Failed int    `json:"failed" doc:"calls among them that failed for another reason"`
}

// trafficLink is what two nodes had to do with each other. From and To are ids of nodes.
type trafficLink struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Calls  int    `json:"calls"`
	Denied int    `json:"denied" doc:"denied calls; for an extension, also calls that continued without it"`
	Failed int    `json:"failed"`
}

// charts counts who called whom. It keeps nothing between two requests.
type charts struct {
	log  Records
	most int // calls that are counted
}

// MapScreen is that of who called which agents with which extensions. It counts so many calls
// at most, the newest ones, when somebody looks: they cost nothing more while nobody does.
func MapScreen(log Records, most int) api.Screen {
	s := &charts{log, most}
	return api.Screen{
		Title: "Map", Page: "/map", Link: true,
		Shows: "callers, agents and extensions, linked by ribbons as wide as the number of calls, with colors for denied and failed calls; the same as tables; search and choice of the period; links to agents, extensions and the audit log",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/map", ID: "map", Tag: "audit", Role: api.Viewer,
			Summary: "Count which callers called which agents with which extensions, from the recent calls on record",
			Params: []api.Param{
				WindowParam,
				{Name: "caller", Text: "only calls of this subject"},
				{Name: "agent", Text: "only calls to this agent"},
				{Name: "q", Text: "only calls of callers, agents or extensions with this text in their names, in any case"},
				{Name: "top", Text: "number of nodes of each kind; default: 16. One more node stands for the rest", Least: 1, Most: mostMapNames},
			},
			Out: reflect.TypeFor[Traffic](), Errors: []api.Code{api.Busy}, Answer: s.traffic,
		}},
	}
}

// traffic counts the newest calls in the window, at most s.most of them, by the names in
// their records. A search (q) is applied to each call and not to the nodes: a caller that
// is found is shown with the agents that it called.
func (s *charts) traffic(c *api.Call) (any, error) {
	window := Window(c)
	q := index.Query{
		Type: "call", Principal: c.Query.Get("caller"), Agent: c.Query.Get("agent"),
		From: time.Now().Add(-window).UTC(), Limit: s.most + 1, // one more: is there more?
	}
	list, err := s.log.Find(c.Context(), q)
	if err != nil {
		return nil, err
	}
	t := newTally(c.Query.Get("q"))
	answer := Traffic{Since: q.From, More: len(list) > s.most}
	for _, e := range list[:min(len(list), s.most)] {
		// Only the members that are counted are decoded; a record has some sixty.
		var m mapped
		if err := json.Unmarshal(e.Line, &m); err != nil {
			return nil, fmt.Errorf("read record %d: %w", e.Seq, err)
		}
		if answer.More {
			answer.Since = m.Time // the newest come first
		}
		t.add(&m)
	}
	answer.Counted = t.calls
	answer.Nodes, answer.Links = t.drawn(cmp.Or(c.Number("top"), usualMapNames))
	return answer, nil
}

const (
	usualMapNames = 16 // in a column
	mostMapNames  = 50
)

// mapped is what the map takes of the record of a call.
type mapped struct {
	Time      time.Time `json:"time"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"`
	Decision  string    `json:"decision"`
	Reason    string    `json:"reason"`
	Requested []string  `json:"extensions_requested"`
	Injected  []string  `json:"extensions_injected"`
	Provided  []string  `json:"extensions_provided"`
	Refused   []string  `json:"extensions_refused"`
}

// extensions are those of a call, whoever asked for them; one without a name for none.
func (m *mapped) extensions() []string {
	all := slices.Concat(m.Requested, m.Injected, m.Provided, m.Refused)
	if len(all) == 0 {
		return []string{""}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// like reports whether a name of the call has a text in it, which is in lower case.
func (m *mapped) like(text string) bool {
	return text == "" || slices.ContainsFunc(append(m.extensions(), m.Principal, m.Agent), func(name string) bool {
		return strings.Contains(strings.ToLower(name), text)
	})
}

// volume is how many calls there were of something.
type volume struct{ calls, denied, failed int }

// volume counts the call as what became of it.
func (m *mapped) volume() volume {
	switch {
	case m.Decision == "deny":
		return volume{calls: 1, denied: 1}
	case m.Decision == "error" || m.Reason != "":
		return volume{calls: 1, failed: 1}
	}
	return volume{calls: 1}
}

// add adds another volume to this one.
func (v *volume) add(o volume) {
	v.calls, v.denied, v.failed = v.calls+o.calls, v.denied+o.denied, v.failed+o.failed
}

// column is one of the map's.
type column int

const (
	callers column = iota
	agents
	extensions
)

// String is the kind of the nodes of a column, and the beginning of their ids.
func (c column) String() string { return [...]string{"caller", "agent", "extension"}[c] }

// ends is a name of a column and one of the next column.
type ends struct{ from, to string }

// tally counts calls. It holds no more names than the records that it was given. names has
// a map for each column, and pairs one for each gap between two columns.
type tally struct {
	like  string
	calls int
	names [3]map[string]volume
	pairs [2]map[ends]volume // callers with agents, agents with extensions
}

// newTally counts calls that have like in one of their names, in whatever case; all for "".
func newTally(like string) *tally {
	t := &tally{like: strings.ToLower(like)}
	for i := range t.names {
		t.names[i] = map[string]volume{}
	}
	for i := range t.pairs {
		t.pairs[i] = map[ends]volume{}
	}
	return t
}

// add counts a call for its caller, its agent, each of its extensions, and the pairs
// between them. An extension that was refused counts as denied there, even where the call
// went on without it.
func (t *tally) add(m *mapped) {
	if !m.like(t.like) {
		return
	}
	t.calls++
	one := m.volume()
	count(t.names[callers], m.Principal, one)
	count(t.names[agents], m.Agent, one)
	count(t.pairs[0], ends{m.Principal, m.Agent}, one)
	for _, uri := range m.extensions() {
		of := one
		if slices.Contains(m.Refused, uri) {
			of = volume{calls: 1, denied: 1}
		}
		count(t.names[extensions], uri, of)
		count(t.pairs[1], ends{m.Agent, uri}, of)
	}
}

// count adds v to what a map has for a key.
func count[K comparable](in map[K]volume, key K, v volume) {
	sum := in[key]
	sum.add(v)
	in[key] = sum
}

// drawn are so many nodes of each column, one more for the rest of it, and what is between.
// Names that are not among the first top of their column share the node of the rest, and so
// do their links: each link is between two nodes that are shown. Links of callers come
// before those of extensions, the widest first, which is the order in which they are drawn.
func (t *tally) drawn(top int) (nodes []trafficNode, links []trafficLink) {
	nodes, links = []trafficNode{}, []trafficLink{}
	var ids [3]map[string]string // nodes of names
	for col := range ids {
		shown := t.column(column(col), top)
		ids[col] = map[string]string{}
		for i := range shown {
			if shown[i].Rest == 0 {
				ids[col][shown[i].Name] = shown[i].ID
			}
		}
		nodes = append(nodes, shown...)
	}
	for i := range t.pairs {
		sums := map[ends]volume{}
		for p, v := range t.pairs[i] {
			count(sums, ends{
				cmp.Or(ids[i][p.from], rest(column(i))), cmp.Or(ids[i+1][p.to], rest(column(i+1))),
			}, v)
		}
		for p, v := range sums {
			links = append(links, trafficLink{From: p.from, To: p.to, Calls: v.calls, Denied: v.denied, Failed: v.failed})
		}
	}
	slices.SortFunc(links, func(a, b trafficLink) int {
		return cmp.Or(cmp.Compare(a.From[:1], b.From[:1])*-1, b.Calls-a.Calls, cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return nodes, links
}

// rest is the node of what is not among the busiest.
func rest(c column) string { return c.String() + "-rest" }

// column are its nodes, the busiest first and the rest of them last. The ids of nodes are
// positions ("agent-0"), since names may be long, empty, or equal in two columns.
func (t *tally) column(c column, top int) []trafficNode {
	var list []trafficNode
	for name, v := range t.names[c] {
		list = append(list, trafficNode{Kind: c.String(), Name: name, Calls: v.calls, Denied: v.denied, Failed: v.failed})
	}
	slices.SortFunc(list, func(a, b trafficNode) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Name, b.Name)) })
	for i := range list[:min(top, len(list))] {
		list[i].ID = fmt.Sprintf("%s-%d", c, i)
	}
	if len(list) <= top {
		return list
	}
	last := trafficNode{ID: rest(c), Kind: c.String(), Rest: len(list) - top}
	for _, n := range list[top:] {
		last.Calls, last.Denied, last.Failed = last.Calls+n.Calls, last.Denied+n.Denied, last.Failed+n.Failed
	}
	return append(list[:top:top], last)
}
