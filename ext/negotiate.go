package ext

import (
	"slices"
	"time"
)

// Effect is what one rule of the policy says about extensions in a call.
type Effect struct {
	Rule                         string
	Shadow                       bool // only recorded
	Allow, Deny, Require, Inject []string
}

// Question is a call as negotiation sees it.
type Question struct {
	Requested Set        // by the client
	Declared  []Declared // by the agent's card
	Config    *Config    // the agent's; nil is the zero value
	Rules     []Effect   // of the rules that match the call
	Now       time.Time  // for sunsets

	// Provided is how cards list what the gateway provides, by URI. Only Effective
	// looks at it: what is provided is for Config to say.
	Provided map[string]Declared
}

// Outcome is what a call may do with extensions.
type Outcome struct {
	Send     Set      // goes to the agent
	Visible  Set      // of those, what the caller asked for, and so may see
	Injected Set      // of those, what it did not ask for
	Provided Set      // implemented by the gateway in the agent's place
	Required Set      // of Send, what is required
	Refused  Set      // asked for, known, and not permitted
	Shadow   []string // what shadow modes would have done: "rule NAME: require URI", "extensions: deny URI"
}

// Negotiate decides which extensions are active in a call: what the client asks for,
// as far as the agent offers it and registry, agent and rules permit it, in the
// client's order; what those depend on; and what is injected. Anything else is
// ignored, as A2A wants for unknown extensions.
//
// A call without every required extension is refused with a *MissingError, and no
// Outcome. An extension that is not permitted cannot be required, since a client is
// never told of it; such a call goes on without it, and an agent that insists says so
// itself. The same goes for what a required extension depends on and the agent does
// not have.
//
// A call without extensions to an agent without required ones costs no allocation.
func (b *Book) Negotiate(q *Question) (Outcome, error) {
	r := b.judge(q)
	if missing := r.missing(); missing != nil {
		slices.Sort(missing)
		return Outcome{}, &MissingError{URIs: slices.Compact(missing)}
	}
	out := r.outcome()
	r.record(&out)
	return out, nil
}

// outcome is what becomes of a call in which nothing is missing.
func (r *ruling) outcome() Outcome {
	var out Outcome
	for _, uri := range r.q.Requested {
		switch {
		case r.active(uri):
			r.activate(&out, uri)
		case !r.permits(uri) && r.governs(uri):
			out.Refused = append(out.Refused, uri)
		}
	}
	for _, uri := range r.injections {
		if r.active(uri) {
			r.activate(&out, uri)
		}
	}
	for _, uri := range out.Send {
		if r.required(uri) {
			out.Required = append(out.Required, uri)
		}
	}
	return out
}

// activate puts an active extension where it belongs, unless it is there, and behind
// it what it depends on, as far as that is not the client's to ask for. Nobody can ask
// for what an extension needs that was injected.
func (r *ruling) activate(out *Outcome, uri string) {
	r.place(out, uri)
	if r.config.Dependencies != dependenciesClose && !r.present(uri) {
		return
	}
	for _, dep := range r.book.needs(uri) {
		if !r.q.Requested.Has(dep) && r.active(dep) {
			r.place(out, dep)
		}
	}
}

func (r *ruling) place(out *Outcome, uri string) {
	asked := r.q.Requested.Has(uri)
	switch {
	case out.has(uri):
	case r.provides(uri):
		out.Provided = append(out.Provided, uri)
	case asked:
		out.Send = r.grow(out.Send, uri)
		out.Visible = r.grow(out.Visible, uri)
	default:
		out.Send = r.grow(out.Send, uri)
		out.Injected = append(out.Injected, uri)
	}
}

// grow appends to a set that will mostly hold what the client asked for, in its order: as
// long as it does, it shares that memory, and what is appended otherwise makes a copy.
func (r *ruling) grow(s Set, uri string) Set {
	asked := r.q.Requested
	if n := len(s); n < len(asked) && asked[n] == uri && (n == 0 || &s[0] == &asked[0]) {
		return asked[: n+1 : n+1]
	}
	return append(s, uri)
}

// missing lists what the client must ask for and did not, in no order and with
// repeats.
func (r *ruling) missing() []string {
	var missing []string
	for _, uri := range r.demands {
		if !r.permits(uri) || r.present(uri) {
			continue
		}
		if !r.q.Requested.Has(uri) {
			missing = append(missing, uri)
		}
		missing = r.unmet(missing, uri)
	}
	for _, uri := range r.q.Requested {
		if len(r.book.needs(uri)) > 0 && r.active(uri) {
			missing = r.unmet(missing, uri)
		}
	}
	return missing
}

// unmet appends what uri depends on and the client has to ask for.
func (r *ruling) unmet(missing []string, uri string) []string {
	if !r.refuses() {
		return missing
	}
	for _, dep := range r.book.needs(uri) {
		if !r.q.Requested.Has(dep) && !r.present(dep) && r.active(dep) {
			missing = append(missing, dep)
		}
	}
	return missing
}

// record says what would be different without the shadow modes, each taken alone.
func (r *ruling) record(out *Outcome) {
	if r.lenient {
		strict := *r
		strict.lenient = false
		strict.collect()
		strict.compare(out, "extensions: ")
	}
	for i := range r.q.Rules {
		if r.q.Rules[i].Shadow {
			strict := *r
			strict.trial = i
			strict.collect()
			strict.compare(out, "rule "+r.q.Rules[i].Rule+": ")
		}
	}
}

// compare notes how what came out differs from what r, which is stricter, makes of
// the call.
func (r *ruling) compare(out *Outcome, who string) {
	note := func(verb, uri string) {
		if line := who + verb + uri; !slices.Contains(out.Shadow, line) {
			out.Shadow = append(out.Shadow, line)
		}
	}
	for _, uri := range r.missing() {
		note("require ", uri)
	}
	strict := r.outcome()
	for _, uri := range slices.Concat(out.Send, out.Provided) {
		if !strict.has(uri) {
			note("deny ", uri)
		}
	}
	for _, uri := range slices.Concat(strict.Send, strict.Provided) {
		if !out.has(uri) && !r.q.Requested.Has(uri) {
			note("inject ", uri)
		}
	}
}

func (o *Outcome) has(uri string) bool { return o.Send.Has(uri) || o.Provided.Has(uri) }
