package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Calls counts calls: those of clients, and what agents were asked for them.
type Calls struct {
	sets      *labelSets
	codes     codeIndex
	exemplars bool
	metrics   callMetrics
}

// callMetrics are about calls: what came, what went to agents, and what became of it. They
// count a call when it has ended.
type callMetrics struct {
	// Requests has streams as well, which Duration leaves to the metrics of streams.
	Requests     counterVec               `metric:"requests_total{agent,method,binding,code}" help:"Finished calls."`
	Duration     *prometheus.HistogramVec `metric:"request_duration_seconds{agent,method}" help:"Time from arrival to the last byte of calls that do not stream." buckets:"calls"`
	InFlight     prometheus.Gauge         `metric:"requests_in_flight" help:"Calls being served now."` // open streams included
	RequestSize  *prometheus.HistogramVec `metric:"request_size_bytes{agent,method}" help:"Size of request bodies." buckets:"bytes"`
	ResponseSize *prometheus.HistogramVec `metric:"response_size_bytes{agent,method}" help:"Size of answer bodies." buckets:"bytes"` // of streams in full

	// StreamDuration is from arrival, so that a stream that was long in coming is seen.
	StreamDuration *prometheus.HistogramVec `metric:"stream_duration_seconds{agent,method}" help:"Time from arrival to the end of streams." buckets:"streams"`
	// FirstEvent has no streams without any.
	FirstEvent *prometheus.HistogramVec `metric:"time_to_first_event_seconds{agent,method}" help:"Time from arrival to the first event of streams." buckets:"calls"`

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

	requests [wire.MCP + 1][]counterCell // by binding (0: none or other), then by code index
	upstream []counterCell               // by code index

	duration, requestSize, responseSize, upstreamDuration, streamDuration, firstEvent observerCell
}

// Call is what is counted of a call when it has ended. Empty texts are counted as "none".
type Call struct {
	Agent, Method, Binding string // configured agent id, wire.Method.Name, wire.Binding.String

	Status int    // HTTP status that the client got
	Reason string // wire.Kind.Reason of the refusal or of the agent's error; empty for none

	Duration      time.Duration // from arrival to the last byte
	RequestBytes  int64         // of the request's body
	ResponseBytes int64         // of the answer's body

	UpstreamStatus   int           // HTTP status of the agent; 0 where it gave none
	UpstreamDuration time.Duration // until it answered; 0, with a status of 0, where it was not asked

	Streamed   bool          // the answer was an event stream
	FirstEvent time.Duration // from arrival to its first event; 0 for none

	Trace string // id of the trace, in hex digits, that the call's span was exported in; empty for none
}

// Finish counts a call that has ended. It is on the path of every call, so that it only loads
// pointers to the children that the first call of its kind has found.
func (c *Calls) Finish(call *Call) {
	s := c.of(bounded(c.sets.Load().agents, call.Agent), call.Method)
	c.countRequest(s, call)
	observe(c.metrics.RequestSize, &s.requestSize, s).Observe(float64(call.RequestBytes))
	observe(c.metrics.ResponseSize, &s.responseSize, s).Observe(float64(call.ResponseBytes))
	if call.Streamed {
		c.observeSeconds(observe(c.metrics.StreamDuration, &s.streamDuration, s), call.Duration, call.Trace)
		if call.FirstEvent > 0 {
			c.observeSeconds(observe(c.metrics.FirstEvent, &s.firstEvent, s), call.FirstEvent, call.Trace)
		}
	} else {
		c.observeSeconds(observe(c.metrics.Duration, &s.duration, s), call.Duration, call.Trace)
	}
	if call.UpstreamStatus != 0 || call.UpstreamDuration != 0 {
		c.countUpstream(s, call)
	}
}

// of returns the children of an agent and a method, made on first use.
func (c *Calls) of(agent *agentSeries, method string) *callSeries {
	name, cell := agent.cell(method)
	if s := cell.Load(); s != nil {
		return s
	}
	s := &callSeries{agent: agent.id, method: name, upstream: make([]counterCell, len(c.codes.names))}
	for i := range s.requests {
		s.requests[i] = make([]counterCell, len(c.codes.names))
	}
	// Two that race make the same children; whichever is stored, both count.
	cell.CompareAndSwap(nil, s)
	return cell.Load()
}

