package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Policy counts decisions: of rules, of limits and of authorizers.
type Policy struct {
	sets    *labelSets
	metrics policyMetrics
}

// policyMetrics are about who may do what, and how much of it.
type policyMetrics struct {
	// Authz is allow, deny or error for a call; beside that, shadow is counted for each shadow
	// rule that would have decided otherwise, and overruled for a rule that let a call through
	// which something else denied. The rule is none where something else than the rules
	// decided: what comes before them, such as authentication, or behind, such as a limit.
	Authz counterVec `metric:"authz_decisions_total{decision=$decisions,rule}" help:"Authorization decisions; rule is none where something else than the rules decided."`

	Limited counterVec `metric:"rate_limited_total{limit}" help:"Calls that a limit refused."`
	// Uncounted are those that policy.limits.onLoss decided.
	Uncounted counterVec `metric:"limits_uncounted_total{limit}" help:"Limits that could not be counted where they are kept."`

	Authorizers       counterVec               `metric:"authorizer_requests_total{authorizer,result=allow|deny|error|cached|other}" help:"Questions to authorizers."`
	AuthorizerSeconds *prometheus.HistogramVec `metric:"authorizer_request_duration_seconds{authorizer}" help:"Time that authorizers took to answer." buckets:"calls"`

	// Approvals are waiting for a call that begins to wait, and what it was decided as; approved calls that
	// come to nothing are counted again, as failed, void or lost. remembered is a call that went on at once.
	Approvals counterVec `metric:"approvals_total{agent,state=waiting|approved|rejected|canceled|expired|failed|void|lost|remembered|other}" help:"Calls that waited for approval, and what became of them."`
	// Questions are approve, reject and abstain for what an agent has answered, working for a task that it has not
	// ended, and failed for a question that did not come through.
	Questions counterVec       `metric:"approval_questions_total{agent,result=approve|reject|abstain|working|failed|other}" help:"Questions to agents about calls that wait for approval; agent is the one that was asked."`
	Waiting   prometheus.Gauge `metric:"approvals_waiting" help:"Calls that wait for approval at all gateways with one state."`
}

// Approval counts what becomes of a call that people have to agree to.
func (p *Policy) Approval(agent, state string) {
	p.metrics.Approvals.with(p.sets.agent(agent), state).Inc()
}

// ApproverAsked counts a question to an agent about a call that waits.
func (p *Policy) ApproverAsked(agent, result string) {
	p.metrics.Questions.with(p.sets.agent(agent), result).Inc()
}

// ApprovalsWait says how many calls wait.
func (p *Policy) ApprovalsWait(n int) { p.metrics.Waiting.Set(float64(n)) }

// Decisions, as indices of ruleSeries.
const (
	decisionAllow = iota
	decisionDeny
	decisionError
	decisionShadow
	decisionOverruled
	decisionOther
)

var decisionNames = [...]string{
	decisionAllow: "allow", decisionDeny: "deny", decisionError: "error",
	decisionShadow: "shadow", decisionOverruled: "overruled", decisionOther: labelOther,
}

// decisionIndex is the place of a decision in decisionNames.
func decisionIndex(decision string) int {
	for i, name := range decisionNames {
		if name == decision {
			return i
		}
	}
	return decisionOther
}

// Decided counts the decision about a call by the rule that made it. overruled is whether the
// rule let the call through and something else denied it: then the refusal is not the rule's.
func (p *Policy) Decided(rule, decision string, overruled bool) {
	if overruled {
		p.count(rule, decisionOverruled)
		rule = ""
	}
	if decision != "" {
		p.count(rule, decisionIndex(decision))
	}
}

// Shadowed counts what a rule in shadow mode would have done: "deny NAME" or "allow NAME". A
// call has one decision, and any number of these.
func (p *Policy) Shadowed(would string) { p.count(shadowed(would), decisionShadow) }

// shadowed is the rule of what it would have done: "deny NAME" or "allow NAME". What limits
// and extensions would have done names no rule.
func shadowed(would string) string {
	if rule, ok := strings.CutPrefix(would, "deny "); ok {
		return rule
	}
	rule, _ := strings.CutPrefix(would, "allow ")
	return rule
}

// count counts one decision of one rule.
func (p *Policy) count(rule string, decision int) {
	rules := p.sets.Load().rules
	cell := &bounded(rules, rule).decisions[decision]
	c := cell.Load()
	if c == nil {
		counter := p.metrics.Authz.WithLabelValues(decisionNames[decision], member(rules, rule))
		c = &counter
		cell.Store(c)
	}
	(*c).Inc()
}

// Limited counts a call that a limit refused.
func (p *Policy) Limited(limit string) {
	p.metrics.Limited.WithLabelValues(member(p.sets.Load().limits, limit)).Inc()
}

// LimitUncounted counts a limit that could not be counted where it is kept.
func (p *Policy) LimitUncounted(limit string) {
	p.metrics.Uncounted.WithLabelValues(member(p.sets.Load().limits, limit)).Inc()
}

// AuthorizerAsked counts a question to an authorizer.
func (p *Policy) AuthorizerAsked(name, result string, took time.Duration) {
	name = member(p.sets.Load().authorizers, name)
	p.metrics.Authorizers.with(name, result).Inc()
	if result != "cached" {
		p.metrics.AuthorizerSeconds.WithLabelValues(name).Observe(took.Seconds())
	}
}

// Decisions are the series of authz_decisions_total.
func (p *Policy) Decisions() []Count { return countsOf(p.metrics.Authz.CounterVec) }
