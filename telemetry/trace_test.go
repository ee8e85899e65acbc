package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

const (
	traceID   = "0af7651916cd43dd8448eb211c80319c"
	parentID  = "b7ad6b7169203331"
	sampled   = "00-" + traceID + "-" + parentID + "-01"
	unsampled = "00-" + traceID + "-" + parentID + "-00"
)

// traced opens telemetry with an in-memory exporter.
func traced(t testing.TB, ratio float64) (*Telemetry, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	return opened(t, io.Discard, func(c *Config) { c.Traces = Traces{SampleRatio: &ratio, Exporter: spans} }), spans
}

func incoming(values ...string) http.Header {
	h := http.Header{"Tracestate": {"vendor=secret"}, "Baggage": {"user=alice"}}
	for _, v := range values {
		h.Add("Traceparent", v)
	}
	return h
}

// tried sends a request with a header to the agent of a call, and gives what it goes with.
func tried(tel *Telemetry, ctx context.Context, e *Exchange, out http.Header, err error) http.Header {
	trail := tel.Trail(ctx, Ask{Agent: e.Agent, Method: e.Method, Version: e.Version, Binding: wire.JSONRPC,
		Task: e.TaskID, Endpoint: e.Endpoint})
	tel.Inject(ctx, out)
	tel.Carry(ctx, e, out)
	r := &http.Request{Header: out}
	trail.Begin(r, "")
	trail.Learn(e)
	trail.End(e.UpstreamStatus, err)
	trail.End(599, nil)
	return r.Header
}

// TestPassThrough: without an exporter the trace context goes to the agent as it
// came, and nothing is made up.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in      http.Header
		trusted bool
		want    http.Header
		id      string
	}{
		"nothing":    {http.Header{}, true, http.Header{}, ""},
		"stranger":   {incoming(sampled), false, http.Header{"Traceparent": {sampled}}, traceID},
		"trusted":    {incoming(sampled), true, http.Header{"Traceparent": {sampled}, "Tracestate": {"vendor=secret"}}, traceID},
		"unsampled":  {incoming(unsampled), false, http.Header{"Traceparent": {unsampled}}, traceID},
		"two":        {incoming(sampled, sampled), true, http.Header{}, ""},
		"malformed":  {incoming("00-zz-1-01"), true, http.Header{}, ""},
		"state only": {incoming(), true, http.Header{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tel := opened(t, io.Discard, nil)
			var e Exchange
			ctx := tel.StartServer(t.Context(), c.in, c.trusted, &e)
			out := tried(tel, ctx, &e, incoming("00-stale", "twice"), nil) // as if copied from the request
			tel.Record(&e)
			if diff := cmp.Diff(c.want, out); diff != "" {
				t.Error(diff)
			}
			if e.TraceID != c.id {
				t.Errorf("trace id is %q, want %q", e.TraceID, c.id)
			}
		})
	}
}

// TestCarry: what is made ready with the server span is what the propagator writes, or
// would write of a span that is not even made.
func TestCarry(t *testing.T) {
	t.Parallel()
	none, _ := traced(t, 0)
	all, _ := traced(t, 1)
	other, _ := all.Tracer.Start(t.Context(), "another")
	for name, tel := range map[string]*Telemetry{"off": opened(t, io.Discard, nil), "none": none, "all": all} {
		for _, in := range []http.Header{{}, incoming(sampled), incoming(unsampled), {"Traceparent": {sampled}}} {
			for _, trusted := range []bool{false, true} {
				var e Exchange
				ctx := tel.StartServer(t.Context(), in, trusted, &e)
				for _, ctx := range []context.Context{ctx, other} {
					want, got := http.Header{}, http.Header{}
					if tel.Inject(ctx, want); len(want) == 0 && e.TraceID != "" {
						want.Set("Traceparent", "00-"+e.TraceID+"-"+e.SpanID+"-00")
					}
					tel.Carry(ctx, &e, got)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s, %v, trusted %v: %s", name, in, trusted, diff)
					}
				}
			}
		}
	}
}

// TestShare: calls are drawn once, and those that are have the ids they were drawn by.
func TestShare(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 0.5)
	drawn := 0
	for range 1000 {
		var e Exchange
		ctx := tel.StartServer(t.Context(), http.Header{}, false, &e)
		if e.Sampled() {
			drawn++
			if c := trace.SpanContextFromContext(ctx); c.TraceID().String() != e.TraceID || c.SpanID().String() != e.SpanID {
				t.Fatalf("a span of %v for a call of %s, %s", c, e.TraceID, e.SpanID)
			}
		}
		tel.Record(&e)
	}
	if n := len(spans.GetSpans()); drawn != n || n < 400 || n > 600 {
		t.Errorf("%d of 1000 are sampled and %d sent, where half is to be", drawn, n)
	}
}

