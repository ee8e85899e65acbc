package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// taskCall records a call about a task and gives its span.
func taskCall(t *testing.T, tel *Telemetry, spans *tracetest.InMemoryExporter, task string) tracetest.SpanStub {
	t.Helper()
	span, _ := joined(t, tel, spans, task, "")
	return span
}

// joined is taskCall with what the task's record says, and gives the call's anchor too.
func joined(
	t *testing.T, tel *Telemetry, spans *tracetest.InMemoryExporter, task, began string,
) (span tracetest.SpanStub, anchor string) {
	t.Helper()
	e := sample()
	e.TaskID = task
	tel.StartServer(t.Context(), http.Header{}, false, e)
	tel.JoinTask(e, began)
	anchor = e.Anchor()
	tel.Record(e)
	all := spans.GetSpans()
	return all[len(all)-1], anchor
}

// TestCallsOfATaskAreLinkedToItsRecord: to the call that another gateway has recorded. What
// is no anchor links to nothing, and is no harm.
func TestCallsOfATaskAreLinkedToItsRecord(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 1)
	elsewhere, others := traced(t, 1)
	first, anchor := joined(t, elsewhere, others, "a", "")
	if len(anchor) != 24 {
		t.Errorf("the anchor has %d bytes, want 24", len(anchor))
	}
	for name, c := range map[string]struct {
		began string
		links int
	}{
		"the first": {anchor, 1}, "none": {"", 0}, "cut off": {anchor[:23], 0}, "too long": {anchor + "x", 0},
		"no span": {anchor[:16] + strings.Repeat("\x00", 8), 0}, "no trace": {strings.Repeat("\x00", 16) + anchor[16:], 0},
	} {
		again, _ := joined(t, tel, spans, name, c.began)
		if len(again.Links) != c.links {
			t.Errorf("%s: %d links, want %d", name, len(again.Links), c.links)
			continue
		}
		for _, l := range again.Links {
			got := l.SpanContext
			if got.TraceID() != first.SpanContext.TraceID() || got.SpanID() != first.SpanContext.SpanID() || !got.IsSampled() || !got.IsRemote() {
				t.Errorf("%s: linked to %v, want %v", name, got, first.SpanContext)
			}
		}
	}
	e := sample()
	e.TaskID = "a"
	tel.StartServer(t.Context(), http.Header{}, false, e)
	tel.JoinTask(e, e.Anchor()) // the call that has recorded the task itself
	tel.Record(e)
	if all := spans.GetSpans(); len(all[len(all)-1].Links) != 0 {
		t.Error("a call is linked to itself")
	}
	if _, ok := tel.tasks.young[taskName{e.Agent, "a"}]; ok {
		t.Error("what the record has is remembered besides")
	}
	silent, none := traced(t, 0)
	e = sample()
	silent.StartServer(t.Context(), http.Header{}, false, e)
	if silent.JoinTask(e, anchor); e.Anchor() != "" || len(none.GetSpans()) != 0 {
		t.Error("a call that is not sampled is an anchor")
	}
}

// TestNotificationsAreLinkedOnce: where the call that registered the webhook is the one
// that the task began with.
func TestNotificationsAreLinkedOnce(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 1)
	for registration, links := range map[string]int{sampled: 1, unsampled: 1, "": 1, "00-00000000000000000000000000000001-0000000000000001-01": 2} {
		spans.Reset()
		e := sample()
		e.TaskID = "a"
		tel.StartServer(t.Context(), http.Header{}, false, e)
		tel.JoinRegistration(e, registration)
		tel.JoinTask(e, tel.AnchorOf(sampled))
		tel.Record(e)
		if span := spans.GetSpans()[0]; len(span.Links) != links {
			t.Errorf("registered by %q: %d links, want %d", registration, len(span.Links), links)
		}
	}
	if got := tel.ParentOf(tel.AnchorOf(sampled)); got != sampled {
		t.Errorf("the anchor of %s is %s", sampled, got)
	}
	if got := tel.AnchorOf(unsampled) + tel.AnchorOf("") + tel.ParentOf("") + tel.ParentOf("x"); got != "" {
		t.Errorf("what is none becomes %q", got)
	}
}

