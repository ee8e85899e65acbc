package telemetry

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"

	"go.opentelemetry.io/contrib/propagators/autoprop"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// openTraces sets up the propagator and, when there is an exporter, a tracer. Without one
// the tracer does nothing, and the caller's trace context goes to the agent as it came:
// starting traces of our own that nobody collects, marked as not sampled, would make agents
// drop theirs. plain says that the propagator is the usual one alone; then the header is
// written by hand (Carry), without the maps that propagators need.
func (t *Telemetry) openTraces(ctx context.Context, version string, egress Egress) error {
	t.Propagator = autoprop.NewTextMapPropagator(propagation.TraceContext{})
	_, t.plain = t.Propagator.(propagation.TraceContext)
	for _, field := range t.Propagator.Fields() {
		t.fields = append(t.fields, http.CanonicalHeaderKey(field))
	}
	exporter, err := openExporter(ctx, t.config.Traces, egress)
	if err != nil {
		return err
	}
	if exporter == nil {
		t.Tracer = noop.NewTracerProvider().Tracer(scopeName)
		return nil
	}
	about, err := newResource(ctx, version)
	if err != nil {
		return err
	}
	// Spans are exported in batches, so that no call waits for the collector. Whoever brings an
	// exporter of their own wants to see each at once: those are tests.
	export := sdktrace.WithBatcher
	if t.config.Traces.Exporter != nil {
		export = func(e sdktrace.SpanExporter, _ ...sdktrace.BatchSpanProcessorOption) sdktrace.TracerProviderOption {
			return sdktrace.WithSyncer(e)
		}
	}
	if t.sampler, err = newSampler(t.config.Traces.SampleRatio); err != nil {
		return err
	}
	options := []sdktrace.TracerProviderOption{
		export(exporter), sdktrace.WithResource(about), sdktrace.WithSampler(t.sampler), sdktrace.WithRawSpanLimits(t.spanLimits()),
		sdktrace.WithIDGenerator(generator{}),
	}
	t.provider = sdktrace.NewTracerProvider(options...)
	t.Tracer = t.provider.Tracer(scopeName, trace.WithInstrumentationVersion(version))
	return nil
}

// newResource says who it is that exports. It becomes the resource of each export:
// service.name, service.version, telemetry.sdk.*.
func newResource(ctx context.Context, version string) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", serviceName), attribute.String("service.version", version)),
		resource.WithFromEnv(), // last: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win
	)
}

// Resource says who it is that exports, as spans have it: service.name, service.version
// and what the OTEL_* variables add.
func (t *Telemetry) Resource(ctx context.Context) ([]attribute.KeyValue, error) {
	about, err := newResource(ctx, t.version)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return about.Attributes(), nil
}

// spanLimits are those of the environment, with room for the events of a stream.
func (t *Telemetry) spanLimits() sdktrace.SpanLimits {
	limits := sdktrace.NewSpanLimits()
	if limits.EventCountLimit >= 0 {
		limits.EventCountLimit = max(limits.EventCountLimit, t.config.Traces.events())
	}
	return limits
}

// openExporter returns nil when the environment names neither an exporter nor
// an endpoint: the default of the OpenTelemetry specification, localhost:4318,
// would have every gateway without a collector knock at a closed door.
func openExporter(ctx context.Context, config Traces, egress Egress) (sdktrace.SpanExporter, error) {
	if config.Exporter != nil {
		return config.Exporter, nil
	}
	if os.Getenv("OTEL_SDK_DISABLED") == "true" ||
		os.Getenv("OTEL_TRACES_EXPORTER") == "" &&
			os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" &&
			os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, nil
	}
	return newSpanExporter(ctx, os.Getenv("OTEL_TRACES_EXPORTER"), egress)
}

// tellExportErrors has the SDK report a collector that cannot be reached in our
// log and form. The handler is a global of the SDK; there is no other way.
func (t *Telemetry) tellExportErrors() {
	if t.provider != nil && t.config.Traces.Exporter == nil || t.meters != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
			t.Metrics.Gateway.ExportFailed()
			t.Log.Warn("export telemetry", "error", err)
		}))
	}
}

