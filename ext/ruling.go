package ext

import "slices"

// ruling answers one Question about single URIs. Negotiate and Effective both ask it,
// so that a card cannot list anything else than what is enforced.
//
// For one URI: permits (may it), offers (can anybody), available (both), active (with what it
// depends on), present (without being asked for), required (is a call without it refused).
type ruling struct {
	book    *Book
	q       Question // a copy, so that the caller's need not be on the heap
	config  *Config
	lenient bool // what Config would refuse or leave out is only recorded
	trial   int  // index of a shadow rule to be taken as one that is enforced, else -1

	demands    Set // the extensions without which a call is refused, permitted or not
	injections Set // the extensions that clients need not ask for, permitted or not
}

// nothing is the Config of an agent that has none.
var nothing Config

// A Question without a section is that of an agent without one, which restricts nothing.
func (b *Book) judge(q *Question) ruling {
	r := ruling{book: b, q: *q, config: q.Config, trial: -1}
	if r.config == nil {
		r.config = &nothing
	}
	r.lenient = r.config.Mode == modeShadow
	r.collect()
	return r
}

// collect reads demands and injections from wherever they may come. There are mostly
// none, and then it costs no memory.
func (r *ruling) collect() {
	r.demands, r.injections = nil, nil
	r.injections.include(r.config.Inject)
	if !r.lenient {
		r.demands.include(r.config.Require)
		for i := range r.q.Declared {
			if d := &r.q.Declared[i]; d.Required && !r.demands.Has(d.URI) {
				r.demands = append(r.demands, d.URI)
			}
		}
	}
	for i := range r.q.Rules {
		if r.counts(i) {
			r.demands.include(r.q.Rules[i].Require)
			r.injections.include(r.q.Rules[i].Inject)
		}
	}
}

// include adds what is not there yet. An empty set shares the memory of the first
// list, which has no repeats; appending copies it.
func (s *Set) include(uris []string) {
	if len(*s) == 0 {
		*s = uris[:len(uris):len(uris)]
		return
	}
	for _, uri := range uris {
		if !s.Has(uri) {
			*s = append(*s, uri)
		}
	}
}

// counts reports whether a rule is enforced.
func (r *ruling) counts(rule int) bool { return !r.q.Rules[rule].Shadow || rule == r.trial }

// permits reports whether uri may be active in the call at all.
func (r *ruling) permits(uri string) bool {
	if r.book.blocked(uri, r.q.Now) || !r.lenient && !r.config.admits(uri) {
		return false
	}
	// One rule with a list is enough to restrict the call to what any rule lists; a denial of any
	// rule ends it.
	restricted, listed := false, false
	for i := range r.q.Rules {
		if !r.counts(i) {
			continue
		}
		e := &r.q.Rules[i]
		if slices.Contains(e.Deny, uri) {
			return false
		}
		restricted = restricted || len(e.Allow) > 0
		listed = listed || slices.Contains(e.Allow, uri) ||
			slices.Contains(e.Require, uri) || slices.Contains(e.Inject, uri)
	}
	return !restricted || listed
}

// admits reports whether an agent's own configuration permits uri.
func (c *Config) admits(uri string) bool {
	switch {
	case slices.Contains(c.Deny, uri):
		return false
	case len(c.Allow) == 0:
		return true
	}
	return slices.Contains(c.Allow, uri) || slices.Contains(c.Require, uri) ||
		slices.Contains(c.Inject, uri) || slices.Contains(c.Provide, uri)
}

// declared finds the agent's own entry, nil for none.
func (r *ruling) declared(uri string) *Declared {
	for i := range r.q.Declared {
		if r.q.Declared[i].URI == uri {
			return &r.q.Declared[i]
		}
	}
	return nil
}

// governs reports whether anybody has said what uri is.
func (r *ruling) governs(uri string) bool {
	_, registered := r.book.Entry(uri)
	return registered || r.declared(uri) != nil
}

// provides reports whether the gateway does in the agent's place what uri stands for.
func (r *ruling) provides(uri string) bool {
	return slices.Contains(r.config.Provide, uri) &&
		r.declared(uri) == nil && !r.injections.Has(uri)
}

// available reports whether uri can be active in the call, whatever it depends on.
func (r *ruling) available(uri string) bool { return r.offers(uri) && r.permits(uri) }

// offers reports whether anybody can do what uri stands for. What is required or
// injected counts as declared: the operator vouches for it.
func (r *ruling) offers(uri string) bool {
	return r.declared(uri) != nil || slices.Contains(r.config.Provide, uri) ||
		r.demands.Has(uri) || r.injections.Has(uri)
}

// active reports whether uri becomes active when it is asked for, and so whether a
// card lists it. What a required extension depends on is the agent's business: a
// client cannot do without it, whatever the registry thinks.
func (r *ruling) active(uri string) bool {
	if !r.available(uri) {
		return false
	}
	needs := r.book.needs(uri)
	if len(needs) == 0 || r.demands.Has(uri) {
		return true
	}
	for _, dep := range needs {
		if !r.available(dep) {
			return false
		}
	}
	return true
}

// present reports whether uri is active without being asked for: injected, or needed
// by what is.
func (r *ruling) present(uri string) bool {
	for _, injected := range r.injections {
		if injected == uri || slices.Contains(r.book.needs(injected), uri) {
			if r.active(injected) && r.active(uri) {
				return true
			}
		}
	}
	return false
}

// refuses reports whether a client has to ask for what its extensions depend on.
func (r *ruling) refuses() bool {
	return r.config.Dependencies != dependenciesClose && !r.lenient
}

// required reports whether a call without uri is refused, were it not for what is
// injected.
func (r *ruling) required(uri string) bool {
	if r.demands.Has(uri) {
		return true
	}
	if !r.refuses() {
		return false
	}
	for _, demanded := range r.demands {
		if slices.Contains(r.book.needs(demanded), uri) && r.permits(demanded) && !r.present(demanded) {
			return true
		}
	}
	return false
}