// TestCallsOfATaskAreLinked: each to the first, whose trace they do not continue.
func TestCallsOfATaskAreLinked(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 1)
	first := taskCall(t, tel, spans, "a")
	taskCall(t, tel, spans, "b")
	for range 2 {
		again := taskCall(t, tel, spans, "a")
		if len(again.Links) != 1 || !again.Links[0].SpanContext.Equal(first.SpanContext) ||
			again.Links[0].Attributes[0].Value.AsString() != "task" {
			t.Errorf("links %v, want one to %v", again.Links, first.SpanContext)
		}
		if again.SpanContext.TraceID() == first.SpanContext.TraceID() {
			t.Error("two calls in one trace")
		}
	}
	if len(first.Links) != 0 {
		t.Errorf("the first is linked to %v", first.Links)
	}
	for denied, links := range map[string]int{"": 1, "task": 0} { // and has not come as far as its task
		e := sample()
		e.TaskID, e.Denied = "a", denied
		tel.StartServer(t.Context(), http.Header{}, false, e)
		tel.Record(e)
		if all := spans.GetSpans(); len(all[len(all)-1].Links) != links {
			t.Errorf("denied %q: linked to %v", denied, all[len(all)-1].Links)
		}
	}
}

// TestTasksAreForgotten: those that were used the longest time ago.
func TestTasksAreForgotten(t *testing.T) {
	t.Parallel()
	spans, limit := tracetest.NewInMemoryExporter(), 10
	tel := opened(t, io.Discard, func(c *Config) { c.Traces.Exporter, c.Traces.Tasks = spans, &limit })
	taskCall(t, tel, spans, "used")
	taskCall(t, tel, spans, "left")
	for i := range 100 {
		taskCall(t, tel, spans, fmt.Sprint(i))
		if used := taskCall(t, tel, spans, "used"); len(used.Links) != 1 {
			t.Fatalf("after %d others a task that is used all the time is forgotten", i)
		}
	}
	if left := taskCall(t, tel, spans, "left"); len(left.Links) != 0 {
		t.Error("a task is remembered beyond the limit")
	}
	if n := len(tel.tasks.young) + len(tel.tasks.old); n > limit {
		t.Errorf("%d tasks are remembered, the limit is %d", n, limit)
	}
}

// TestStreamEventsAreBounded: the span has the first, and how many there were.
func TestStreamEventsAreBounded(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 3, 500} {
		spans := tracetest.NewInMemoryExporter()
		tel := opened(t, io.Discard, func(c *Config) { c.Traces.Exporter, c.Traces.StreamEvents = spans, &limit })
		e := sample()
		e.Streamed = true
		tel.StartServer(t.Context(), http.Header{}, false, e)
		for range 700 {
			e.Events++
			tel.StreamEvent(e, "statusUpdate", "TASK_STATE_WORKING")
		}
		tel.Record(e)
		span := spans.GetSpans()[0]
		if len(span.Events) != limit || attributes(span)["a2a_gateway.stream.events"] != int64(700) {
			t.Errorf("%d events, want %d: %v", len(span.Events), limit, attributes(span))
		}
		if limit > 0 && span.Events[0].Attributes[0].Value.AsInt64() != 1 {
			t.Errorf("the first event is %v", span.Events[0])
		}
	}
}

// TestDeliverySpans: below what caused them, linked to the rest.
func TestDeliverySpans(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 1)
	const other, third = "00-00000000000000000000000000000001-0000000000000001-01", "00-00000000000000000000000000000002-0000000000000002-01"
	const fourth = "00-00000000000000000000000000000003-0000000000000003-01"
	for name, c := range map[string]struct {
		in    Delivery
		trace string // "" for a new one
		links int
	}{
		"caused by its registration":     {Delivery{Parent: sampled, Registration: sampled, Notification: other}, traceID, 1},
		"caused by another":              {Delivery{Parent: sampled, Registration: third, Notification: other}, traceID, 2},
		"unsampled others":               {Delivery{Parent: sampled, Registration: unsampled, Notification: "x"}, traceID, 0},
		"of a task that began elsewhere": {Delivery{Parent: sampled, Registration: third, Notification: other, Began: fourth}, traceID, 3},
		"by nothing":                     {Delivery{Registration: other}, "", 1},
	} {
		spans.Reset()
		c.in.Agent, c.in.Host, c.in.Attempt = "billing", "hooks.example", 2
		traceparent, end := tel.StartDelivery(c.in)
		end("failed", 503)
		span := spans.GetSpans()[0]
		if got := tel.parse(traceparent); got.SpanID() != span.SpanContext.SpanID() || !got.IsSampled() {
			t.Errorf("%s: it goes with %s", name, traceparent)
		}
		if c.trace != "" && span.SpanContext.TraceID().String() != c.trace || len(span.Links) != c.links ||
			span.SpanKind != trace.SpanKindClient || span.Status.Code != codes.Error {
			t.Errorf("%s: %+v", name, span)
		}
	}
	for _, parent := range []string{unsampled, "", "nonsense"} { // not sampled: what is there goes on
		silent, _ := traced(t, 0)
		if got, end := silent.StartDelivery(Delivery{Parent: parent}); got != parent || end != nil {
			t.Errorf("%q becomes %q", parent, got)
		}
	}
}
