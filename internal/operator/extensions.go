package operator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/console/extensions"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Extensions are those of the configuration in force as the console sees them.
type Extensions struct {
	Began time.Time // of the counts
	// The configuration in force: which extensions are registered.
	Current *snapshot.Current
	// The counters of this process, which begin at 0 when it starts.
	Metrics *metrics.Extensions
}

// Registry implements extensions.Extensions. First come the registered extensions in the
// order of the configuration, then what else was counted: extensions that the gateway
// provides by itself, and the series "other" and "none" (see telemetry/metrics), so that
// the sums of the page are those of /metrics.
func (x Extensions) Registry() extensions.Registry {
	r := extensions.Registry{Since: x.Began.UTC(), Extensions: []extensions.Registered{}}
	s := x.Current.Load()
	if s == nil {
		return r
	}
	calls, violations := x.counts()
	add := func(one extensions.Registered) {
		one.Calls, one.Violations = calls[one.URI], slices.Concat([]extensions.Violation{}, violations[one.URI])
		r.Extensions = append(r.Extensions, one)
	}
	rest := map[string]bool{} // what the gateway provides, other, and none: files
	for uri := range calls {
		rest[uri] = true
	}
	for uri := range violations {
		rest[uri] = true
	}
	for i := range s.Config.Extensions {
		add(registeredOf(&s.Config.Extensions[i]))
		delete(rest, s.Config.Extensions[i].URI)
	}
	for _, uri := range slices.Sorted(maps.Keys(rest)) {
		add(extensions.Registered{URI: uri, Kind: "other", Status: "other"})
	}
	return r
}

// registeredOf describes an extension as it stands in the configuration. Defaults are
// written out (profile for the kind, allowed for the status): whoever reads the page need
// not know them.
func registeredOf(e *ext.Entry) extensions.Registered {
	one := extensions.Registered{
		URI: e.URI, Description: e.Description, Kind: cmp.Or(string(e.Kind), "profile"), Status: cmp.Or(string(e.Status), "allowed"),
		Replacement: e.Replacement, Sunset: e.Sunset, Specification: e.Specification, Validation: string(e.Validation), Hooks: len(e.Hooks),
	}
	for _, m := range e.Methods {
		one.Methods = append(one.Methods, m.Name)
	}
	return one
}

// counts are what calls did with extensions, by URI. The counters are read from the metrics
// instead of being kept a second time, so that the console and a dashboard can never
// differ.
func (x Extensions) counts() (map[string]extensions.Negotiated, map[string][]extensions.Violation) {
	calls, violations := map[string]extensions.Negotiated{}, map[string][]extensions.Violation{}
	for _, c := range x.Metrics.Negotiations() {
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
	for _, c := range x.Metrics.Violations() {
		uri := c.Labels["uri"]
		violations[uri] = append(violations[uri], extensions.Violation{
			Fault: c.Labels["fault"], Enforced: c.Labels["enforced"] == "true", Count: c.Value,
		})
	}
	// The most frequent faults first; those that are as frequent by name, for a stable
	// page.
	for _, list := range violations {
		slices.SortFunc(list, func(a, b extensions.Violation) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Fault, b.Fault))
		})
	}
	return calls, violations
}

// Adoption implements extensions.Extensions. It pages through the agents by id: from behind
// after, at most limit.
func (x Extensions) Adoption(after string, limit int) []extensions.Adoption {
	list := []extensions.Adoption{}
	s := x.Current.Acquire()
	if s == nil {
		return list
	}
	defer s.Release()
	ids := slices.Sorted(maps.Keys(s.Agents))
	at, found := slices.BinarySearch(ids, after)
	if found {
		at++
	}
	for _, id := range ids[at:min(at+limit, len(ids))] {
		q, known := extensionsOf(s.Agents[id])
		one := extensions.Adoption{Agent: id, Card: known, Extensions: []extensions.Adopted{}}
		for _, a := range s.Book.Explain(q) {
			adopted := extensions.Adopted{URI: a.URI, Standing: a.Standing}
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

// Of implements extensions.Extensions.
func (x Extensions) Of(agent string) (extensions.Standing, bool) {
	s := x.Current.Acquire()
	if s == nil {
		return extensions.Standing{}, false
	}
	defer s.Release()
	m := s.Agents[agent]
	if m == nil {
		return extensions.Standing{}, false
	}
	q, known := extensionsOf(m)
	return extensions.Standing{Agent: agent, Card: known, Extensions: s.Book.Explain(q)}, true
}

// extensionsOf is what is asked about an agent's extensions where no rule has a say. known says
// that its card is.
func extensionsOf(m *snapshot.Member) (q *ext.Question, known bool) {
	q = &ext.Question{Config: &m.Config.Extensions, Provided: map[string]ext.Declared{}, Now: time.Now()}
	for uri, p := range provided.Providers() {
		q.Provided[uri] = p.Declared()
	}
	c := m.Agent.Source.Current()
	if c != nil {
		q.Declared = c.Extensions
	}
	return q, c != nil
}
