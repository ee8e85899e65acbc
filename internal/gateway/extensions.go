package gateway

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
)

// extensions are those of the configuration in force as the console sees them.
type extensions struct{ *Gateway }

// Registry implements console.Extensions.
func (x extensions) Registry() console.Registry {
	r := console.Registry{Since: x.began.UTC(), Extensions: []console.Registered{}}
	s := x.current.Load()
	if s == nil {
		return r
	}
	calls, violations := x.counts()
	add := func(one console.Registered) {
		one.Calls, one.Violations = calls[one.URI], slices.Concat([]console.Violation{}, violations[one.URI])
		r.Extensions = append(r.Extensions, one)
	}
	rest := map[string]bool{} // what the gateway provides, other, and none: files
	for uri := range calls {
		rest[uri] = true
	}
	for uri := range violations {
		rest[uri] = true
	}
	for i := range s.config.Extensions {
		add(registeredOf(&s.config.Extensions[i]))
		delete(rest, s.config.Extensions[i].URI)
	}
	for _, uri := range slices.Sorted(maps.Keys(rest)) {
		add(console.Registered{URI: uri, Kind: "other", Status: "other"})
	}
	return r
}

func registeredOf(e *ext.Entry) console.Registered {
	one := console.Registered{
		URI: e.URI, Description: e.Description, Kind: cmp.Or(string(e.Kind), "profile"), Status: cmp.Or(string(e.Status), "allowed"),
		Replacement: e.Replacement, Sunset: e.Sunset, Specification: e.Specification, Validation: string(e.Validation), Hooks: len(e.Hooks),
	}
	for _, m := range e.Methods {
		one.Methods = append(one.Methods, m.Name)
	}
	return one
}

// counts are what calls did with extensions, by URI.
func (x extensions) counts() (map[string]console.Negotiated, map[string][]console.Violation) {
	calls, violations := map[string]console.Negotiated{}, map[string][]console.Violation{}
	for _, c := range x.telemetry.Metrics.Negotiations() {
		n := calls[c.Labels["uri"]]
		switch c.Labels["result"] {
		case "activated":
			n.Activated += c.Value
		case "inactive":
			n.Inactive += c.Value
		case "refused":
			n.Refused += c.Value
		case "injected":
			n.Injected += c.Value
		case "provided":
			n.Provided += c.Value
		}
		calls[c.Labels["uri"]] = n
	}
	for _, c := range x.telemetry.Metrics.Violations() {
		uri := c.Labels["uri"]
		violations[uri] = append(violations[uri], console.Violation{
			Fault: c.Labels["fault"], Enforced: c.Labels["enforced"] == "true", Count: c.Value,
		})
	}
	for _, list := range violations {
		slices.SortFunc(list, func(a, b console.Violation) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Fault, b.Fault))
		})
	}
	return calls, violations
}

// Adoption implements console.Extensions.
func (x extensions) Adoption(after string, limit int) []console.Adoption {
	list := []console.Adoption{}
	s := x.acquire()
	if s == nil {
		return list
	}
	defer s.release()
	ids := slices.Sorted(maps.Keys(s.agents))
	at, found := slices.BinarySearch(ids, after)
	if found {
		at++
	}
	for _, id := range ids[at:min(at+limit, len(ids))] {
		q, known := s.standing(s.agents[id])
		one := console.Adoption{Agent: id, Card: known, Extensions: []console.Adopted{}}
		for _, a := range s.book.Explain(q) {
			adopted := console.Adopted{URI: a.URI, Standing: a.Standing}
			for _, d := range q.Declared {
				if d.URI == a.URI {
					adopted.Declared, adopted.Required = true, adopted.Required || d.Required
				}
			}
			one.Extensions = append(one.Extensions, adopted)
		}
		list = append(list, one)
	}
	return list
}

// Of implements console.Extensions.
func (x extensions) Of(agent string) (console.Standing, bool) {
	s := x.acquire()
	if s == nil {
		return console.Standing{}, false
	}
	defer s.release()
	m := s.agents[agent]
	if m == nil {
		return console.Standing{}, false
	}
	q, known := s.standing(m)
	return console.Standing{Agent: agent, Card: known, Extensions: s.book.Explain(q)}, true
}

// standing is what is asked about an agent's extensions where no rule has a say. known says
// that its card is.
func (s *snapshot) standing(m *member) (q *ext.Question, known bool) {
	q = &ext.Question{Config: &m.config.Extensions, Provided: map[string]ext.Declared{}, Now: time.Now()}
	for uri, p := range provided.Providers() {
		q.Provided[uri] = p.Declared()
	}
	c := m.agent.Source.Current()
	if c != nil {
		q.Declared = c.Extensions
	}
	return q, c != nil
}
