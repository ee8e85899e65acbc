package telemetry

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// condition is the part of Metrics that says what becomes of tasks, and how the gateway
// itself is doing.
type condition struct {
	// task_states_total{agent,state}: states that tasks came to, by what calls showed of
	// them, reads left out; a state that several calls show is counted by each.
	taskStates *prometheus.CounterVec
	// ownership_denials_total{agent,subject}: calls about what is not the caller's; subject
	// is task for one that is somebody else's or not there at all, which nobody is told
	// apart, context for one of somebody else's that was replaced, and answer where an
	// agent showed a caller what is somebody else's.
	ownership *prometheus.CounterVec
	// messages_repeated_total{agent,result}: messages that were not sent to the agent
	// because they had been before; result is answered, pending, or conflict for another
	// content under the same id, or an answer that is not kept.
	repeated *prometheus.CounterVec

	// limit_max{limit}: what server.limits permits.
	// limit_used{limit}: what is in use of it.
	// audit_unsynced_records: audit records that are not on the disk yet.
	// audit_lag_seconds: how long the oldest of those has been waiting; 0 for none.
	// audit_failing: 1 while audit records cannot be written, else 0.
	// state_unavailable: 1 while the state is known not to take records: it cannot be
	// reached, its file is lost, or it refuses writes; else 0.
	// tls_certificate_expiry_timestamp_seconds: when the first of the certificates that
	// are served ends, Unix time; absent without TLS.
	// acme_certificate_expiry_timestamp_seconds{domain}: when the certificate of a name of
	// server.tls.acme.domains ends, Unix time; absent until there is one.
	// acme_failing{domain}: 1 while the last attempt to get or renew it has failed, else 0.
	asked *asked

	// acme_orders_total{domain,result}: what came of orders for certificates that this
	// gateway has made: issued or failed.
	orders *prometheus.CounterVec

	// telemetry_export_errors_total: times that spans or metrics could not be sent to a
	// collector.
	exportErrors prometheus.Counter
}

// taskStateNames are the values of the state label, the names of A2A 1.0.
const taskStateNames = "TASK_STATE_SUBMITTED|TASK_STATE_WORKING|TASK_STATE_INPUT_REQUIRED|TASK_STATE_AUTH_REQUIRED|" +
	"TASK_STATE_COMPLETED|TASK_STATE_FAILED|TASK_STATE_CANCELED|TASK_STATE_REJECTED|other"

// taskStateLabels are the same as a list, taskStates their places in it without the last.
var (
	taskStateLabels = strings.Split(taskStateNames, "|")
	taskStates      = places(taskStateLabels[:len(taskStateLabels)-1])
)

func places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

func (f factory) condition(c *condition) {
	c.taskStates = f.counters("task_states_total", "States that calls showed tasks to come to, reads left out.",
		"agent", "state="+taskStateNames)
	c.ownership = f.counters("ownership_denials_total", "Calls about what is not the caller's, or is not there.",
		"agent", "subject=task|context|answer|other")
	c.repeated = f.counters("messages_repeated_total", "Messages that were not sent to the agent a second time.",
		"agent", "result=answered|pending|conflict")
	c.asked = &asked{
		max:      f.asked("limit_max", "What server.limits permits.", "limit=requests|streams|connections|descriptors"),
		used:     f.asked("limit_used", "What is in use of server.limits.", "limit=requests|streams|connections|descriptors"),
		unsynced: f.asked("audit_unsynced_records", "Audit records that are not on the disk yet."),
		lag:      f.asked("audit_lag_seconds", "How long the oldest audit record waits that is not on the disk yet."),
		failing:  f.asked("audit_failing", "Whether audit records cannot be written."),
		stateless: f.asked("state_unavailable",
			"Whether the state is known not to take records: it cannot be reached, its file is lost, or it refuses writes."),
		expiry: f.asked("tls_certificate_expiry_timestamp_seconds",
			"When the first of the certificates that are served ends, in Unix time; absent without TLS."),
		obtained: f.asked("acme_certificate_expiry_timestamp_seconds",
			"When the certificate of a name of server.tls.acme ends, in Unix time; absent until there is one.", "domain"),
		unobtained: f.asked("acme_failing", "Whether the last attempt to get or renew a certificate has failed.", "domain"),
	}
	c.orders = f.counters("acme_orders_total", "Orders for certificates that this gateway has made.",
		"domain", "result=issued|failed")
	f.registry.MustRegister(c.asked)
	c.exportErrors = f.counter("telemetry_export_errors_total", "Times that spans or metrics could not be sent.")
}

