package proxy

import (
	"errors"
	"net/url"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// view is what one exchange needs to know of the agent's card. It is taken once
// per exchange, so that a refresh in the middle cannot mix two cards. It is
// immutable and made once per card.
type view struct {
	card            *card.Card
	interfaces      []card.Interface // those that may be contacted
	endpoints       []endpoint       // the same, ready for use
	outputModes     []string         // see outputModes
	backend         string           // what contexts are recorded by; "" without an interface
	skills          []string         // every skill id
	extensions      []ext.Declared
	known           *ext.Roots              // extensions, and those that the configuration names
	schemas         map[string]skillSchemas // by skill
	scopes          map[string][][]string   // by skill, what the card asks for; see card.Skill
	modes           map[string]skillModes   // by skill, and under "" of all; nil where nobody asks
	refusedVersions *refusedVersions        // versions that the agent has been asked in beside the card's
}

// endpoint is one interface of the agent.
type endpoint struct {
	wire.Side
	tenant  string
	address string   // the URL as far as it may be told of
	url     *url.URL // it, parsed; never changed
	methods bool     // the URL is that of one method; see methodURL
	says    []string // the version, as the lines of a header; never changed
}

// look takes the current card. It returns nil while the card has never been
// fetched: without it the gateway knows neither endpoints nor skills, and
// guessing either would be unsafe.
func (a *Agent) look() *view {
	c := a.Source.Current()
	if c == nil {
		return nil
	}
	if v := a.seen.Load(); v != nil && v.card == c {
		return v
	}
	v := a.read(c)
	a.seen.Store(v)
	return v
}

// notReady is why there is no card to go by: as long as none was fetched, what has failed.
func (a *Agent) notReady() error {
	if err := a.Source.Err(); err != nil && !errors.Is(err, card.ErrPending) {
		return cardAway{err}
	}
	return errNotReady
}

// cardAway is errNotReady with the reason, which says nothing else of the call.
type cardAway struct{ why error }

func (e cardAway) Error() string { return "the agent has no card in force: " + e.why.Error() }

func (cardAway) Is(target error) bool { return target == errNotReady }

// Callable reports whether the agent's card is there, and an interface that calls may go to.
func (a *Agent) Callable() bool {
	v := a.look()
	return v != nil && len(v.endpoints) > 0
}

func (a *Agent) read(c *card.Card) *view {
	v := &view{card: c, outputModes: outputModes(c), extensions: c.Extensions, known: knownIn(c.Extensions, &a.Extensions), refusedVersions: new(refusedVersions), schemas: learnSchemas(a.schemas, c.Skills)}
	v.interfaces, _ = a.Usable(c)
	for _, i := range v.interfaces {
		if u, err := url.Parse(i.URL); err == nil { // Endpoints has parsed it before
			v.endpoints = append(v.endpoints, endpoint{
				Side: wire.Side{Version: i.Version, Binding: i.Binding}, tenant: i.Tenant,
				address: secret.URL(i.URL).String(), url: u, says: []string{string(i.Version)},
			})
			e := &v.endpoints[len(v.endpoints)-1]
			e.methods = a.tolerates(methodAddresses) && isMethodPath(e.Side, u)
		}
	}
	v.backend = backendOf(v.endpoints)
	if len(a.Skills) > 0 {
		for _, s := range a.Skills {
			v.skills = append(v.skills, s.ID)
		}
	} else {
		for _, s := range c.Skills {
			v.skills = append(v.skills, s.ID)
		}
	}
	v.scopes = scopesIn(c.Skills)
	if a.Modes != "" && a.Modes != ext.Off {
		v.readModes()
	}
	return v
}

// scopesIn are the scopes that skills ask for, by skill; nil for none.
func scopesIn(skills []card.Skill) map[string][][]string {
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

// tenants are those of the agent's 1.0 interfaces, in their order; an agent
// without such an interface has the empty one.
func (v *view) tenants() []string {
	var list []string
	for _, e := range v.endpoints {
		if e.Version == wire.V10 && !slices.Contains(list, e.tenant) {
			list = append(list, e.tenant)
		}
	}
	if list == nil {
		return []string{""}
	}
	return list
}
