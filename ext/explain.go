package ext

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Account says what an extension is in a call, and why.
type Account struct {
	URI string `json:"uri"`

	// Standing is required (a call without it is refused), offered (active for who
	// asks), provided (the same, done by the gateway), injected (active without being
	// asked for), denied (never active, whoever asks), or absent (never active, because
	// the agent does not have it, or not what it depends on).
	Standing string `json:"standing"`

	// Why are the reasons, each in words that begin with where it comes from: the card,
	// a key of the configuration, a rule, or the registry.
	Why []string `json:"why"`
}

// Explain gives an account of every extension that the agent's card, its
// configuration, a rule of the call or the client names, in this order. It is for
// people; the ruling that it asks is that of Negotiate and Effective.
func (b *Book) Explain(q *Question) []Account {
	r := b.judge(q)
	var uris Set
	for i := range q.Declared {
		uris.include([]string{q.Declared[i].URI})
	}
	c := r.config
	for _, list := range [][]string{c.Require, c.Inject, c.Provide, c.Allow, c.Deny} {
		uris.include(list)
	}
	for i := range q.Rules {
		e := &q.Rules[i]
		for _, list := range [][]string{e.Require, e.Inject, e.Allow, e.Deny} {
			uris.include(list)
		}
	}
	uris.include(q.Requested)
	accounts := make([]Account, 0, len(uris))
	for _, uri := range uris {
		accounts = append(accounts, Account{URI: uri, Standing: r.standing(uri), Why: r.why(uri)})
	}
	return accounts
}

// The order is that in which Negotiate decides: what is not permitted is denied whatever else is
// said of it.
func (r *ruling) standing(uri string) string {
	switch {
	case !r.permits(uri):
		return "denied"
	case !r.active(uri):
		return "absent"
	case r.present(uri):
		return "injected"
	case r.required(uri):
		return "required"
	case r.provides(uri):
		return "provided"
	}
	return "offered"
}

// why collects everything that somebody says about uri.
func (r *ruling) why(uri string) []string {
	why := slices.Concat(r.ofCard(uri), r.ofSection(uri), r.ofRules(uri), r.ofOthers(uri))
	if !r.offers(uri) {
		why = append(why, "neither the card nor the configuration offers it")
	}
	return append(why, r.book.registered(uri, r.q.Now))
}

// ofCard is what the agent's card declares; nil for nothing.
func (r *ruling) ofCard(uri string) []string {
	if r.declared(uri) == nil {
		return nil
	}
	if slices.ContainsFunc(r.q.Declared, func(d Declared) bool { return d.URI == uri && d.Required }) {
		return []string{"card: declares it, as required" + r.ifLenient()}
	}
	return []string{"card: declares it"}
}

// ofSection is what the agent's own section says.
func (r *ruling) ofSection(uri string) []string {
	var why []string
	c := r.config
	for _, list := range []struct {
		uris []string
		text string
	}{
		{c.Require, "require: lists it" + r.ifLenient()},
		{c.Inject, "inject: lists it"},
		{c.Provide, "provide: lists it"},
		{c.Deny, "deny: lists it" + r.ifLenient()},
	} {
		if slices.Contains(list.uris, uri) {
			why = append(why, "agents[].extensions."+list.text)
		}
	}
	if slices.Contains(c.Provide, uri) && !r.provides(uri) {
		why = append(why, "the agent has it itself, so that the gateway does not provide it")
	}
	switch {
	case slices.Contains(c.Allow, uri):
		why = append(why, "agents[].extensions.allow: lists it")
	case !slices.Contains(c.Deny, uri) && !c.admits(uri):
		why = append(why, "agents[].extensions.allow: lists others only"+r.ifLenient())
	}
	return why
}

// ifLenient marks what the section's shadow mode takes the force from.
func (r *ruling) ifLenient() string {
	if r.lenient {
		return " (shadow: only recorded)"
	}
	return ""
}

// ofRules is what the rules of the call say.
func (r *ruling) ofRules(uri string) []string {
	var why []string
	listed := false
	// A rule that names no extension here still narrows the call down if it allows others.
	for i := range r.q.Rules {
		e := &r.q.Rules[i]
		for _, list := range []struct {
			uris []string
			verb string
		}{{e.Require, "requires"}, {e.Inject, "injects"}, {e.Allow, "allows"}, {e.Deny, "denies"}} {
			if !slices.Contains(list.uris, uri) {
				continue
			}
			text := fmt.Sprintf("rule %q: %s it", e.Rule, list.verb)
			if e.Shadow {
				text += " (shadow: only recorded)"
			}
			why = append(why, text)
			listed = listed || !e.Shadow && list.verb != "denies"
		}
	}
	if listed {
		return why
	}
	for i := range r.q.Rules {
		if e := &r.q.Rules[i]; len(e.Allow) > 0 && !e.Shadow {
			why = append(why, fmt.Sprintf("rule %q: allows others only", e.Rule))
		}
	}
	return why
}

// ofOthers is what follows from dependencies.
func (r *ruling) ofOthers(uri string) []string {
	var why []string
	for _, dep := range r.book.needs(uri) {
		text := fmt.Sprintf("registry: it needs %q", dep)
		if !r.available(dep) {
			text += ", which this agent does not have or may not use"
		}
		why = append(why, text)
	}
	for _, list := range []struct {
		uris Set
		is   string
	}{{r.demands, "required"}, {r.injections, "injected"}} {
		for _, other := range list.uris {
			if slices.Contains(r.book.needs(other), uri) && r.active(other) {
				why = append(why, fmt.Sprintf("registry: %q needs it, which is %s", other, list.is))
			}
		}
	}
	return why
}

// registered is what the registry says of uri itself.
func (b *Book) registered(uri string, now time.Time) string {
	e, ok := b.Entry(uri)
	switch {
	case !ok:
		return "registry: does not know it"
	case e.Status == Blocked:
		return "registry: blocks it" + instead(e.Replacement)
	case b.blocked(uri, now):
		return "registry: blocks it since " + e.Sunset + " is over" + instead(e.Replacement)
	case e.Status == Deprecated:
		return "registry: " + string(e.kind()) + "." + e.farewell()
	}
	return "registry: " + string(cmp.Or(e.Status, Allowed)) + ", " + string(e.kind())
}

// instead names the replacement, where the registry has one.
func instead(uri string) string {
	if uri == "" {
		return ""
	}
	return "; use " + uri
}
