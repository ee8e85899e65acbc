package explain

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// Bounds of what a replay keeps, however many calls there are.
const (
	// A change of one default can alter every call of a month: the report stays of a size that
	// somebody reads. Calls of groups beyond the thousandth are counted in Left.
	manyGroups   = 1000
	manyExamples = 3
	manyReasons  = 1000
	manyTouched  = 3000
)

// Replay puts recorded calls to rules, one after the other.
// A Replay is for one goroutine.
type Replay struct {
	verdict.Replay

	*Judge
	// Sample is how many calls of each kind of change are kept, the first that are added;
	// 0 for none. Sampled has them in the end.
	Sample  int
	Sampled []verdict.Redecided
	// Touched are the callers, agents and skills of calls that are newly allowed or denied.
	Touched []verdict.Touched

	// Facts that no rule asks for need no bounds: most replays compile no second set of rules.
	asked   policy.Facts // by any rule
	bounds  map[policy.Facts]*bounds
	agents  map[string]*Agent
	groups  map[verdict.Change]*verdict.Group
	reasons map[string]int
	touched map[verdict.Touched]int // place in Touched, by what has no counts yet
}

// NewReplay begins one.
// The lists are empty and not nil, which JSON would show as null.
func NewReplay(jd *Judge) *Replay {
	r := &Replay{
		Replay: verdict.Replay{Changes: []*verdict.Group{}, Why: []verdict.Reason{}}, Judge: jd,
		bounds: map[policy.Facts]*bounds{}, agents: map[string]*Agent{},
		groups: map[verdict.Change]*verdict.Group{}, reasons: map[string]int{},
		Touched: []verdict.Touched{}, touched: map[verdict.Touched]int{},
	}
	for i := range jd.Policy.Rules {
		r.asked = r.asked.Or(jd.Policy.Rules[i].Asks())
	}
	return r
}

// Add puts one call to the rules.
//
// It compares what the record says with what the rules say now, at their strictest and most
// lenient:
//
//	both allow or both deny       the answer is certain: same, or changed
//	they differ                   the call depends on what is not recorded: untold, with why
//	the record has no rule        the call was refused early: only a denial can be confirmed
//
// The error is one of compiling rules, and ends the replay.
func (r *Replay) Add(c *reader.Call) error {
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
	hidden := before.rule == "" // refused before it was known by which rule
	switch {
	case err != nil:
		return err
	case why != "" && (strict.rule == "" || strict.allow != lenient.allow):
		r.doubt(why)
	case hidden && strict.allow:
		r.doubt("refused before the rules: the skill, and the agents that the credential is bound to")
	case strict.allow != before.allow:
		// Both deny or both allow, each by another rule: which one it is depends on facts that are
		// not recorded.
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

// doubt counts a call whose answer cannot be told. Reasons have names of rules and agents in them,
// so that they are bounded as well.
func (r *Replay) doubt(why string) {
	r.Untold++
	if _, ok := r.reasons[why]; !ok && len(r.reasons) >= manyReasons {
		why = "other reasons"
	}
	r.reasons[why]++
}

// note counts a call that would be decided otherwise.
func (r *Replay) note(c *reader.Call, before, now ruling) {
	n := &r.OtherRule
	switch {
	case before.allow && !now.allow:
		n = &r.AllowToDeny
	case !before.allow && now.allow:
		n = &r.DenyToAllow
	}
	if *n++; *n <= r.Sample {
		r.Sampled = append(r.Sampled, verdict.Redecided{
			Seq:  int64(c.Seq), //nolint:gosec // it counts records
			Time: c.Start.UTC(), Caller: c.Principal, Issuer: c.Issuer, Agent: c.Agent, Skill: c.Skill, Method: c.Method,
			Was: before.word(), Now: now.word(), From: before.rule, To: now.rule,
		})
	}
	r.touch(c, before.allow, now.allow)
	key := verdict.Change{
		Was: before.word(), Now: now.word(), From: before.rule, To: now.rule,
		Agent: c.Agent, Caller: c.Principal + " of " + c.Issuer,
	}
	g := r.groups[key]
	if g == nil {
		if len(r.groups) == manyGroups {
			r.Left++
			return
		}
		g = &verdict.Group{Change: key}
		r.groups[key] = g
		r.Changes = append(r.Changes, g)
	}
	if g.Calls++; len(g.Examples) < manyExamples {
		g.Examples = append(g.Examples, verdict.Example{
			Time: c.Start.UTC().Format(time.RFC3339), Method: c.Method, Skill: c.Skill, Request: c.RequestID,
		})
	}
}

// touch counts a call for its caller, its agent and its skill, where its decision changes. Calls come in
// any order.
func (r *Replay) touch(c *reader.Call, was, now bool) {
	if was == now {
		return
	}
	for _, of := range []verdict.Touched{
		{Kind: "caller", Name: c.Principal, Of: c.Issuer}, {Kind: "agent", Name: c.Agent}, {Kind: "skill", Name: c.Skill, Of: c.Agent},
	} {
		at, ok := r.touched[of]
		if !ok && len(r.Touched) >= manyTouched {
			continue
		}
		if !ok {
			at = len(r.Touched)
			r.touched[of] = at
			r.Touched = append(r.Touched, of)
		}
		r.Touched[at].Seq = max(r.Touched[at].Seq, int64(c.Seq)) //nolint:gosec // it counts records
		if now {
			r.Touched[at].DenyToAllow++
		} else {
			r.Touched[at].AllowToDeny++
		}
	}
}

// word is the ruling in the report: allow or deny.
func (r ruling) word() string {
	if r.allow {
		return "allow"
	}
	return "deny"
}

// Finish puts what was found in order: what is worst first, and then what is most.
func (r *Replay) Finish() {
	slices.SortStableFunc(r.Changes, func(a, b *verdict.Group) int {
		return cmp.Or(cmp.Compare(weight(a.Was, a.Now), weight(b.Was, b.Now)), cmp.Compare(b.Calls, a.Calls))
	})
	slices.SortStableFunc(r.Sampled, func(a, b verdict.Redecided) int { return cmp.Compare(weight(a.Was, a.Now), weight(b.Was, b.Now)) })
	slices.SortStableFunc(r.Touched, func(a, b verdict.Touched) int {
		return cmp.Or(
			cmp.Compare(b.DenyToAllow+b.AllowToDeny, a.DenyToAllow+a.AllowToDeny),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Of, b.Of),
		)
	})
	for _, why := range slices.Sorted(maps.Keys(r.reasons)) {
		r.Why = append(r.Why, verdict.Reason{Why: why, Calls: r.reasons[why]})
	}
	slices.SortStableFunc(r.Why, func(a, b verdict.Reason) int { return cmp.Compare(b.Calls, a.Calls) })
}

// weight says how bad a change is: less is worse.
// A call that is newly allowed is the worst of a change of rules; one that is newly denied is
// noticed and reported by its caller; another rule with the same answer changes the audit records
// alone.
func weight(was, now string) int {
	switch {
	case was == now:
		return 2
	case now == "allow":
		return 0
	}
	return 1
}