func TestSampling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ratio   float64
		parent  string
		trusted bool
		want    bool
	}{
		"new, all":                   {1, "", false, true},
		"new, none":                  {0, "", true, false},
		"stranger cannot force":      {0, sampled, false, false},
		"stranger cannot forbid":     {1, unsampled, false, true},
		"trusted caller may force":   {0, sampled, true, true},
		"trusted caller may forbid":  {1, unsampled, true, false},
		"trusted, but says nothing":  {1, "", true, true},
		"trusted, nonsense, by rate": {0, "nonsense", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tel, spans := traced(t, c.ratio)
			h := http.Header{}
			if c.parent != "" {
				h = incoming(c.parent)
			}
			e := sample()
			ctx := tel.StartServer(t.Context(), h, c.trusted, e)
			out := tried(tel, ctx, e, http.Header{}, nil)
			tel.Record(e)
			if got := len(spans.GetSpans()); got != 0 != c.want || got == 1 {
				t.Errorf("%d spans, want both: %v", got, c.want)
			}
			flags := map[bool]string{true: "-01", false: "-00"}[c.want]
			if got := out.Get("Traceparent"); !strings.HasSuffix(got, flags) || !strings.Contains(got, e.TraceID) {
				t.Errorf("sent on %q in trace %s", got, e.TraceID)
			}
		})
	}
}

func TestReloadChangesRatio(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 0)
	all := 1.0
	if err := tel.Reload(Config{Traces: Traces{SampleRatio: &all}}); err != nil {
		t.Fatal(err)
	}
	e := sample()
	tel.StartServer(t.Context(), http.Header{}, false, e)
	tel.Record(e)
	if got := len(spans.GetSpans()); got != 1 {
		t.Errorf("%d spans", got)
	}
}

