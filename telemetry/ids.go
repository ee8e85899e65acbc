package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// ids are those of a span that begins a trace. They are chosen before it begins: samplers
// go by them, and of a call that is not sampled nothing but they is needed.
type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// newIDs are random and valid, as the SDK's are. An id of zeros only is invalid by W3C
// Trace Context; the loop makes another one then.
func newIDs() ids {
	var c ids
	for !c.trace.IsValid() || !c.span.IsValid() {
		binary.NativeEndian.PutUint64(c.trace[:8], rand.Uint64()) //nolint:gosec // nothing is kept from anybody by them
		binary.NativeEndian.PutUint64(c.trace[8:], rand.Uint64()) //nolint:gosec // likewise
		binary.NativeEndian.PutUint64(c.span[:], rand.Uint64())   //nolint:gosec // likewise
	}
	return c
}

// idsKey is where a context has the ids of the span that is about to begin.
type idsKey struct{}

// generator gives spans the ids that were chosen for them.
type generator struct{}

// NewIDs implements the SDK's IDGenerator.
func (generator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	c, chosen := ctx.Value(idsKey{}).(ids)
	if !chosen {
		c = newIDs()
	}
	return c.trace, c.span
}

// NewSpanID implements the SDK's IDGenerator. Spans below another one get theirs here, in
// the trace that exists already.
func (generator) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newIDs().span }
