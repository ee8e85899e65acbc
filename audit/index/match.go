package index

import "slices"

// Head is what can be asked for of one record. It lets the console test records of a live feed
// against a query without an index: what is found live is what would be found later.
type Head struct{ fields fields }

// Read reads a record.
func (h *Head) Read(line []byte) error { return h.fields.read(line) }

// Seq is the record's number.
func (h *Head) Seq() uint64 { return h.fields.Seq }

// asked has the texts of the record where a query for the record would have them (Texts), but for what guards
// found; those that it lacks are empty. Methods and kinds of events are never both there.
func (h *Head) asked() Query {
	f := &h.fields
	return Query{
		Principal: f.Principal, Agent: f.Agent, Skill: f.Skill, Task: f.Task, Context: f.Context, Method: f.Method, Event: f.Event,
		Reason: f.Reason, Issuer: f.Issuer, Rule: f.Rule, Approval: f.Approval,
	}
}

// Has are the values that the record has of a text that can be asked for, by its name in Texts: several of what
// guards found, and none of what it lacks.
func (h *Head) Has(name string) (values []string) {
	for _, g := range h.fields.Guards {
		switch name {
		case "guard":
			values = append(values, g.Guard)
		case "finding":
			values = append(values, g.Kind)
		}
	}
	asked := h.asked()
	if v := *Texts[name](&asked); v != "" {
		values = append(values, v)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// Filter tells whether a record is one that is asked for, of records that are at hand. Limit
// and order are nothing to it. The query is cleaned once, and not with each record.
func (q Query) Filter() func(*Head) bool {
	q = q.clean()
	return func(h *Head) bool { return q.match(&h.fields) }
}