// attributes flattens the attributes of a span.
func attributes(s tracetest.SpanStub) map[string]any {
	all := map[string]any{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

func TestSpans(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 1)
	e := sample()
	e.Streamed, e.Events, e.Status, e.Reason = true, 4, 504, "AGENT_TIMEOUT"
	e.TaskID, e.References = "a\u202eb", []string{"task-0"}
	e.Verb, e.Route, e.AgentName, e.End, e.Regained, e.Tries = "BREW", "/agents/{agent}", "Billing", "final", 1, 2
	delegated(e)
	ctx := tel.StartServer(t.Context(), incoming(sampled), false, e)
	tried(tel, ctx, e, http.Header{}, errors.New("dial 10.0.0.1: secret"))
	tried(tel, ctx, e, http.Header{}, nil)
	tel.Record(e)
	got := spans.GetSpans()
	if len(got) != 3 {
		t.Fatalf("%d spans", len(got))
	}
	server := got[2]
	if server.Name != "SendMessage" || server.SpanKind != trace.SpanKindServer || server.Status.Code != codes.Error ||
		server.Parent.SpanID().String() != parentID || server.SpanContext.TraceState().Len() != 0 {
		t.Errorf("server span: %+v", server)
	}
	for _, client := range got[:2] {
		if client.SpanKind != trace.SpanKindClient || client.Name != "SendMessage" ||
			client.Parent.SpanID() != server.SpanContext.SpanID() {
			t.Errorf("client span: %+v", client)
		}
	}
	common := map[string]any{
		"a2a.method.name": "SendMessage", "a2a.protocol.version": "1.0", "a2a_gateway.agent": "billing",
		"a2a.tenant": "acme", "a2a.task.id": `a\u202eb`, "a2a.task.state": "TASK_STATE_COMPLETED",
		"gen_ai.conversation.id": "ctx-1", "a2a.message.id": "msg-1", "rpc.system.name": "jsonrpc",
		"rpc.method": "SendMessage", "jsonrpc.protocol.version": "2.0", "a2a.message.reference_task_ids": []string{"task-0"},
	}
	client := map[string]any{"server.address": "10.0.0.1", "server.port": int64(9001), "http.response.status_code": int64(200)}
	failed := map[string]any{"error.type": "UNAVAILABLE"}
	own := map[string]any{
		"a2a_gateway.request.id": "req-1", "client.address": "192.0.2.7", "a2a_gateway.skill": "invoices",
		"a2a_gateway.policy.decision": "allow", "a2a_gateway.policy.rule": "team", "a2a_gateway.principal.type": "oidc",
		"error.type": "AGENT_TIMEOUT", "http.response.status_code": int64(504), "a2a_gateway.stream.events": int64(4),
		"a2a_gateway.extensions.requested": []string{"https://ext.example/a", "https://ext.example/b"},
		"a2a_gateway.extensions.activated": []string{"https://ext.example/a"},
		"a2a_gateway.extensions.injected":  []string{"https://ext.example/c"},
		"a2a_gateway.proof":                "dpop", "a2a_gateway.acr": "mfa", "a2a_gateway.actors": int64(2), "a2a_gateway.hops": int64(1),
		"a2a_gateway.policy.consent": []string{"scope pay"}, "a2a_gateway.credentials": []string{"exchange Authorization"},
		"http.request.method": "_OTHER", "http.route": "/agents/{agent}", "gen_ai.agent.name": "Billing",
		"a2a_gateway.stream.end": "final", "a2a_gateway.stream.regained": int64(1), "a2a_gateway.upstream.attempts": int64(2),
		"a2a_gateway.authorization.hosts": int64(1), "a2a_gateway.authorization.provided": true,
	}
	for i, want := range []map[string]any{merged(common, client, failed), merged(common, client), merged(common, own)} {
		if diff := cmp.Diff(want, attributes(got[i])); diff != "" {
			t.Errorf("span %d: %s", i, diff)
		}
	}
}

func merged(all ...map[string]any) map[string]any {
	sum := map[string]any{}
	for _, m := range all {
		for k, v := range m {
			sum[k] = v
		}
	}
	return sum
}

// TestA28_SpansHoldNoCanary: who calls, from what, and why a call failed stays
// in the log and the audit record; a span has ids, names and verdicts only.
func TestA28_SpansHoldNoCanary(t *testing.T) {
	t.Parallel()
	tel, spans := traced(t, 1)
	e := &Exchange{Arrival: Arrival{Start: start}}
	ctx := tel.StartServer(t.Context(), incoming(sampled), false, e)
	fill(e, func(field string) string { return "canary-" + field })
	e.Endpoint = "https://canary-user:canary-password@agent.example/canary-path?canary-query#canary-fragment"
	tried(tel, ctx, e, http.Header{}, errors.New("canary-error"))
	tel.Record(e)
	allowed := []string{"TaskID", "ContextID", "MessageID", "TaskState", "Tenant", "Version", "Agent", "Method", "RequestID",
		"ClientIP", "Skill", "Decision", "Rule", "AuthMethod", "Reason", "ExtensionsRequested", "ExtensionsActivated",
		"ExtensionsInjected", "ExtensionsProvided", "ExtensionsRefused", "Proof", "ACR", "Consent", "Credentials",
		"References", "Limit", "AgentName", "Route", "End"}
	for _, s := range spans.GetSpans() {
		if strings.Contains(s.Name, "canary") {
			t.Errorf("span is named %q", s.Name)
		}
		for key, value := range attributes(s) {
			text, ok := value.(string)
			if list, isList := value.([]string); isList {
				text, ok = list[0], true
			}
			if field, found := strings.CutPrefix(text, "canary-"); ok && found && !slices.Contains(allowed, field) {
				t.Errorf("%s is %q", key, text)
			}
			if strings.Contains(text, "canary-user") || strings.Contains(text, "vendor=") {
				t.Errorf("%s is %q", key, text)
			}
		}
	}
}

// TestBaggageIsDropped: OTEL_PROPAGATORS may add formats, but what a caller
// puts into baggage is never taken up.
func TestBaggageIsDropped(t *testing.T) {
	t.Setenv("OTEL_PROPAGATORS", "tracecontext,baggage,b3")
	tel := opened(t, io.Discard, nil)
	var e Exchange
	ctx := tel.StartServer(t.Context(), incoming(sampled), true, &e)
	if got := baggage.FromContext(ctx).Len(); got != 0 {
		t.Errorf("baggage has %d members", got)
	}
	out := incoming()
	tel.Inject(ctx, out)
	if out.Get("Baggage") != "" || out.Get("Traceparent") != sampled || out.Get("B3") == "" {
		t.Errorf("sent on %v", out)
	}
}

func TestNoExporterWithoutVariables(t *testing.T) {
	for _, key := range []string{"OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		t.Setenv(key, "")
	}
	for name, env := range map[string]map[string]string{
		"nothing":  {},
		"none":     {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		"disabled": {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range env {
				t.Setenv(key, value)
			}
			if tel := opened(t, io.Discard, nil); tel.provider != nil {
				t.Error("there is a tracer provider")
			}
		})
	}
}

func TestUnknownExporterIsAnError(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
	if tel, err := Open(t.Context(), Config{}, "test"); err == nil {
		closed(t, tel)
		t.Error("no error")
	}
}

// TestOTLP sends spans to a real OTLP/HTTP receiver.
func TestOTLP(t *testing.T) {
	received := make(chan *collector.ExportTraceServiceRequest, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got := new(collector.ExportTraceServiceRequest)
		if err = errors.Join(err, proto.Unmarshal(body, got)); err != nil || r.URL.Path != "/v1/traces" {
			http.Error(w, "bad", http.StatusBadRequest)
		}
		received <- got
	}))
	defer receiver.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	tel := opened(t, io.Discard, nil)
	e := sample()
	tel.StartServer(t.Context(), incoming(sampled), false, e)
	tel.Record(e)
	closed(t, tel)

	got := (<-received).GetResourceSpans()[0]
	about := map[string]string{}
	for _, a := range got.GetResource().GetAttributes() {
		about[a.GetKey()] = a.GetValue().GetStringValue()
	}
	if about["service.name"] != serviceName || about["service.version"] != "test" ||
		about["deployment.environment.name"] != "test" {
		t.Errorf("resource is %v", about)
	}
	span := got.GetScopeSpans()[0].GetSpans()[0]
	if span.GetName() != "SendMessage" || span.GetEndTimeUnixNano() != uint64(start.Add(e.Duration).UnixNano()) {
		t.Errorf("span is %v", span)
	}
}

