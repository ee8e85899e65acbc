package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// taskCall records a call about a task and gives its span.
func taskCall(t *testing.T, tel *Telemetry, spans *tracetest.InMemoryExporter, task string) tracetest.SpanStub {
	t.Helper()
	e := sample()
	e.TaskID = task
	tel.StartServer(t.Context(), http.Header{}, false, e)
	tel.JoinTask(e)
	tel.Record(e)
	all := spans.GetSpans()
	return all[len(all)-1]
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
	for name, c := range map[string]struct {
		in    Delivery
		trace string // "" for a new one
		links int
	}{
		"caused by its registration": {Delivery{Parent: sampled, Registration: sampled, Notification: other}, traceID, 1},
		"caused by another":          {Delivery{Parent: sampled, Registration: third, Notification: other}, traceID, 2},
		"unsampled others":           {Delivery{Parent: sampled, Registration: unsampled, Notification: "x"}, traceID, 0},
		"by nothing":                 {Delivery{Registration: other}, "", 1},
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
