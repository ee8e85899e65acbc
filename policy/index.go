package policy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// hitRoom is how many matching rules fit on the stack; more cost an allocation.
const hitRoom = 32

// bucket holds the rules that share one pattern of agents, found by what they ask
// of the principal. A rule stands under the one condition that lets the fewest
// callers meet it, so that a call costs what the rules about this agent and this
// caller cost, however many others there are.
type bucket struct {
	subjects shelf    // rules whose subjects are all exact
	groups   shelf    // else: rules with groups
	scopes   shelf    // else: rules with scopes, under the first
	issuers  shelf    // else: rules with issuers
	scoped   ruleList // all that stand in scopes
	rest     ruleList // else
	reads    bool     // some rule looks at messages
}

// place files a rule.
func (b *bucket) place(r *rule) {
	b.reads = b.reads || r.reads()
	switch {
	// One caller meets a subject, many a group, and nearly all who come an issuer.
	case r.caller.subjects.Exact():
		b.subjects.add(r.source.Subjects, r)
	case r.caller.groups != nil:
		b.groups.add(r.caller.groups, r)
	case r.caller.scopes != nil:
		b.scopes.add(r.caller.scopes[:1], r)
		b.scoped.add(r)
	case r.caller.issuers != nil:
		b.issuers.add(r.caller.issuers, r)
	default:
		b.rest.add(r)
	}
}

// shelf holds rules under keys. marks has a bit for every key, so that most of
// the hundreds of groups a directory may put a caller into cost no lookup.
type shelf struct {
	rules map[string]*ruleList
	marks uint64
}

// add puts a rule under each key.
func (s *shelf) add(keys []string, r *rule) {
	if s.rules == nil {
		s.rules = make(map[string]*ruleList, 1)
	}
	for _, k := range keys {
		if s.rules[k] == nil {
			s.rules[k] = new(ruleList)
		}
		s.rules[k].add(r)
		s.marks |= mark(k)
	}
}

// under has the rules filed under a key; nil for none.
func (s *shelf) under(key string) *ruleList {
	if s.marks&mark(key) == 0 {
		return nil
	}
	return s.rules[key]
}

// mark is a bit that depends on a key's length and last byte, in which the names
// of one directory differ most.
func mark(key string) uint64 {
	if key == "" {
		return 1
	}
	return 1 << ((uint(len(key))*31 + uint(key[len(key)-1])) % 64)
}

// gather appends the rules in an agent's buckets that hold for a principal and at
// least one of the methods, whatever their authentication and consent; those that no
// skill of n can meet may be left out. A nil n is for all skills. A rule may come twice,
// and the order is not the file's.
func gather(hits []*rule, buckets []*bucket, p *authn.Principal, m methods, n *need) []*rule {
	for _, b := range buckets {
		hits = b.known(hits, p, m, n)
		if b.scopes.marks != 0 {
			for _, scope := range p.Scopes {
				hits = b.scopes.under(scope).pick(hits, p, m, n)
			}
		}
	}
	return hits
}

// known gathers from all rules that do not stand under a scope.
func (b *bucket) known(hits []*rule, p *authn.Principal, m methods, n *need) []*rule {
	hits = b.subjects.under(p.Subject).pick(hits, p, m, n)
	hits = b.issuers.under(p.Issuer).pick(hits, p, m, n)
	if b.groups.marks != 0 {
		for _, group := range p.Groups {
			hits = b.groups.under(group).pick(hits, p, m, n)
		}
	}
	return b.rest.pick(hits, p, m, n)
}

// allows reports whether some rule of the bucket allows a principal one of the methods.
func (b *bucket) allows(p *authn.Principal, m methods) bool {
	if b.subjects.under(p.Subject).allows(p, m) || b.issuers.under(p.Issuer).allows(p, m) || b.rest.allows(p, m) {
		return true
	}
	for _, group := range p.Groups {
		if b.groups.under(group).allows(p, m) {
			return true
		}
	}
	for _, scope := range p.Scopes {
		if b.scopes.under(scope).allows(p, m) {
			return true
		}
	}
	return false
}

// pick appends the rules of a list that hold for a principal and one of the methods. It is
// where a call spends its time if many rules are about the same callers.
func pick(hits, from []*rule, p *authn.Principal, m methods) []*rule {
	for _, r := range from {
		if r.target.methods&m != 0 && r.identifies(p) && r.scoped(p) {
			hits = append(hits, r)
		}
	}
	return hits
}

// unscoped gathers the allow rules that would hold if the principal had more
// scopes, another authentication and the user's consent. Only refusals ask for it.
func (s *Set) unscoped(p *authn.Principal, agent string, m methods, n *need) []*rule {
	var hits []*rule
	for _, b := range s.agents[agent] {
		for _, ruleList := range b.piles(p) {
			for list := range ruleList.about(n) {
				for _, r := range list {
					if r.effect == allows && !r.shadow && r.target.methods&m != 0 && r.identifies(p) {
						hits = append(hits, r)
					}
				}
			}
		}
	}
	return hits
}

// piles are the places where a principal's rules stand, scopes not looked at.
func (b *bucket) piles(p *authn.Principal) []*ruleList {
	piles := []*ruleList{b.subjects.under(p.Subject), b.issuers.under(p.Issuer), &b.rest, &b.scoped}
	for _, group := range p.Groups {
		piles = append(piles, b.groups.under(group))
	}
	return piles
}

// index files every rule under the agents it is about. Rules with the same
// pattern share a bucket: ten thousand rules for all agents are stored once, not
// once per agent. The buckets come back by their pattern.
func (s *Set) index() map[string]*bucket {
	byPattern := map[string]*bucket{}
	for _, r := range s.rules {
		for _, text := range r.places() {
			if byPattern[text] == nil {
				byPattern[text] = &bucket{}
			}
			byPattern[text].place(r)
		}
	}
	s.agents = make(map[string][]*bucket, len(s.ids))
	for _, id := range s.ids {
		s.agents[id] = nil
	}
	for text, b := range byPattern {
		for _, id := range s.ids.matching(text) {
			s.agents[id] = append(s.agents[id], b)
		}
	}
	return byPattern
}

// places are the patterns of agents a rule is filed under, each once.
func (r *rule) places() []string {
	if r.target.agents.All() {
		return []string{"*"}
	}
	list := slices.Clone(r.source.Agents)
	slices.Sort(list)
	return slices.Compact(list)
}
