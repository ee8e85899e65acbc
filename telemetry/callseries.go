package telemetry

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// callSeries are the children of one agent and method.
type callSeries struct {
	agent, method string

	requests [4][]counterCell // by binding (0: none or other), then by code index
	upstream []counterCell    // by code index

	duration, requestSize, responseSize, upstreamDuration, streamDuration, firstEvent observerCell
}

// record counts a finished call. On the hot path it only loads pointers.
func (m *Metrics) record(e *Exchange) {
	sets := m.sets.Load()
	c := m.call(bounded(sets.agents, e.Agent), e.Method)
	m.countRequest(c, e)
	observe(m.requestSize, &c.requestSize, c).Observe(float64(e.RequestBytes))
	observe(m.responseSize, &c.responseSize, c).Observe(float64(e.ResponseBytes))
	if e.Streamed {
		m.countStream(c.agent, e)
		m.observeSeconds(observe(m.streamDuration, &c.streamDuration, c), e.Duration, e)
		if e.FirstEvent > 0 {
			m.observeSeconds(observe(m.firstEvent, &c.firstEvent, c), e.FirstEvent, e)
		}
	} else {
		m.observeSeconds(observe(m.requestDuration, &c.duration, c), e.Duration, e)
	}
	if e.UpstreamStatus != 0 || e.UpstreamDuration != 0 {
		m.countUpstream(c, e)
	}
	m.countDecision(sets, e)
	m.countCondition(c.agent, e)
	m.countExtensions(sets, e)
	m.countViolations(sets, e)
	for _, q := range e.Quirks {
		m.quirks.WithLabelValues(c.agent, oneOf(q, quirkNames[:]...)).Inc()
	}
}

// quirkNames are those of package proxy; docs/quirks.md says what they are.
var quirkNames = [...]string{"zoneless-times", "mixed-objects", "method-paths"}

// call returns the children of an agent and a method, made on first use.
func (m *Metrics) call(agent *agentSeries, method string) *callSeries {
	name, cell := agent.cell(method)
	if c := cell.Load(); c != nil {
		return c
	}
	c := &callSeries{agent: agent.id, method: name, upstream: make([]counterCell, len(m.codes.names))}
	for i := range c.requests {
		c.requests[i] = make([]counterCell, len(m.codes.names))
	}
	// Two that race make the same children; whichever is stored, both count.
	cell.CompareAndSwap(nil, c)
	return cell.Load()
}

func (m *Metrics) countRequest(c *callSeries, e *Exchange) {
	binding, index := bindingLabel(e.Binding)
	code := m.codes.call(e)
	cell := &c.requests[index][code]
	if p := cell.Load(); p != nil && binding != labelOther {
		(*p).Inc()
		return
	}
	counter := m.requests.WithLabelValues(c.agent, c.method, binding, m.codes.names[code])
	if binding != labelOther { // "other" shares the cell of "none" and is never kept
		cell.Store(&counter)
	}
	counter.Inc()
}

// bindingLabel bounds the binding and numbers it as wire does.
func bindingLabel(binding string) (string, int) {
	for b := wire.JSONRPC; b <= wire.GRPC; b++ {
		if b.String() == binding {
			return binding, int(b)
		}
	}
	if binding == "" {
		return labelNone, 0
	}
	return labelOther, 0
}