// StartServer begins the server span of a call and returns the context that
// carries it, from which Trail and Carry continue. It sets e.TraceID and
// e.SpanID; Record ends the span. A call that begins a trace and is not sampled has
// nothing but these, and the context stays as it is. The trace context in h is taken up; its
// tracestate and its sampled flag only when the caller is trusted, since a
// stranger must neither speak to our tracing vendor nor fill our collector.
// Baggage is never taken up.
func (t *Telemetry) StartServer(
	ctx context.Context, h http.Header, trusted bool, e *Exchange,
) context.Context {
	remote := t.hasContext(h)
	if remote {
		ctx = t.extract(ctx, h, trusted)
	} else if t.provider == nil {
		return ctx // nothing comes in, nothing goes out: the common case costs nothing
	}
	// The ids are made here, so that a call that is not sampled is known to be none before the
	// SDK makes a span of it.
	if !remote && t.plain {
		chosen := newIDs()
		if t.sampler.drops(ctx, chosen.trace) {
			e.carry(trace.NewSpanContext(trace.SpanContextConfig{TraceID: chosen.trace, SpanID: chosen.span}))
			return ctx
		}
		ctx = context.WithValue(ctx, idsKey{}, chosen)
	}
	options := serverUntrusted
	if trusted && remote {
		options = serverTrusted
	}
	ctx, span := t.Tracer.Start(ctx, serverSpan, options...)
	if c := span.SpanContext(); c.IsValid() {
		e.carry(c)
	}
	if span.IsRecording() {
		e.span = span
	}
	return ctx
}

// carry remembers the server span, as headers have it: the ids are parts of that.
func (e *Exchange) carry(c trace.SpanContext) {
	// A traceparent is 00-<trace id>-<span id>-<flags>, in hexadecimal (W3C Trace Context,
	// section 3.2).
	const version = "00-"
	of, span, flags := c.TraceID(), c.SpanID(), c.TraceFlags()&(trace.FlagsSampled|trace.FlagsRandom)
	var room [len(version) + 2*len(of) + 1 + 2*len(span) + 1 + 2]byte
	b := append(hex.AppendEncode(append(room[:0], version...), of[:]), '-')
	b = append(hex.AppendEncode(b, span[:]), '-')
	text := string(hex.AppendEncode(b, []byte{byte(flags)}))
	e.server, e.parent[0] = span, text
	e.TraceID = text[len(version):][:2*len(of)]
	e.SpanID = text[len(version)+2*len(of)+1:][:2*len(span)]
}

// serverSpan is what a server span is called until more is known.
const serverSpan = "a2a.server"

var (
	serverUntrusted = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	serverTrusted   = []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrTrusted.Bool(true)),
	}
)

// hasContext reports whether there is anything for the propagator to read.
func (t *Telemetry) hasContext(h http.Header) bool {
	for _, field := range t.fields {
		if len(h[field]) > 0 {
			return true
		}
	}
	return false
}

// extract takes up the trace context of a request. Of a caller who is not trusted the trace
// id and the parent's span id are taken, so that both sides find the call, and the
// tracestate is left out.
func (t *Telemetry) extract(ctx context.Context, h http.Header, trusted bool) context.Context {
	if len(h["Traceparent"]) > 1 {
		return ctx // which of them is meant cannot be known
	}
	ctx = t.Propagator.Extract(ctx, propagation.HeaderCarrier(h))
	ctx = baggage.ContextWithoutBaggage(ctx) // OTEL_PROPAGATORS may have let it in
	if c := trace.SpanContextFromContext(ctx); !trusted && c.TraceState().Len() > 0 {
		ctx = trace.ContextWithRemoteSpanContext(ctx, c.WithTraceState(trace.TraceState{}))
	}
	return ctx
}

// Under is ctx with the span of server, which is the context of a call, where it has none
// of its own.
func (t *Telemetry) Under(ctx, server context.Context) context.Context {
	if span := trace.SpanFromContext(server); !trace.SpanContextFromContext(ctx).IsValid() && span.SpanContext().IsValid() {
		return trace.ContextWithSpan(ctx, span)
	}
	return ctx
}

// Sampled reports whether a call has a span that will be exported: what only spans show
// need not be found out for others.
func (e *Exchange) Sampled() bool { return e.span != nil }

// Carry writes the trace context of a call, or of a span below it that ctx has, into the
// header of a request to an agent, which has none yet.
func (t *Telemetry) Carry(ctx context.Context, e *Exchange, h http.Header) {
	if t.plain && e.server.IsValid() {
		c := trace.SpanContextFromContext(ctx)
		if !c.IsValid() || c.SpanID() == e.server && c.TraceState().Len() == 0 {
			h["Traceparent"] = e.parent[:] // as the propagator would write it
			return
		}
	}
	t.Inject(ctx, h)
}

// Inject writes the trace context of ctx into the header of a request to an
// agent, replacing what stands there.
func (t *Telemetry) Inject(ctx context.Context, h http.Header) {
	for _, field := range t.fields {
		delete(h, field)
	}
	delete(h, "Baggage") // not ours, and not for the agent to believe
	t.Propagator.Inject(ctx, carrier(h))
}

// carrier is a header that a propagator writes to, which spells names in lower case.
type carrier http.Header

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(name string) string { return http.Header(c).Get(name) }

// Set implements propagation.TextMapCarrier.
func (c carrier) Set(name, value string) {
	if name == "traceparent" { // the usual one: the rest of the package would copy the name
		c["Traceparent"] = []string{value}
		return
	}
	http.Header(c).Set(name, value)
}

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string { return propagation.HeaderCarrier(c).Keys() }
