package telemetry

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// callMetrics are about calls: what came, what went to agents, and what became of it. They
// count a call when it has ended.
type callMetrics struct {
	// Requests has streams as well, which Duration leaves to the metrics of streams.
	Requests     counterVec               `metric:"requests_total{agent,method,binding,code}" help:"Finished calls."`
	Duration     *prometheus.HistogramVec `metric:"request_duration_seconds{agent,method}" help:"Time from arrival to the last byte of calls that do not stream." buckets:"calls"`
	InFlight     prometheus.Gauge         `metric:"requests_in_flight" help:"Calls being served now."` // open streams included
	RequestSize  *prometheus.HistogramVec `metric:"request_size_bytes{agent,method}" help:"Size of request bodies." buckets:"bytes"`
	ResponseSize *prometheus.HistogramVec `metric:"response_size_bytes{agent,method}" help:"Size of answer bodies." buckets:"bytes"` // of streams in full

	// UpstreamRequests has the class of the agent's status, or none when it gave none.
	UpstreamRequests counterVec               `metric:"upstream_requests_total{agent,method,code=HTTP_1XX|HTTP_2XX|HTTP_3XX|HTTP_4XX|HTTP_5XX|none}" help:"Calls sent to agents."`
	UpstreamDuration *prometheus.HistogramVec `metric:"upstream_request_duration_seconds{agent,method}" help:"Time agents took to answer, for streams until the head." buckets:"calls"`

	// TaskStates counts a state that several calls show for each of them.
	TaskStates counterVec `metric:"task_states_total{agent,state=$taskStates}" help:"States that calls showed tasks to come to, reads left out."`
	// Ownership is task for one that is somebody else's or not there at all, which nobody is
	// told apart, context for one of somebody else's that was replaced, and answer where an
	// agent showed a caller what is somebody else's.
	Ownership counterVec `metric:"ownership_denials_total{agent,subject=task|context|answer|other}" help:"Calls about what is not the caller's, or is not there."`
	// Repeated is conflict for another content under the same id, or an answer that is not kept.
	Repeated counterVec `metric:"messages_repeated_total{agent,result=answered|pending|conflict}" help:"Messages that were not sent to the agent a second time."`
}

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
	observe(m.calls.RequestSize, &c.requestSize, c).Observe(float64(e.RequestBytes))
	observe(m.calls.ResponseSize, &c.responseSize, c).Observe(float64(e.ResponseBytes))
	if e.Streamed {
		m.countStream(c.agent, e)
		m.observeSeconds(observe(m.streams.Duration, &c.streamDuration, c), e.Duration, e)
		if e.FirstEvent > 0 {
			m.observeSeconds(observe(m.streams.FirstEvent, &c.firstEvent, c), e.FirstEvent, e)
		}
	} else {
		m.observeSeconds(observe(m.calls.Duration, &c.duration, c), e.Duration, e)
	}
	if e.UpstreamStatus != 0 || e.UpstreamDuration != 0 {
		m.countUpstream(c, e)
	}
	m.countDecision(sets, e)
	m.countCondition(c.agent, e)
	m.countExtensions(sets, e)
	m.countViolations(sets, e)
	for _, q := range e.Quirks {
		m.agents.Quirks.with(c.agent, q).Inc()
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

// countRequest counts the call by its binding and code. The counter is kept with the agent and the
// method once it was found, so that the next call of its kind looks nothing up.
func (m *Metrics) countRequest(c *callSeries, e *Exchange) {
	binding, index := bindingLabel(e.Binding)
	code := m.codes.call(e)
	cell := &c.requests[index][code]
	if p := cell.Load(); p != nil && binding != labelOther {
		(*p).Inc()
		return
	}
	counter := m.calls.Requests.WithLabelValues(c.agent, c.method, binding, m.codes.names[code])
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

// countUpstream counts what the agent was asked, in the same way. A call that was kept from the agent is
// not in it.
func (m *Metrics) countUpstream(c *callSeries, e *Exchange) {
	code := m.codes.class(e.UpstreamStatus)
	cell := &c.upstream[code]
	p := cell.Load()
	if p == nil {
		counter := m.calls.UpstreamRequests.WithLabelValues(c.agent, c.method, m.codes.names[code])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
	m.observeSeconds(observe(m.calls.UpstreamDuration, &c.upstreamDuration, c), e.UpstreamDuration, e)
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

// countDecision counts the decision by the rule that made it, and what rules in shadow mode would have
// decided. A call has one decision, and any number of shadows.
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

// countRule counts one decision of one rule.
func (m *Metrics) countRule(sets *labelSet, rule string, decision int) {
	cell := &bounded(sets.rules, rule).decisions[decision]
	p := cell.Load()
	if p == nil {
		counter := m.policy.Authz.WithLabelValues(decisionNames[decision], member(sets.rules, rule))
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
func (m *Metrics) Enter() { m.calls.InFlight.Inc() }

// Leave counts a call that is finished.
func (m *Metrics) Leave() { m.calls.InFlight.Dec() }

// okOrError is the value of the label result of what either works or does not.
func okOrError(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// oneOf bounds a value by a set.
func oneOf(value string, set ...string) string {
	for _, s := range set {
		if s == value {
			return value
		}
	}
	return labelOther
}
