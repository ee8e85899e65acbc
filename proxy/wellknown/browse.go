package wellknown

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Browse makes the catalog. Asking the rules about every agent takes time, so that a list
// is made once for all callers of whom the rules know the same, and entries are shared by
// the lists they are the same in.
//
// One mutex guards all of it. It is held while a list is made, so that a hundred readers of the
// same kind who come after a reload make one list and not a hundred.
type Browse struct {
	catalog.Documents

	Public bool // there are agents that strangers may read about

	mu      sync.Mutex
	Lists   map[Viewer]*Roster
	Shelves []Shelf // parallel to Proxy.Agents
}

// Bounds of what is remembered. Callers whose tokens differ are kept apart; when there are
// many, starting afresh is cheaper than bookkeeping.
const (
	maxRosters = 256
	maxEntries = 16 // of one agent
	rosterAge  = cardMaxAge
)

// Viewer is all that rules may know of a caller: its SHA-256, or zero for strangers.
type Viewer [sha256.Size]byte

// Roster is what one viewer may know of.
type Roster struct {
	list  catalog.List
	views []*agents.View // of all agents, by which the list was made
	until time.Time      // what an extension is may depend on the date
}

// Shelf has the entries of an agent, by what is different in them.
type Shelf struct {
	view    *agents.View
	entries map[[sha256.Size]byte]*catalog.Entry
}

// viewerOf tells callers apart by what verified credentials say of them, all of it: which
// part the rules look at is theirs to know.
//
// The JSON is deterministic, as the same credential must give the same digest each time.
func viewerOf(p *authn.Principal) (Viewer, error) {
	if p == nil {
		return Viewer{}, nil
	}
	text, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return Viewer{}, fmt.Errorf("tell callers apart: %w", err)
	}
	return sha256.Sum256(text), nil
}

// agentsFor is the list that the caller may see.
//
// A list is good while its cards are the current ones, and for rosterAge at most.
func (ds *Documents) agentsFor(x *exchange.Exchange) (catalog.List, error) {
	who, err := viewerOf(x.Principal)
	if err != nil {
		return nil, err
	}
	b := ds.Browse
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.Lists[who]; l != nil && l.until.After(x.Rec.Start) && l.current(ds.Agents) {
		return l.list, nil
	}
	l, err := ds.survey(x)
	if err != nil {
		return nil, err
	}
	if len(b.Lists) >= maxRosters {
		clear(b.Lists)
	}
	b.Lists[who] = l
	return l.list, nil
}

// current reports whether the cards are still those of before.
func (l *Roster) current(agents []*agents.Agent) bool {
	for i, a := range agents {
		if a.Look() != l.views[i] {
			return false
		}
	}
	return true
}

// survey asks about every agent what ServeCard asks about one. Agents whose cards have
// never been fetched are left out: nothing can be said of them, and calls would fail.
//
// Only the fields of the exchange that the rules look at are set: there is no call.
func (ds *Documents) survey(x *exchange.Exchange) (*Roster, error) {
	l := &Roster{views: make([]*agents.View, len(ds.Agents)), until: x.Rec.Start.Add(rosterAge)}
	entries := make([]*catalog.Entry, 0, len(ds.Agents))
	about := &exchange.Exchange{Principal: x.Principal}
	about.Rec.Start = x.Rec.Start
	for i, a := range ds.Agents {
		l.views[i] = a.Look()
		if l.views[i] == nil || !ds.lists(x.Principal, a) {
			continue
		}
		about.Agent, about.View = a, l.views[i]
		e, err := ds.entry(about, &ds.Browse.Shelves[i])
		if err != nil {
			return nil, fmt.Errorf("list agent %s: %w", a.ID, err)
		}
		entries = append(entries, e)
	}
	l.list = catalog.NewList(entries)
	return l, nil
}

// lists reports whether a caller, or a stranger, may know of an agent: whether there is a
// card for them.
func (ds *Documents) lists(who *authn.Principal, a *agents.Agent) bool {
	switch {
	case a.Card.Visibility == card.None:
		return false
	case who == nil:
		return a.Public()
	}
	return who.MayUse(a.ID) && ds.Policy.Sees(who, a.ID)
}

// entry is what the catalog says of an agent to this caller. Browse's lock is held.
//
// Entries depend on the card, the visible skills and the extensions alone, so that readers who
// see the same share one. They are dropped together when the card changes.
func (ds *Documents) entry(x *exchange.Exchange, s *Shelf) (*catalog.Entry, error) {
	if s.view != x.View {
		*s = Shelf{view: x.View, entries: map[[sha256.Size]byte]*catalog.Entry{}}
	}
	skills := ds.visible(x)
	extensions := offeredIn(ds.extensions(x, skills))
	key := sha256.Sum256(fmt.Appendf(nil, "%q %#v", skills, extensions))
	if e := s.entries[key]; e != nil {
		return e, nil
	}
	e, err := catalog.NewEntry(ds.portray(x, skills, extensions))
	if err != nil {
		return nil, err
	}
	if len(s.entries) >= maxEntries {
		clear(s.entries)
	}
	s.entries[key] = e
	return e, nil
}

// offeredIn puts extensions into the catalog's words, in the order of their URIs, so that two
// equal sets have one digest.
func offeredIn(list []ext.Declared) []catalog.Extension {
	out := make([]catalog.Extension, 0, len(list))
	for _, d := range list {
		out = append(out, catalog.Extension{URI: d.URI, Required: d.Required})
	}
	slices.SortFunc(out, func(a, b catalog.Extension) int { return strings.Compare(a.URI, b.URI) })
	return out
}

// portray puts an agent into the catalog's words, those of the card as it is served.
func (ds *Documents) portray(x *exchange.Exchange, skills []string, extensions []catalog.Extension) catalog.About {
	said := x.View.Card.Summarize(card.View{
		Skills: skills, Limits: x.Agent.Card.Limits, Hidden: x.Agent.Addresses(), Push: ds.Pushes(), Version: wire.V10,
	})
	base := ds.Base(x.Agent)
	a := catalog.About{
		ID: x.Agent.ID, Name: said.Name, Description: said.Description, Version: said.Version,
		URL: base, Card: base + exchange.CardPath, Documentation: said.Documentation,
		Streaming: said.Streaming, Push: said.Push, Extensions: extensions,
		Skills: make([]catalog.Skill, 0, len(said.Skills)),
	}
	for _, s := range said.Skills {
		one := catalog.Skill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags}
		if one.Tags == nil {
			one.Tags = []string{}
		}
		if addressable(s.ID) {
			one.Card = base + skillPath(s.ID) + exchange.CardPath
		}
		a.Skills = append(a.Skills, one)
	}
	return a
}