// Condition is how the gateway is doing at the moment.
type Condition struct {
	Limits      []Use         // of server.limits
	Unsynced    int           // audit records that are not on the disk yet
	Lag         time.Duration // how long the oldest of them waits
	Failing     bool          // audit records cannot be written
	Stateless   bool          // the state is known not to take records
	Certificate time.Time     // when the first of those served ends; zero without TLS
	Domains     []Domain      // of server.tls.acme
}

// Domain is a name that certificates are ordered for.
type Domain struct {
	Name    string
	End     time.Time // of the certificate; zero without one
	Failing bool      // the last attempt
}

// Use is how much there is of something, and how much there may be. Limit is requests,
// streams, connections or descriptors.
type Use struct {
	Limit     string
	Used, Max int
}

// asked are gauges that are asked for when somebody looks.
type asked struct {
	ask                                       atomic.Pointer[func() Condition]
	max, used, unsynced, lag, failing, expiry *prometheus.Desc
	obtained, unobtained, stateless           *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (a *asked) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{a.max, a.used, a.unsynced, a.lag, a.failing, a.expiry, a.obtained, a.unobtained, a.stateless} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (a *asked) Collect(to chan<- prometheus.Metric) {
	ask := a.ask.Load()
	if ask == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	now := (*ask)()
	for _, l := range now.Limits {
		gauge(a.max, float64(l.Max), l.Limit)
		gauge(a.used, float64(l.Used), l.Limit)
	}
	gauge(a.unsynced, float64(now.Unsynced))
	gauge(a.lag, now.Lag.Seconds())
	gauge(a.failing, truth(now.Failing))
	gauge(a.stateless, truth(now.Stateless))
	if !now.Certificate.IsZero() {
		gauge(a.expiry, float64(now.Certificate.Unix()))
	}
	for _, d := range now.Domains {
		gauge(a.unobtained, truth(d.Failing), d.Name)
		if !d.End.IsZero() {
			gauge(a.obtained, float64(d.End.Unix()), d.Name)
		}
	}
}

// Ordered counts an order for a certificate.
func (m *Metrics) Ordered(domain string, err error) {
	result := "issued"
	if err != nil {
		result = "failed"
	}
	m.orders.WithLabelValues(member(m.sets.Load().domains, domain), result).Inc()
}

// Condition sets whom the gauges of the gateway's own condition ask. Each limit it names
// is there once.
func (m *Metrics) Condition(ask func() Condition) { m.asked.ask.Store(&ask) }

// TaskState counts a state that a call has shown a task to come to.
func (m *Metrics) TaskState(agent, state string) {
	i, ok := taskStates[state]
	if !ok {
		i = len(taskStates)
	}
	a := bounded(m.sets.Load().agents, agent)
	cell := &a.states[i]
	p := cell.Load()
	if p == nil {
		counter := m.taskStates.WithLabelValues(a.id, taskStateLabels[i])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
}

// countCondition counts what is rarely in a call.
func (m *Metrics) countCondition(agent string, e *Exchange) {
	if e.Denied != "" {
		m.ownership.WithLabelValues(agent, oneOf(e.Denied, "task", "context", "answer")).Inc()
	}
	if e.Deduplicated {
		m.repeated.WithLabelValues(agent, repetition(e)).Inc()
	}
}

// repetition is what became of a message that had been sent before.
func repetition(e *Exchange) string {
	switch e.Reason {
	case "":
		return "answered"
	case wire.Unavailable.Reason:
		return "pending"
	}
	return "conflict"
}
