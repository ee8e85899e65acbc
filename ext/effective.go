package ext

import (
	"cmp"
	"strings"
)

// Effective returns what a served card lists, which is what Negotiate enforces. Of
// requested it looks at nothing.
//
// The agent's entries come first, in its order, then what is required, injected and
// provided beside them. An agent that lists a URI twice gets one entry. What is
// injected is never marked as required, since nobody needs to ask for it.
func (b *Book) Effective(q *Question) []Declared {
	r := b.judge(q)
	out := make([]Declared, 0, len(q.Declared)+len(r.config.Require))
	add := func(d Declared) {
		for i := range out {
			if out[i].URI == d.URI {
				return
			}
		}
		if r.active(d.URI) {
			d.Required = r.required(d.URI) && !r.present(d.URI)
			d.Description = b.describe(d)
			out = append(out, d)
		}
	}
	for _, d := range q.Declared {
		add(d)
	}
	for _, uri := range r.demands {
		add(r.own(uri))
	}
	for _, uri := range r.injections {
		add(r.own(uri))
	}
	for _, uri := range r.config.Provide {
		add(r.own(uri))
	}
	return out
}

// own is the gateway's entry for what the agent does not declare.
func (r *ruling) own(uri string) Declared {
	if !r.provides(uri) {
		return Declared{URI: uri}
	}
	d := r.q.Provided[uri]
	d.URI = uri
	return d
}

// describe is an entry's own description, or the registry's, and, of a deprecated
// extension, what to use instead and how long it will last.
func (b *Book) describe(d Declared) string {
	e, ok := b.Entry(d.URI)
	if !ok {
		return d.Description
	}
	return strings.TrimSpace(cmp.Or(d.Description, e.Description) + e.farewell())
}

// farewell is " Deprecated until 2027-03-31: use URI.", or "".
func (e *Entry) farewell() string {
	if e.Status != Deprecated {
		return ""
	}
	var b strings.Builder
	b.WriteString(" Deprecated")
	if e.Sunset != "" {
		b.WriteString(" until " + e.Sunset)
	}
	if e.Replacement != "" {
		b.WriteString(": use " + e.Replacement)
	}
	return b.String() + "."
}
