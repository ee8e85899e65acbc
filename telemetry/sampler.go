package telemetry

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler decides for new traces and for strangers by its root, and lets our own spans, and
// trusted callers, decide for what follows from them. A table of who decides whether a call
// is sampled:
//
//	| the call's trace context | decision |
//	| --- | --- |
//	| none | the root sampler, by the new trace id |
//	| of a trusted caller | the caller's sampled flag, where the root is one with parentbased_ |
//	| of anybody else | the root sampler, by an id that is shuffled |
//	| the gateway's own span | as its parent was decided |
type sampler struct {
	root    atomic.Pointer[root]
	byEnv   root // what the environment says, for a configuration that says nothing
	seed    maphash.Seed
	decided sdktrace.Sampler // for what follows from our own spans
}

// root is what decides where no parent does.
type root struct {
	sdktrace.Sampler
	parents bool // trusted callers decide for themselves
}

// newSampler reads the environment. The SDK would too, but its samplers take every
// caller's word for what is to be sampled.
func newSampler(ratio *float64) (*sampler, error) {
	byEnv, err := rootByEnv()
	if err != nil {
		return nil, err
	}
	s := &sampler{byEnv: byEnv, seed: maphash.MakeSeed(), decided: sdktrace.ParentBased(sdktrace.NeverSample())}
	s.set(ratio)
	return s, nil
}

// rootByEnv follows OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
func rootByEnv() (root, error) {
	name := os.Getenv("OTEL_TRACES_SAMPLER")
	kind, parents := strings.CutPrefix(name, "parentbased_")
	switch kind {
	case "":
		return root{sdktrace.AlwaysSample(), true}, nil
	case "always_on":
		return root{sdktrace.AlwaysSample(), parents}, nil
	case "always_off":
		return root{sdktrace.NeverSample(), parents}, nil
	case "traceidratio":
	default:
		return root{}, fmt.Errorf("OTEL_TRACES_SAMPLER: %q is none of always_on, always_off, traceidratio "+
			"and the same with parentbased_ before it", name)
	}
	arg := os.Getenv("OTEL_TRACES_SAMPLER_ARG")
	if arg == "" {
		return root{sdktrace.AlwaysSample(), parents}, nil
	}
	ratio, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return root{}, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q is not a number from 0 to 1", arg)
	}
	return root{sdktrace.TraceIDRatioBased(ratio), parents}, nil
}

// set changes the ratio; nil is what the environment says.
func (s *sampler) set(ratio *float64) {
	next := s.byEnv
	if ratio != nil {
		next = root{sdktrace.TraceIDRatioBased(*ratio), true}
	}
	s.root.Store(&next)
}

// ShouldSample implements the SDK's Sampler.
func (s *sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent, now := trace.SpanContextFromContext(p.ParentContext), s.root.Load()
	switch {
	case !parent.IsValid():
		return now.ShouldSample(p)
	case !parent.IsRemote():
		return s.decided.ShouldSample(p)
		// A stranger's trace goes on under its own id, and is sampled by another.
	case !isTrusted(p.Attributes):
		p.TraceID = s.shuffle(p.TraceID)
	case now.parents:
		return s.decided.ShouldSample(p)
	}
	return now.ShouldSample(p)
}

// drops reports whether a call that begins a trace is not sampled. There is no sampler
// without an exporter. It asks the same question as the SDK would, before a span is made: a
// span that is dropped would cost a microsecond and some allocations for nothing.
func (s *sampler) drops(ctx context.Context, id trace.TraceID) bool {
	return s.root.Load().ShouldSample(sdktrace.SamplingParameters{
		ParentContext: ctx, TraceID: id, Name: serverSpan, Kind: trace.SpanKindServer,
	}).Decision == sdktrace.Drop
}

// shuffle makes another trace id of one that a stranger has chosen: samplers by ratio go by
// the id, and who knows that has all calls traced, or none. The seed is random for each
// process, so that nobody can compute which ids would be sampled.
func (s *sampler) shuffle(id trace.TraceID) trace.TraceID {
	binary.BigEndian.PutUint64(id[8:], maphash.Bytes(s.seed, id[:]))
	return id
}

// isTrusted reports whether StartServer has said that the caller may decide what is sampled.
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
	return "Trusted{" + s.root.Load().Description() + "}"
}
