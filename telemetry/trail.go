package telemetry

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Ask is one call to an agent, as its spans show it: the caller's, or one of the
// gateway's own on the caller's behalf.
type Ask struct {
	Agent    string // configured agent id
	Method   string // wire.Method.Name
	Version  string // that the agent is spoken to in
	Binding  wire.Binding
	Task     string // that it names
	Endpoint string // URL of the agent's interface
	Own      bool   // of the gateway's own
}

// Trail is the client spans of one Ask, one for each request by which it is tried to reach
// the agent. Nil is that of a call that is not sampled; its methods do nothing. It is used
// by one goroutine at a time. One request begins and ends before the next one is begun: an
// agent's further instances are tried one after the other.
type Trail struct {
	t    *Telemetry
	ctx  context.Context //nolint:containedctx // of the span above, while requests are sent
	ask  Ask
	span trace.Span // of the request under way, nil before and after
}

// Trail begins the trail of a call below the server span of ctx; nil where that is not
// recorded.
func (t *Telemetry) Trail(ctx context.Context, ask Ask) *Trail {
	if t.provider == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return nil
	}
	return &Trail{t: t, ctx: ctx, ask: ask}
}

// Begin begins the span of a request that is about to be sent, to an instance where the
// agent has several, and has it carry the trace. The header is replaced and not
// changed: that of an earlier try may still be read.
func (tr *Trail) Begin(r *http.Request, instance string) {
	if tr == nil {
		return
	}
	ctx, span := tr.t.Tracer.Start(tr.ctx, tr.t.Metrics.Method(tr.ask.Method), client...)
	r.Header = r.Header.Clone()
	tr.t.Inject(ctx, r.Header)
	setEndpoint(span, tr.ask.Endpoint)
	if instance != "" {
		setText(span, attrInstance, instance)
		setAddress(span, instance)
	}
	tr.span = span
}

// End ends the span of a request, by its answer's status or with err, of which the span
// has no more than that there was one. A second time does nothing.
func (tr *Trail) End(status int, err error) {
	if tr != nil && tr.span != nil {
		tr.end(status, err)
	}
}

// Learn adds what the answer to the caller's own call has shown. It is called before End,
// when the answer has been read.
func (tr *Trail) Learn(e *Exchange) {
	if tr == nil || tr.span == nil {
		return
	}
	tr.ask.Task = e.TaskID
	setText(tr.span, attrTaskState, e.TaskState)
	setText(tr.span, attrContext, e.ContextID)
	setText(tr.span, attrMessage, e.MessageID)
	setTexts(tr.span, attrReferences, e.References)
	setText(tr.span, attrTenant, e.Tenant)
}

// end sets what is known of the request by now: the first answer of a task names it, so that most of
// the attributes are set here and not when the span begins.
func (tr *Trail) end(status int, err error) {
	span := tr.span
	tr.span = nil
	setText(span, attrMethod, tr.ask.Method)
	setText(span, attrVersion, tr.ask.Version)
	setText(span, attrAgent, tr.ask.Agent)
	setText(span, attrTask, tr.ask.Task)
	setSystem(span, tr.ask.Binding.String(), tr.ask.Method)
	setNumber(span, attrStatus, status)
	if tr.ask.Own {
		span.SetAttributes(attrOwn.Bool(true))
	}
	switch {
	case err != nil:
		span.SetAttributes(attrError.String("UNAVAILABLE"))
		span.SetStatus(codes.Error, "")
	case status >= http.StatusBadRequest:
		span.SetAttributes(attrError.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// setEndpoint sets the agent's address, without path, query or userinfo. A path or a query
// may hold a key of the agent's, which traces must not have. An endpoint that is no URL
// sets nothing.
func setEndpoint(span trace.Span, endpoint string) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return
	}
	setText(span, attrServerAddress, u.Hostname())
	setPort(span, u.Port())
}

// setAddress sets the address of an instance, which is a host with or without a port.
func setAddress(span trace.Span, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	setText(span, attrServerAddress, host)
	setPort(span, port)
}

// setPort leaves out what is no number, such as no port at all.
func setPort(span trace.Span, port string) {
	if n, err := strconv.Atoi(port); err == nil {
		setNumber(span, attrServerPort, n)
	}
}

// setSystem says what kind of remote call it is.
func setSystem(span trace.Span, binding, method string) {
	switch binding {
	case wire.JSONRPC.String():
		span.SetAttributes(attrRPCSystem.String("jsonrpc"), attrJSONRPC.String("2.0"))
	case wire.GRPC.String():
		span.SetAttributes(attrRPCSystem.String("grpc"))
	default:
		return
	}
	setText(span, attrRPCMethod, method)
}

// client is one slice for all spans: it would be made for each request otherwise.
var client = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
