package telemetry

import (
	"cmp"
	"context"
	"net/http"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Delivery is one attempt to deliver a notification to a webhook, as its span shows it.
type Delivery struct {
	Agent   string // configured agent id
	Task    string
	Host    string // of the webhook; what follows it may be a secret
	Attempt int    // from 1 on

	Parent       string // traceparent of what caused it; empty for none
	Registration string // traceparent of the call that registered the webhook; empty for none
	Notification string // traceparent of the agent's notification; empty for none
	Began        string // traceparent of the call that the task was first seen in; empty for none
}

// StartDelivery begins the span of an attempt: below what caused it, so that the trace goes
// on to the receiver, and linked to the others. It gives the traceparent that goes with it,
// Parent where the attempt is not sampled. end may be nil. The attempt may come days after
// the call that caused it, when that call's span is long exported. So its parent is given
// as text, as it was stored with the delivery, and not by a context. end takes the outcome
// ("delivered", "failed") and the status of the webhook's answer, 0 for none.
func (t *Telemetry) StartDelivery(d Delivery) (traceparent string, end func(outcome string, status int)) {
	if t.provider == nil {
		return d.Parent, nil
	}
	// Nothing of the caller's context belongs to a span that outlives its call.
	ctx := context.Background()
	if parent := t.parse(d.Parent); parent.IsValid() {
		// The gateway has written it down itself, so its decision stands.
		ctx = trace.ContextWithSpanContext(ctx, parent.WithRemote(false))
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
	for why, other := range map[string]string{
		linkRegistration: d.Registration, linkNotification: d.Notification, linkTask: d.Began,
	} {
		if c := t.parse(other); other != d.Parent && c.IsSampled() {
			options = append(options, trace.WithLinks(linkTo(c, why)))
		}
	}
	ctx, span := t.Tracer.Start(ctx, "a2a_gateway.push.deliver", options...)
	if !span.IsRecording() {
		return d.Parent, nil
	}
	h := http.Header{}
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
	setText(span, attrAgent, d.Agent)
	setText(span, attrTask, d.Task)
	setText(span, attrServerAddress, d.Host)
	setNumber(span, attrAttempt, d.Attempt)
	return h.Get("Traceparent"), func(outcome string, status int) { endDelivery(span, outcome, status) }
}

// endDelivery ends the span of an attempt. One that has no outcome was cut short.
func endDelivery(span trace.Span, outcome string, status int) {
	outcome = cmp.Or(outcome, "cancelled")
	setText(span, attrOutcome, outcome)
	setNumber(span, attrStatus, status)
	if outcome != "delivered" {
		span.SetAttributes(attrError.String(outcome))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