func (m *Metrics) countUpstream(c *callSeries, e *Exchange) {
	code := m.codes.class(e.UpstreamStatus)
	cell := &c.upstream[code]
	p := cell.Load()
	if p == nil {
		counter := m.upstreamRequests.WithLabelValues(c.agent, c.method, m.codes.names[code])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
	m.observeSeconds(observe(m.upstreamDuration, &c.upstreamDuration, c), e.UpstreamDuration, e)
}

// observe returns a histogram's child for an agent and a method.
func observe(vec *prometheus.HistogramVec, cell *observerCell, c *callSeries) prometheus.Observer {
	if p := cell.Load(); p != nil {
		return *p
	}
	o := vec.WithLabelValues(c.agent, c.method)
	cell.Store(&o)
	return o
}

// observeSeconds adds a duration, with the trace as its example when exemplars
// are on and the trace is one that was exported.
func (m *Metrics) observeSeconds(o prometheus.Observer, d time.Duration, e *Exchange) {
	if x, ok := o.(prometheus.ExemplarObserver); ok && m.exemplars && e.span != nil {
		x.ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": e.TraceID})
		return
	}
	o.Observe(d.Seconds())
}

func (m *Metrics) countDecision(sets *labelSet, e *Exchange) {
	rule := e.Rule
	if e.Overruled { // the refusal is not the rule's
		m.countRule(sets, rule, decisionOverruled)
		rule = ""
	}
	if e.Decision != "" {
		m.countRule(sets, rule, decisionIndex(e.Decision))
	}
	for _, would := range e.Shadow {
		m.countRule(sets, shadowed(would), decisionShadow)
	}
}

// shadowed is the rule of what it would have done: "deny NAME" or "allow NAME". What limits
// and extensions would have done names no rule.
func shadowed(would string) string {
	if rule, ok := strings.CutPrefix(would, "deny "); ok {
		return rule
	}
	rule, _ := strings.CutPrefix(would, "allow ")
	return rule
}

func (m *Metrics) countRule(sets *labelSet, rule string, decision int) {
	cell := &bounded(sets.rules, rule).decisions[decision]
	p := cell.Load()
	if p == nil {
		counter := m.authz.WithLabelValues(decisionNames[decision], member(sets.rules, rule))
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
}

// member is the label that bounded chose the series for.
func member[T any](set map[string]T, value string) string {
	if value == "" {
		return labelNone
	}
	if _, ok := set[value]; ok {
		return value
	}
	return labelOther
}

// Enter counts a call that has arrived; each needs one Leave.
func (m *Metrics) Enter() { m.requestsInFlight.Inc() }

// Leave counts a call that is finished.
func (m *Metrics) Leave() { m.requestsInFlight.Dec() }

// Authn counts one look at a credential; result is ok, refused or unavailable.
func (m *Metrics) Authn(provider, result string) {
	result = oneOf(result, "ok", "refused", "unavailable")
	m.authn.WithLabelValues(member(m.sets.Load().providers, provider), result).Inc()
}

// JWKSRefresh counts one fetch of an issuer's keys.
func (m *Metrics) JWKSRefresh(err error) { m.jwksRefreshes.WithLabelValues(okOrError(err)).Inc() }

// JWKSKeySkipped counts one key of a set that cannot be used; reason is one of jws.Reasons.
func (m *Metrics) JWKSKeySkipped(reason string) {
	m.jwksSkipped.WithLabelValues(oneOf(reason, "other", "malformed", "weak", "secret", "excess")).Inc()
}

// StateFileLost says whether the file of the state is not where it was opened.
func (m *Metrics) StateFileLost(lost bool) {
	m.stateLost.Set(map[bool]float64{true: 1}[lost])
}

// StateEvicted counts keys that the server of the state dropped to make room.
func (m *Metrics) StateEvicted(keys int64) { m.stateEvicted.Add(float64(keys)) }

// AuditGone counts records that are not there any more.
func (m *Metrics) AuditGone(n int) { m.auditGone.Add(float64(n)) }

// AgentsLeftOut says how many agents should be served and are not.
func (m *Metrics) AgentsLeftOut(n int) { m.leftOut.Set(float64(n)) }

// AuditContent counts what was captured of one call; result is kept or lost, and nothing
// else is counted.
func (m *Metrics) AuditContent(result string) {
	if c, ok := m.content[result]; ok {
		c.Inc()
	}
}

// Audit counts n audit records; result is written, failed or unsynced, and
// nothing else is counted.
func (m *Metrics) Audit(result string, n int) {
	if c, ok := m.audit[result]; ok {
		c.Add(float64(n))
	}
}

// Reloaded records that a configuration took effect, or why not. sum is the
// SHA-256 of the configuration; it is not looked at when err is set.
func (m *Metrics) Reloaded(sum [32]byte, err error) {
	m.configReloads.WithLabelValues(okOrError(err)).Inc()
	if err != nil {
		m.configSuccessful.Set(0)
		return
	}
	m.configSuccessful.Set(1)
	m.configTimestamp.SetToCurrentTime()
	// 48 bits: a float64 holds them exactly.
	m.configHash.Set(float64(binary.BigEndian.Uint64(sum[:8]) >> 16))
}

func okOrError(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

func oneOf(value string, set ...string) string {
	for _, s := range set {
		if s == value {
			return value
		}
	}
	return labelOther
}
