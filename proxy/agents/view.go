package agents

import (
	"errors"
	"net/url"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
)

// View is what one exchange needs to know of the agent's card. It is taken once
// per exchange, so that a refresh in the middle cannot mix two cards. It is
// immutable and made once per card.
type View struct {
	Card            *card.Card
	interfaces      []card.Interface // those that may be contacted
	Endpoints       []Endpoint       // the same, ready for use
	OutputModes     []string         // its own and those of its skills, each once
	backend         string           // what contexts are recorded by; "" without an interface
	Skills          []string         // every skill id
	Extensions      []ext.Declared
	Known           *ext.Roots              // extensions, and those that the configuration names
	Schemas         map[string]SkillSchemas // by skill
	Scopes          map[string][][]string   // by skill, what the card asks for; see card.Skill
	modes           map[string]skillModes   // by skill, and under "" of all; nil where nobody asks
	RefusedVersions *RefusedVersions        // versions that the agent has been asked in beside the card's
}

// Endpoint is one interface of the agent.
type Endpoint struct {
	wire.Side
	Tenant  string
	Address string   // the URL as far as it may be told of
	URL     *url.URL // it, parsed; never changed
	Methods bool     // the URL is that of one method; see interfaces.MethodURL
	Says    []string // the version, as the lines of a header; never changed
}

// Look takes the current card. It returns nil while the card has never been
// fetched: without it the gateway knows neither endpoints nor skills, and
// guessing either would be unsafe.
func (a *Agent) Look() *View {
	c := a.Source.Current()
	if c == nil {
		return nil
	}
	if v := a.seen.Load(); v != nil && v.Card == c {
		return v
	}
	v := a.read(c)
	a.seen.Store(v)
	return v
}

// Correct makes e what is known of its endpoint, in place of what the card that v was made of
// says, until there is another card. It returns the version that the card says, and false where
// v is not what the agent goes by any more.
func (a *Agent) Correct(v *View, e *Endpoint) (was wire.Version, ok bool) {
	next := *v
	next.Endpoints, next.RefusedVersions = slices.Clone(v.Endpoints), new(RefusedVersions)
	for i := range next.Endpoints {
		if at := &next.Endpoints[i]; at.Address == e.Address && at.Binding == wire.JSONRPC {
			was, *at = at.Version, *e
		}
	}
	return was, a.seen.CompareAndSwap(v, &next)
}

// NotReady is why there is no card to go by: as long as none was fetched, what has failed.
func (a *Agent) NotReady() error {
	if err := a.Source.Err(); err != nil && !errors.Is(err, card.ErrPending) {
		return cardAway{err}
	}
	return ErrNotReady
}

// cardAway is ErrNotReady with the reason why no card is in force.
type cardAway struct{ why error }

func (e cardAway) Error() string { return "the agent has no card in force: " + e.why.Error() }

func (cardAway) Is(target error) bool { return target == ErrNotReady }

// Callable reports whether the agent's card is there, and an interface that calls may go to.
func (a *Agent) Callable() bool {
	v := a.Look()
	return v != nil && len(v.Endpoints) > 0
}

func (a *Agent) read(c *card.Card) *View {
	v := &View{Card: c, OutputModes: outputModes(c), Extensions: c.Extensions, Known: knownIn(c.Extensions, &a.Extensions), RefusedVersions: new(RefusedVersions), Schemas: learnSchemas(a.schemas, c.Skills)}
	v.interfaces, _ = a.Usable(c)
	for _, i := range v.interfaces {
		if u, err := url.Parse(i.URL); err == nil { // Endpoints has parsed it before
			v.Endpoints = append(v.Endpoints, Endpoint{
				Side: wire.Side{Version: i.Version, Binding: i.Binding}, Tenant: i.Tenant,
				Address: secret.URL(i.URL).String(), URL: u, Says: []string{string(i.Version)},
			})
			e := &v.Endpoints[len(v.Endpoints)-1]
			e.Methods = a.Tolerates(MethodAddresses) && interfaces.IsMethodPath(e.Side, u)
		}
	}
	v.backend = backendOf(v.Endpoints)
	if len(a.Skills) > 0 {
		for _, s := range a.Skills {
			v.Skills = append(v.Skills, s.ID)
		}
	} else {
		for _, s := range c.Skills {
			v.Skills = append(v.Skills, s.ID)
		}
	}
	v.Scopes = ScopesIn(c.Skills)
	if a.Modes != "" && a.Modes != ext.Off {
		v.readModes()
	}
	return v
}

// ScopesIn are the scopes that skills ask for, by skill; nil for none.
func ScopesIn(skills []card.Skill) map[string][][]string {
	var all map[string][][]string
	for _, s := range skills {
		if s.Scopes == nil {
			continue
		}
		if all == nil {
			all = map[string][][]string{}
		}
		all[s.ID] = s.Scopes
	}
	return all
}

// outputModes are the media types that the agent may answer with: its own and those of its
// skills. They stand in for acceptedOutputModes, which agents before 0.2.6 require, and some
// of 0.3 wherever there is a configuration.
func outputModes(c *card.Card) []string {
	all := slices.Clip(c.DefaultOutputModes)
	for _, s := range c.Skills {
		for _, mode := range s.OutputModes {
			if !slices.Contains(all, mode) {
				all = append(all, mode)
			}
		}
	}
	return all
}

// Tenants are those of the agent's 1.0 interfaces, in their order; an agent
// without such an interface has the empty one.
func (v *View) Tenants() []string {
	var list []string
	for _, e := range v.Endpoints {
		if e.Version == wire.V10 && !slices.Contains(list, e.Tenant) {
			list = append(list, e.Tenant)
		}
	}
	if list == nil {
		return []string{""}
	}
	return list
}

// knownIn are the extensions whose metadata is held to what was negotiated, beside the
// registry's. What the gateway provides, for one, must not pass because a caller did
// not ask for it.
func knownIn(declared []ext.Declared, c *ext.Config) *ext.Roots {
	known := slices.Clip(declared)
	for _, uri := range slices.Concat(c.Require, c.Allow, c.Deny, c.Inject, c.Provide) {
		known = append(known, ext.Declared{URI: uri})
	}
	return ext.NewRoots(known)
}
