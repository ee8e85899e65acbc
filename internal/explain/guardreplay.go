package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
)

// GuardReplay has guards look at what was captured of recorded calls, one after the other. It is for one goroutine.
type GuardReplay struct {
	verdict.GuardReplay

	replay *Replay
	guards *guard.Set
	asking []string // guards that ask a service
	open   func(id string) (vault.Item, error)
	sample int

	outcomes map[verdict.GuardOutcome]int // by what has no calls
	tallies  map[string]*verdict.GuardTally
}

// NewGuardReplay begins one. The guards ask no service here, and their conditions on what records do not have hold.
// open has what was captured of a call by its id. An error is one of the guards, with the path of its key.
func NewGuardReplay(jd *Judge, c guard.Config, open func(id string) (vault.Item, error), sample int) (*GuardReplay, error) {
	r := &GuardReplay{
		replay: NewReplay(jd), open: open, sample: sample, outcomes: map[verdict.GuardOutcome]int{}, tallies: map[string]*verdict.GuardTally{},
		GuardReplay: verdict.GuardReplay{Outcomes: []verdict.GuardOutcome{}, Guards: []verdict.GuardTally{}, Changes: []verdict.GuardChange{}, Why: []verdict.Reason{}},
	}
	known := slices.Clone(c)
	for i := range known {
		if known[i].Claims == nil && known[i].Expr == "" {
			continue
		}
		known[i].Claims, known[i].Expr = nil, ""
		r.Notes = append(r.Notes, fmt.Sprintf("guard %q: its conditions on claims and its expression are taken to hold, as records do not have what they look at", known[i].Name))
	}
	var err error
	if r.guards, err = guard.New(known, guard.Options{Agents: jd.RuleAgents, Methods: jd.Book.Extra().Methods()}); err != nil {
		return nil, err
	}
	if r.asking = r.guards.Asking(); len(r.asking) > 0 {
		r.Notes = append(r.Notes, "guards that ask a service are left out: "+strings.Join(r.asking, ", "))
	}
	return r, nil
}

// Close ends the replay.
func (r *GuardReplay) Close() { r.guards.Close() }

// rank is what guards make of a call, the worst last.
var rank = []string{"passed", verdict.Recorded, verdict.Redacted, verdict.Refused}

// worse is the worse of two outcomes.
func worse(a, b string) string {
	if slices.Index(rank, b) > slices.Index(rank, a) {
		return b
	}
	return a
}

// made is what a finding makes of its call.
func made(action string, shadow bool) string {
	if shadow {
		return verdict.Recorded
	}
	return cmp.Or(becomes[action], verdict.Recorded)
}

// Add has the guards look at one call. Why the outcome of a call may not be known:
//
//	what a guard refused or redacted then is not in what was captured
//	what was captured cannot be opened or read
//	the call cannot be put to conditions, such as those on a method that does not exist any more
func (r *GuardReplay) Add(ctx context.Context, c *reader.Call) {
	r.Calls++
	if c.Content.ID == "" {
		r.NotCaptured++
		return
	}
	item, err := r.open(c.Content.ID)
	switch {
	case errors.Is(err, vault.ErrErased) || errors.Is(err, vault.ErrAbsent):
		r.Gone++
		return
	case err != nil || item.Digest != c.Content.Digest:
		r.replay.doubt("what was captured cannot be opened")
		return
	}
	q, _, why := r.replay.request(c)
	if why != "" {
		r.replay.doubt(why)
		return
	}
	_, _ = r.replay.settle(&q, c)
	l := look{GuardReplay: r, ctx: ctx, on: r.guards.For(q), call: c, method: q.Method, now: "passed", found: map[string]bool{}}
	if err := l.item(&item); err != nil {
		r.replay.doubt("what was captured cannot be read: " + err.Error())
		return
	}
	if l.partial {
		r.Partial++
	}
	r.compare(c, &l)
}