// TestCollectorErrorsAreLogged: a collector that refuses is heard of in the log.
func TestCollectorErrorsAreLogged(t *testing.T) {
	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", refusing.URL)
	var out bytes.Buffer
	tel := opened(t, &out, func(c *Config) { c.Logs.Level = "warn" })
	e := sample()
	tel.StartServer(t.Context(), http.Header{}, false, e)
	tel.Record(e)
	_ = tel.Close(context.Background())
	if got := lines(t, out.Bytes()); len(got) != 1 || got[0]["msg"] != "export telemetry" {
		t.Errorf("logged %v", got)
	}
}

func TestExemplars(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		ratio := 1.0
		tel := opened(t, io.Discard, func(c *Config) {
			c.Metrics.Exemplars = on
			c.Traces = Traces{SampleRatio: &ratio, Exporter: tracetest.NewInMemoryExporter()}
		})
		tel.Metrics.SetLabels(metrics.Labels{Agents: []string{"billing"}})
		e := sample()
		tel.StartServer(t.Context(), incoming(sampled), false, e)
		tel.Record(e)
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Accept", "application/openmetrics-text")
		answer := httptest.NewRecorder()
		tel.Handler().ServeHTTP(answer, r)
		if got := strings.Contains(answer.Body.String(), `# {trace_id="`+traceID+`"}`); got != on {
			t.Errorf("exemplars on %v, found %v", on, got)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	ratio := func(r float64) *float64 { return &r }
	for want, c := range map[string]Config{
		"":                             {},
		"telemetry.traces.sampleRatio": {Traces: Traces{SampleRatio: ratio(1.5)}},
		"telemetry.logs.level":         {Logs: Logs{Level: "INFO"}},
		"telemetry.logs.format":        {Logs: Logs{Format: "xml"}},
	} {
		err := c.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		tel, err := Open(t.Context(), c, "test")
		if err == nil {
			closed(t, tel)
		}
		if (err == nil) != (want == "") {
			t.Errorf("%s: Open says %v", want, err)
		}
	}
	nan := 0.0
	nan /= nan
	if (Config{Traces: Traces{SampleRatio: &nan}}).Check() == nil {
		t.Error("a ratio that is no number is accepted")
	}
}

func TestReloadRefusesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	tel := opened(t, io.Discard, nil)
	off := false
	for name, c := range map[string]Config{
		"format":    {Logs: Logs{Format: "text"}},
		"enabled":   {Metrics: MetricsConfig{Enabled: &off}},
		"exemplars": {Metrics: MetricsConfig{Exemplars: true}},
		"level":     {Logs: Logs{Level: "loud"}},
	} {
		if tel.Reload(c) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkStartServer(b *testing.B) {
	bare := opened(b, io.Discard, nil)
	one := 0.0
	never := opened(b, io.Discard, func(c *Config) {
		c.Traces = Traces{SampleRatio: &one, Exporter: tracetest.NewNoopExporter()}
	})
	for _, c := range []struct {
		name string
		tel  *Telemetry
		in   http.Header
	}{
		{"nothing", bare, http.Header{"Accept": {"*/*"}}},
		{"passing", bare, http.Header{"Traceparent": {sampled}}},
		{"unsampled", never, http.Header{"Accept": {"*/*"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var e Exchange
			out := http.Header{}
			report := reportCPU(b)
			for b.Loop() {
				ctx := c.tel.StartServer(b.Context(), c.in, false, &e)
				trail := c.tel.Trail(ctx, Ask{})
				c.tel.Carry(ctx, &e, out)
				trail.End(200, nil)
			}
			report()
		})
	}
}