// countRequest counts the call by its binding and code. The counter is kept with the agent and the
// method once it was found, so that the next call of its kind looks nothing up.
func (c *Calls) countRequest(s *callSeries, call *Call) {
	binding, index := bindingLabel(call.Binding)
	code := c.codes.call(call.Reason, call.Status)
	cell := &s.requests[index][code]
	if p := cell.Load(); p != nil && binding != labelOther {
		(*p).Inc()
		return
	}
	counter := c.metrics.Requests.WithLabelValues(s.agent, s.method, binding, c.codes.names[code])
	if binding != labelOther { // "other" shares the cell of "none" and is never kept
		cell.Store(&counter)
	}
	counter.Inc()
}

// bindingLabel bounds the binding and numbers it as wire does.
func bindingLabel(binding string) (string, int) {
	for b := wire.JSONRPC; b <= wire.MCP; b++ {
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
func (c *Calls) countUpstream(s *callSeries, call *Call) {
	code := c.codes.class(call.UpstreamStatus)
	cell := &s.upstream[code]
	p := cell.Load()
	if p == nil {
		counter := c.metrics.UpstreamRequests.WithLabelValues(s.agent, s.method, c.codes.names[code])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
	c.observeSeconds(observe(c.metrics.UpstreamDuration, &s.upstreamDuration, s), call.UpstreamDuration, call.Trace)
}

// observe returns a histogram's child for an agent and a method.
func observe(vec *prometheus.HistogramVec, cell *observerCell, s *callSeries) prometheus.Observer {
	if p := cell.Load(); p != nil {
		return *p
	}
	o := vec.WithLabelValues(s.agent, s.method)
	cell.Store(&o)
	return o
}

// observeSeconds adds a duration, with the trace as its example when exemplars are on and the
// trace is one that was exported: an example that leads to no trace helps nobody.
func (c *Calls) observeSeconds(o prometheus.Observer, d time.Duration, trace string) {
	if x, ok := o.(prometheus.ExemplarObserver); ok && c.exemplars && trace != "" {
		x.ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": trace})
		return
	}
	o.Observe(d.Seconds())
}

// Enter counts a call that has arrived; each needs one Leave.
func (c *Calls) Enter() { c.metrics.InFlight.Inc() }

// Leave counts a call that is finished.
func (c *Calls) Leave() { c.metrics.InFlight.Dec() }

// TaskState counts a state that a call has shown a task to come to.
func (c *Calls) TaskState(agent, state string) {
	i, ok := taskStates[state]
	if !ok {
		i = len(taskStates)
	}
	a := bounded(c.sets.Load().agents, agent)
	cell := &a.states[i]
	p := cell.Load()
	if p == nil {
		counter := c.metrics.TaskStates.WithLabelValues(a.id, taskStateLabels[i])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
}

// Counts are the series of requests_total.
func (c *Calls) Counts() []Count { return countsOf(c.metrics.Requests.CounterVec) }

// Denied counts a call about what is not the caller's; subject is task, context or answer.
func (c *Calls) Denied(agent, subject string) {
	c.metrics.Ownership.with(c.sets.agent(agent), subject).Inc()
}

// Repeated counts a message that was not sent to the agent a second time. reason is that of the
// answer: empty where the first one's was given again.
func (c *Calls) Repeated(agent, reason string) {
	c.metrics.Repeated.WithLabelValues(c.sets.agent(agent), repetition(reason)).Inc()
}

// repetition is what became of a message that had been sent before.
func repetition(reason string) string {
	switch reason {
	case "":
		return "answered"
	case wire.Unavailable.Reason:
		return "pending"
	}
	return "conflict"
}

// taskStateLabels are the values of the state label, the names of A2A 1.0; taskStates are
// their places in it without the last.
var (
	taskStateLabels = []string{
		"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED",
		"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED", labelOther,
	}
	taskStates = places(taskStateLabels[:len(taskStateLabels)-1])
)

// places finds names by what they are, without a search through the list.
func places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}