// compare counts the call by what its record says of guards, and by what the guards find.
func (r *GuardReplay) compare(c *reader.Call, l *look) {
	was, then, now := "passed", map[string]bool{}, map[string]bool{}
	for _, f := range c.Guards {
		if !slices.Contains(r.asking, f.Guard) {
			was, then[f.Guard] = worse(was, made(f.Action, f.Shadow)), true
		}
	}
	for f := range l.found {
		name, _, _ := strings.Cut(f, ": ")
		now[name] = true
	}
	if (was == verdict.Redacted || was == verdict.Refused) && worse(was, l.now) != l.now {
		r.replay.doubt("what was " + was + " then is not in what was captured")
		return
	}
	for name := range then {
		r.tally(name).Was++
	}
	for name := range now {
		r.tally(name).Now++
	}
	r.outcomes[verdict.GuardOutcome{Was: was, Now: l.now}]++
	if was == l.now {
		r.Same++
		return
	}
	if r.Changed++; r.Changed <= r.sample {
		r.Changes = append(r.Changes, verdict.GuardChange{
			Seq:  int64(c.Seq), //nolint:gosec // it counts records
			Time: c.Start.UTC(), Caller: c.Principal, Agent: c.Agent, Method: c.Method, Was: was, Now: l.now,
			Findings: slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(l.found)))),
		})
	}
}

// tally is that of a guard.
func (r *GuardReplay) tally(name string) *verdict.GuardTally {
	t := r.tallies[name]
	if t == nil {
		t = &verdict.GuardTally{Guard: name}
		r.tallies[name] = t
	}
	return t
}

// Finish puts what was counted in order.
func (r *GuardReplay) Finish() {
	for o, n := range r.outcomes {
		o.Calls = n
		r.Outcomes = append(r.Outcomes, o)
	}
	at := func(word string) int { return slices.Index(rank, word) }
	slices.SortFunc(r.Outcomes, func(a, b verdict.GuardOutcome) int {
		return cmp.Or(at(b.Now)-at(a.Now), at(b.Was)-at(a.Was))
	})
	for _, name := range slices.Sorted(maps.Keys(r.tallies)) {
		r.Guards = append(r.Guards, *r.tallies[name])
	}
	r.replay.Finish()
	r.Untold, r.Why = r.replay.Untold, append(r.Why, r.replay.Why...)
}

// look is one call that guards look at.
type look struct {
	*GuardReplay

	ctx     context.Context //nolint:containedctx // it is one call
	on      guard.Selection
	call    *reader.Call
	method  *wire.Method
	now     string
	found   map[string]bool // as guard: kind
	partial bool
}

// item has the guards look at what was captured: the params in the caller's form, and the answer in the agent's.
func (l *look) item(item *vault.Item) error {
	caller := wire.Side{}
	caller.Version, _ = wire.ParseVersion(l.call.A2A)
	caller.Binding, _ = parseBinding(l.call.Binding)
	caller.Binding = caller.Binding.Document()
	agent := caller
	if version, binding, ok := strings.Cut(l.call.Translated, " "); ok {
		agent.Version, _ = wire.ParseVersion(version)
		agent.Binding, _ = parseBinding(binding)
	}
	phase := guard.Answer
	if l.call.Streamed {
		phase = guard.Event
	}
	l.partial = item.Request == nil || item.Response == nil
	for _, b := range []struct {
		body  *vault.Body
		phase guard.Phase
		side  wire.Side
	}{{item.Request, guard.Request, caller}, {item.Response, phase, agent}} {
		if b.body == nil {
			continue
		}
		l.partial = l.partial || b.body.Cut || b.body.Fault != "" || b.body.Redactions > 0
		l.Bytes += int64(len(b.body.Text))
		if err := l.body(b.body, b.phase, b.side); err != nil {
			return err
		}
	}
	return nil
}

// body has the guards look at the documents of a body, one a line. The last of one that was cut short is none.
func (l *look) body(b *vault.Body, phase guard.Phase, side wire.Side) error {
	docs := strings.Split(b.Text, "\n")
	if b.Cut {
		docs = docs[:len(docs)-1]
	}
	for _, doc := range docs {
		if doc == "" {
			continue
		}
		if phase == guard.Request && side.Binding == wire.JSONRPC { // the params alone are captured
			doc = `{"params":` + doc + `}`
		}
		d := inspect.GuardedDocument{Phase: phase, Side: side, Method: l.method, Doc: []byte(doc), Limits: l.replay.Wire}
		r, _, _, err := d.Inspect(l.ctx, l.on.On(phase).Offline())
		if err != nil {
			return errors.New("it is no document of A2A " + side.String()) // which may quote what was captured
		}
		for _, f := range r.Findings {
			l.found[f.Guard+": "+f.Kind] = true
			l.now = worse(l.now, made(f.Action, f.Shadow))
		}
	}
	return nil
}
