package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// circumstances are the conditions on the call itself: how, whence and when it came,
// and what it brings. A rule without them holds nil and pays nothing for them.
//
// They are another matter with every call, so that what a caller may see (Sees, Skills,
// Extensions) is judged as with authentication: an allow rule counts as if they held, and
// a deny rule as if they did not. Who may call in the morning still sees the agent in
// the evening, and is then refused.
type circumstances struct {
	bindings bindings // 0: any
	sources  ranges   // nil: any
	times    []window // nil: any
	content  *content // nil: any
	denies   bool     // of a deny rule: what cannot be told counts as met
}

// newCircumstances compiles them, nil where the rule has none, and describes what is
// wrong.
func newCircumstances(src *Rule) (*circumstances, []error) {
	if src.Bindings == nil && src.Sources == nil && src.Times == nil && src.Content == nil {
		return nil, nil
	}
	c := &circumstances{denies: src.Effect == "deny"}
	var problems [4][]error
	c.bindings, problems[0] = newBindings(src.Bindings)
	c.sources, problems[1] = newRanges(src.Sources)
	c.times, problems[2] = newWindows(src.Times)
	c.content, problems[3] = newContent(src.Content, src.Effect)
	return c, slices.Concat(problems[:]...)
}

// failed names the first condition that does not hold, by its key; "" when all do.
func (c *circumstances) failed(q *Request) string {
	switch {
	case c == nil:
		return ""
	case c.bindings != 0 && !c.over(q.Binding):
		return "bindings"
	case c.sources != nil && !c.from(q.Source):
		return "sources"
	case c.times != nil && !c.during(q.Now):
		return "times"
	case c.content != nil:
		return c.content.failed(q)
	}
	return ""
}

func (c *circumstances) over(b wire.Binding) bool {
	if b == 0 {
		return c.denies
	}
	return c.bindings&(1<<b) != 0
}

// from reports whether a call comes from one of the sources. The zone of a link-local
// address is the name of one of this machine's interfaces, and says nothing of the caller.
func (c *circumstances) from(a netip.Addr) bool {
	if !a.IsValid() {
		return c.denies
	}
	return c.sources.has(a.Unmap().WithZone(""))
}

func (c *circumstances) during(now time.Time) bool {
	if now.IsZero() {
		return c.denies
	}
	for i := range c.times {
		if c.times[i].has(now) {
			return true
		}
	}
	return false
}

// momentary reports whether the rule has conditions on the call itself.
func (r *rule) momentary() bool { return r.circumstances != nil || r.source.Expr != "" }

// unmet names the first condition of r that does not hold, of those that another call,
// or another sign-in, of the same caller can meet. What the caller can do something
// about comes last.
func (r *rule) unmet(q *Request) string {
	if key := r.circumstances.failed(q); key != "" {
		return key
	}
	return r.terms.unready(q.Principal, q.begun())
}

// holding keeps the rules that hold for a call, of those that gather found. Whether a
// rule is about a skill that is needed is asked first, being the cheapest.
func holding(hits []*rule, q *Request, n *need) []*rule {
	return slices.DeleteFunc(hits, func(r *rule) bool {
		return (r.circumstances != nil || r.terms != nil) && (!n.met(r) || r.unmet(q) != "")
	})
}

// bindings is a set of them, one bit for each.
type bindings uint8

func newBindings(list []string) (set bindings, problems []error) {
	for i, name := range list {
		b := bindingNamed(name)
		if b == 0 && name != "" { // an empty entry is reported with those of other lists
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is none of JSONRPC, HTTP+JSON and GRPC", name), i), "bindings"))
		}
		set |= 1 << b
	}
	return set &^ 1, problems
}

// bindingNamed looks a binding up by the name it has in cards; 0 for none.
func bindingNamed(name string) wire.Binding {
	for _, b := range []wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC} {
		if b.String() == name {
			return b
		}
	}
	return 0
}
