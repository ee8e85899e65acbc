package telemetry

import (
	"context"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Why a span is linked to another, the values of attrLink.
const (
	linkTask         = "task"         // the call that the task was first seen in
	linkRegistration = "registration" // the call that registered the webhook
	linkNotification = "notification" // the agent's notification
)

// defaultTasks is Traces.Tasks.
const defaultTasks = 65_536

// taskSpans remembers the span in which each task was first seen here, of the latest tasks
// whose records have none: in two halves, the older of which goes when the younger is full.
// Two maps cost less than a list in order of use: forgetting half of them takes no time,
// and each task needs one entry. A task is kept for at least half of Traces.Tasks further
// tasks.
type taskSpans struct {
	half int

	mu         sync.Mutex
	young, old map[taskName]trace.SpanContext
}

// taskName is a task: ids are the agents' own, and two agents may choose the same.
type taskName struct{ agent, task string }

// first is the span in which a task was first seen, which is this one where nothing is
// known of it. A task that is asked for again moves to the younger half, so that those
// which go on are not forgotten for many that are over.
func (s *taskSpans) first(name taskName, now trace.SpanContext) trace.SpanContext {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.young[name]; ok {
		return c
	}
	c, ok := s.old[name]
	if !ok {
		c = now
	}
	if s.young == nil || len(s.young) >= s.half {
		s.young, s.old = make(map[taskName]trace.SpanContext), s.young
	}
	s.young[name] = c
	return c
}

// JoinTask links a call to the one in which its task was first seen, as soon as the task is
// known. began is the Anchor of that one, by whatever gateway, as the task's record has it;
// where it has none, this gateway's first call of the task stands in for it. Calls that are
// not sampled are neither linked nor linked to. Links and not parents are used
// (OpenTelemetry's links between spans): a task may go on for days in many calls of several
// callers, which would be one trace without an end.
func (t *Telemetry) JoinTask(e *Exchange, began string) {
	if e.span == nil || e.TaskID == "" || e.TaskID == e.joined {
		return
	}
	e.joined = e.TaskID
	own := e.span.SpanContext()
	c := anchored(began)
	if !c.IsValid() {
		c = t.tasks.first(taskName{e.Agent, e.TaskID}, own)
	}
	if c.SpanID() != own.SpanID() && c.SpanID() != e.registered {
		e.span.AddLink(linkTo(c, linkTask))
	}
}

// JoinRegistration links the notification of an agent to the call that registered the
// webhook, whose traceparent is given. The traceparent was stored with the registration, so
// that the link works after a restart.
func (t *Telemetry) JoinRegistration(e *Exchange, traceparent string) {
	if e.span == nil {
		return
	}
	if c := t.parse(traceparent); c.IsSampled() {
		e.registered = c.SpanID()
		e.span.AddLink(linkTo(c, linkRegistration))
	}
}

// Anchor is what the record of a task keeps of the call that it was first seen in, for
// later calls to be linked to; empty where the call is not sampled. It is 24 bytes: the 16
// of a trace id and the 8 of a span id.
func (e *Exchange) Anchor() string {
	if e.span == nil {
		return ""
	}
	return anchor(e.span.SpanContext())
}

// AnchorOf is the Anchor of the call that a traceparent of the gateway's own making is of.
func (t *Telemetry) AnchorOf(traceparent string) string {
	if c := t.parse(traceparent); c.IsSampled() {
		return anchor(c)
	}
	return ""
}

// ParentOf is the traceparent of an anchored call; empty for none. The flag 01 says that it
// was sampled, as only calls that are sampled have an anchor.
func (t *Telemetry) ParentOf(anchor string) string {
	c := anchored(anchor)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-01"
}

// anchor is the ids of a span without the rest of its context, which is what has to be remembered of it.
func anchor(c trace.SpanContext) string {
	traceID, spanID := c.TraceID(), c.SpanID()
	return string(append(traceID[:], spanID[:]...))
}

// anchored reads an Anchor; what is none is no context.
func anchored(anchor string) trace.SpanContext {
	var traceID trace.TraceID
	var spanID trace.SpanID
	if len(anchor) != len(traceID)+len(spanID) {
		return trace.SpanContext{}
	}
	copy(traceID[:], anchor)
	copy(spanID[:], anchor[len(traceID):])
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

// linkTo is a link to a span, which says why the two belong together.
func linkTo(c trace.SpanContext, why string) trace.Link {
	return trace.Link{SpanContext: c, Attributes: []attribute.KeyValue{attrLink.String(why)}}
}

// parse reads a traceparent of the gateway's own making; what is none is no context.
func (t *Telemetry) parse(traceparent string) trace.SpanContext {
	if traceparent == "" {
		return trace.SpanContext{}
	}
	header := propagation.HeaderCarrier(http.Header{"Traceparent": {traceparent}})
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), header))
}
