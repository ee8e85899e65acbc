package content

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Arrival is a state that a document says a task is in.
// It is compared with the state that is recorded of the task (ext.Machine), which is the proxy's
// to do.
type Arrival struct {
	Extension string // URI
	Task      string // the task's id; "" where the document does not say it
	State     string // of the extension
	Within    string // the task state, 1.0 name; "" where not said
	Pointer   string
	Enforced  bool // a state that may not follow refuses the answer; else it is only recorded
}

// Arrivals are the states of active extensions that an agent's document shows: task by
// task in its order, first what the task's own metadata says, or the update's, then
// what its status message says. A value under a machine's key that is no state has an
// empty State. Requests show none: a caller may ask for a state, but is not where a
// task's state is known from.
func (t *Terms) Arrivals(c *wire.Carriers) []Arrival {
	if !t.Answer || len(c.Marks) == 0 {
		return nil
	}
	var list []placed
	for _, uri := range t.Active {
		machine := t.Book.Machine(uri)
		if machine == nil {
			continue
		}
		mode := t.mode(uri)
		if mode == ext.Off {
			continue
		}
		key := machine.Key()
		for i := range c.Marks {
			m := &c.Marks[i]
			if m.Listed || m.Key != key {
				continue
			}
			if p, ok := place(c, m); ok {
				p.Extension, p.Enforced = uri, mode == ext.Enforce
				list = append(list, p)
			}
		}
	}
	// Stable, so that two extensions' states of one task stay in the order of Active.
	slices.SortStableFunc(list, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.root, b.root), cmp.Compare(a.rank, b.rank))
	})
	var arrivals []Arrival
	for _, p := range list {
		arrivals = append(arrivals, p.Arrival)
	}
	return arrivals
}

// placed is an Arrival and what it is sorted by: the task or update that it is of, and
// how far from that it stands.
// rank is 0 for the metadata of the task or update itself, 1 for that of its status message.
type placed struct {
	Arrival
	root, rank int
}

// place says whose state a mark shows; false if it stands where nobody says a task's.
// What is in a task's history is in no status.
// root is the index of the task or update among the document's carriers, -1 where the document
// does not show it.
func place(c *wire.Carriers, m *wire.Mark) (p placed, ok bool) {
	on := &c.List[m.Carrier]
	var status int
	switch {
	case on.Place == wire.InTask, on.Place == wire.InUpdate:
		p.root = m.Carrier
		status = statusOf(c, m.Carrier)
	case on.Place == wire.InMessage && on.Parent >= 0 && c.List[on.Parent].Place == wire.InStatus:
		status = on.Parent
		p.root, p.rank = c.List[status].Parent, 1
	default:
		return p, false
	}
	if status >= 0 {
		p.Within = c.List[status].State
	}
	if p.root >= 0 {
		p.Task = c.List[p.root].Task
	}
	p.State = stateIn(c.Doc[m.Value[0]:m.Value[1]])
	p.Pointer = c.PointerTo(*m)
	return p, true
}

// statusOf is the status of a task or update, -1 for none.
// The list has what is inside of an object behind it, so that the search ends where the object
// does.
func statusOf(c *wire.Carriers, of int) int {
	end := c.List[of].Span[1]
	for i := of + 1; i < len(c.List) && c.List[i].Span[0] < end; i++ {
		if c.List[i].Parent == of && c.List[i].Place == wire.InStatus {
			return i
		}
	}
	return -1
}

// stateIn reads a text, or the text under "state" of an object.
// "" for a value of any other form.
func stateIn(value []byte) string {
	var name string
	if jsontext.Value(value).Kind() == jsontext.KindString {
		if err := json.Unmarshal(value, &name); err != nil {
			return ""
		}
		return name
	}
	var object struct {
		State string `json:"state"`
	}
	if err := json.Unmarshal(value, &object); err != nil {
		return ""
	}
	return object.State
}
