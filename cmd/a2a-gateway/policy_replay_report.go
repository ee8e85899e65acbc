package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/telemetry/audit"
)

// Bounds of what a replay keeps, however many calls there are.
const (
	manyGroups   = 1000
	manyExamples = 3
	manyReasons  = 1000
)

// replay is what would become of recorded calls, as `--output json` has it.
type replay struct {
	Calls       int      `json:"calls"`
	Same        int      `json:"same"`
	AllowToDeny int      `json:"allowToDeny"`
	DenyToAllow int      `json:"denyToAllow"`
	OtherRule   int      `json:"otherRule"` // the same decision, by another rule
	Untold      int      `json:"untold"`    // cannot be told
	Changes     []*group `json:"changes"`
	Left        int      `json:"left,omitempty"` // calls that would be decided otherwise, of further groups
	Why         []reason `json:"why"`            // there are calls that cannot be told

	*compiled `json:"-"`

	asked   facts // by any rule
	bounds  map[facts]*bounds
	groups  map[change]*group
	reasons map[string]int
}

// change is what calls of one group have in common.
type change struct {
	Was    string `json:"was"` // allow or deny
	Now    string `json:"now"`
	From   string `json:"from"` // the rule
	To     string `json:"to"`
	Agent  string `json:"agent"`
	Caller string `json:"caller"`
}

// group is all calls with one change.
type group struct {
	change

	Calls    int       `json:"calls"`
	Examples []example `json:"examples"` // the first
}

// example is one call.
type example struct {
	Time    string `json:"time"`
	Method  string `json:"method"`
	Skill   string `json:"skill,omitempty"`
	Request string `json:"request"` // its id
}

// reason is why calls cannot be told.
type reason struct {
	Why   string `json:"why"`
	Calls int    `json:"calls"`
}

func newReplay(c *compiled) *replay {
	r := &replay{
		compiled: c, Changes: []*group{}, Why: []reason{},
		bounds: map[facts]*bounds{}, groups: map[change]*group{}, reasons: map[string]int{},
	}
	for i := range c.cfg.Policy.Rules {
		r.asked |= asks(&c.cfg.Policy.Rules[i])
	}
	return r
}

// add puts one call to the rules.
func (r *replay) add(c *audit.Call) error {
	r.Calls++
	before, why := was(c)
	var strict, lenient ruling
	var err error
	if why == "" && before.rule == "credential" { // which no rule can change
		r.Same++
		return nil
	}
	if why == "" {
		strict, lenient, why, err = r.answer(c)
	}
	hidden := c.Rule == "" // refused before it was known by which rule
	switch {
	case err != nil:
		return err
	case why != "" && (strict.rule == "" || strict.allow != lenient.allow):
		r.doubt(why)
	case hidden && strict.allow:
		r.doubt("refused before the rules: the skill, and the agents that the credential is bound to")
	case strict.allow != before.allow:
		if strict.rule != lenient.rule {
			strict.rule += " or " + lenient.rule
		}
		r.note(c, before, strict)
	case hidden || before.rule == strict.rule || before.rule == lenient.rule:
		r.Same++
	case why != "":
		r.doubt("by which rule; " + why)
	default:
		r.note(c, before, strict)
	}
	return nil
}

func (r *replay) doubt(why string) {
	r.Untold++
	if _, ok := r.reasons[why]; !ok && len(r.reasons) >= manyReasons {
		why = "other reasons"
	}
	r.reasons[why]++
}

// note counts a call that would be decided otherwise.
func (r *replay) note(c *audit.Call, before, now ruling) {
	switch {
	case before.allow && !now.allow:
		r.AllowToDeny++
	case !before.allow && now.allow:
		r.DenyToAllow++
	default:
		r.OtherRule++
	}
	key := change{
		Was: before.word(), Now: now.word(), From: before.rule, To: now.rule,
		Agent: c.Agent, Caller: c.Principal + " of " + c.Issuer,
	}
	g := r.groups[key]
	if g == nil {
		if len(r.groups) == manyGroups {
			r.Left++
			return
		}
		g = &group{change: key}
		r.groups[key] = g
		r.Changes = append(r.Changes, g)
	}
	if g.Calls++; len(g.Examples) < manyExamples {
		g.Examples = append(g.Examples, example{c.Start.UTC().Format(time.RFC3339), c.Method, c.Skill, c.RequestID})
	}
}

func (r ruling) word() string {
	if r.allow {
		return "allow"
	}
	return "deny"
}

// finish puts what was found in order: what is worst first, and then what is most.
func (r *replay) finish() {
	slices.SortStableFunc(r.Changes, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(b.Calls, a.Calls))
	})
	for _, why := range slices.Sorted(maps.Keys(r.reasons)) {
		r.Why = append(r.Why, reason{why, r.reasons[why]})
	}
	slices.SortStableFunc(r.Why, func(a, b reason) int { return cmp.Compare(b.Calls, a.Calls) })
}

func (c *change) weight() int {
	switch {
	case c.Was == c.Now:
		return 2
	case c.Now == "allow":
		return 0
	}
	return 1
}

func (r *replay) changed() int { return r.AllowToDeny + r.DenyToAllow + r.OtherRule }

func (r *replay) print(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s: %d decided as before, %d otherwise, %d cannot be told\n",
		counted(r.Calls, "call"), r.Same, r.changed(), r.Untold)
	if r.changed() > 0 {
		_, _ = fmt.Fprintf(w, "\n%d allow → deny, %d deny → allow, %d by another rule\n", r.AllowToDeny, r.DenyToAllow, r.OtherRule)
	}
	for _, g := range r.Changes {
		_, _ = fmt.Fprintf(w, "  %s: %s (%s) → %s (%s), agent %s, caller %s\n",
			counted(g.Calls, "call"), g.Was, cmp.Or(g.From, "before the rules"), g.Now, g.To, g.Agent, g.Caller)
		for _, e := range g.Examples {
			_, _ = fmt.Fprintf(w, "    %s %s\n", e.Time, strings.Join(slices.DeleteFunc(
				[]string{e.Method, e.Skill, e.Request}, func(s string) bool { return s == "" }), " "))
		}
	}
	if r.Left > 0 {
		_, _ = fmt.Fprintf(w, "  %s of further groups\n", counted(r.Left, "call"))
	}
	if len(r.Why) > 0 {
		_, _ = fmt.Fprint(w, "\ncannot be told:\n")
	}
	for _, why := range r.Why {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", counted(why.Calls, "call"), why.Why)
	}
}
