package deliveries

import (
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// attempted counts an attempt to deliver a notification, and records it. What was sent
// cannot be taken back where nothing can be recorded: the log says so.
func (r *Relay) attempted(a push.Attempt) {
	r.Telemetry.Metrics.Push.Attempted(a.Agent, string(a.Outcome), a.Duration)
	if err := r.Audit.Event("push.delivery", deliveryAttrs(&a)); err != nil {
		r.Telemetry.Log.Error("write audit event", "event", "push.delivery", "delivery", a.ID, "error", err)
	}
}

// traced begins the span of an attempt. end is nil where the attempt is not sampled.
func (r *Relay) traced(d *push.Delivery, attempt int) (traceparent string, end func(push.Outcome, int)) {
	traceparent, done := r.Telemetry.StartDelivery(telemetry.Delivery{
		Agent: d.Agent, Task: d.Task, Host: d.Host(), Attempt: attempt,
		Parent: d.Traceparent, Registration: d.Registered, Notification: d.Notified, Began: d.Began,
	})
	if done == nil {
		return traceparent, nil
	}
	return traceparent, func(o push.Outcome, status int) { done(string(o), status) }
}

// deliveryAttrs are what an event says of an attempt: of the target its host only.
func deliveryAttrs(a *push.Attempt) map[string]string {
	principal, issuer := ledger.OwnerOf(state.Record{Owner: a.Owner})
	attrs := map[string]string{
		"delivery": a.ID, "outcome": string(a.Outcome), "attempt": strconv.Itoa(a.Number),
		"waited_ms": strconv.FormatInt(a.Waited.Milliseconds(), 10),
	}
	for name, value := range map[string]string{
		"agent": a.Agent, "task_id": a.Task, "config_id": a.Name, "webhook": a.Config, "principal": principal, "issuer": issuer,
		"version": a.Version, "target_host": a.Host, "trace_id": traceID(a.Traceparent),
	} {
		if value != "" {
			attrs[name] = value
		}
	}
	if a.Status != 0 {
		attrs["status"] = strconv.Itoa(a.Status)
	}
	if a.Duration != 0 {
		attrs["duration_ms"] = strconv.FormatInt(a.Duration.Milliseconds(), 10)
	}
	if a.Outcome != push.Delivered {
		attrs["why"] = a.Why
	}
	return attrs
}

// traceID is that of a traceparent (W3C Trace Context §3.2); "" for none.
func traceID(parent string) string {
	_, rest, _ := strings.Cut(parent, "-")
	id, _, _ := strings.Cut(rest, "-")
	return id
}

// queued tells metrics how much there is to deliver. The age of the oldest is 0 where
// nothing waits.
func (r *Relay) queued(d state.Depth) {
	var oldest time.Duration
	if !d.Oldest.IsZero() {
		oldest = time.Since(d.Oldest)
	}
	r.Telemetry.Metrics.Push.Queue(d.Waiting, d.Dead, oldest)
}
