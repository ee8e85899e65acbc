package telemetry

import (
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler decides for new traces and for strangers by ratio, and lets trusted
// callers and our own spans decide for what follows from them.
type sampler struct {
	ratio atomic.Pointer[sdktrace.Sampler]
}

// set changes the ratio; nil is all.
func (s *sampler) set(ratio *float64) {
	next := sdktrace.AlwaysSample()
	if ratio != nil {
		next = sdktrace.TraceIDRatioBased(*ratio)
	}
	s.ratio.Store(&next)
}

// ShouldSample implements the SDK's Sampler.
func (s *sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent := trace.SpanContextFromContext(p.ParentContext)
	if parent.IsValid() && (!parent.IsRemote() || isTrusted(p.Attributes)) {
		result := sdktrace.SamplingResult{Decision: sdktrace.Drop, Tracestate: parent.TraceState()}
		if parent.IsSampled() {
			result.Decision = sdktrace.RecordAndSample
		}
		return result
	}
	return (*s.ratio.Load()).ShouldSample(p)
}

func isTrusted(attributes []attribute.KeyValue) bool {
	for _, a := range attributes {
		if a.Key == attrTrusted {
			return a.Value.AsBool()
		}
	}
	return false
}

// Description implements the SDK's Sampler.
func (s *sampler) Description() string {
	return "Trusted{" + (*s.ratio.Load()).Description() + "}"
}
