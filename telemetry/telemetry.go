// Package telemetry makes a gateway visible: traces, metrics, logs.
//
// It owns the record of one call, Exchange (exchange.go), and what becomes of it when the call
// has ended: the line of the access log (access.go), counts in the metrics (count.go, for
// telemetry/metrics, which declares them) and the end of its server span (span.go); the
// sanitiser that every text from outside passes before anybody reads it (text.go); and the
// logger that the rest of the gateway is given.
//
// It does not own the audit record, which audit writes, and decides nothing. It imports
// telemetry/metrics, internal/wire and internal/secret.
//
// A call passes like this. The proxy makes an Exchange and calls StartServer, which takes up
// the trace context of the request (W3C Trace Context: the header traceparent) and begins the
// server span. The stages of the proxy fill the parts of the Exchange. Before the agent is
// asked, Trail.Begin begins a client span and writes its traceparent into the outgoing request.
// In the end Record is called once, in a defer, so that a call that panics is recorded as well:
//
//	| what | where it goes | can it block the call? |
//	| --- | --- | --- |
//	| counts | Registry, until /metrics is scraped | no |
//	| the server span | the SDK's queue, then a collector over OTLP | no: a full queue drops spans |
//	| the line | a buffer, then standard error | no: beyond 4 MiB lines are dropped and counted |
//
// It exports more than twenty names because every package that handles a call reports to it: the
// parts of an Exchange, and what spans of requests and deliveries are made of.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"

	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Telemetry is the open telemetry of one process. It outlives configuration
// reloads; what a reload may change is changed by Reload and Metrics.SetLabels.
// All methods may be called from many goroutines.
type Telemetry struct {
	Log        *slog.Logger                  // messages; values are cleaned on the way out
	Metrics    *metrics.Metrics              // fed by Record and by the few packages that count by themselves
	Tracer     trace.Tracer                  // does nothing when no exporter is configured
	Propagator propagation.TextMapPropagator // W3C trace context, or what OTEL_PROPAGATORS says
	Registry   *prometheus.Registry          // what Handler serves

	config  Config
	version string
	level   slog.LevelVar
	text    bool      // log lines are key=value
	sink    *sink     // where log lines go
	lines   sync.Pool // of *Line, for the access log
	sampler *sampler  // nil without an exporter
	fields  []string  // canonical header names the propagator reads
	plain   bool      // it is that of W3C's trace context alone

	provider *sdktrace.TracerProvider // nil without an exporter
	tasks    taskSpans
	meters   *sdkmetric.MeterProvider // nil where metrics are not sent to a collector
}

// Egress is the way to collectors. It must be safe for concurrent use.
type Egress interface {
	// For is the proxy of a request, nil for none, as http.Transport has it.
	For(r *http.Request) (*url.URL, error)
	// GRPC has a client of gRPC's own go the same way.
	GRPC(dial time.Duration) []grpc.DialOption
}

// direct is the Egress without a proxy, of the environment neither.
type direct struct{}

// For implements Egress.
func (direct) For(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // as http.Transport has it

// GRPC implements Egress.
func (direct) GRPC(time.Duration) []grpc.DialOption { return []grpc.DialOption{grpc.WithNoProxy()} }

// Open starts telemetry. version is the gateway's own, for build_info and the
// service.version of spans. The OTEL_* variables are read here and only here;
// without an exporter in them nothing is sent anywhere and no address is tried.
// An error names the configuration key or the variable that is wrong.
func Open(ctx context.Context, config Config, version string) (*Telemetry, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	// Without a way of its own a collector is reached directly, and not by HTTPS_PROXY:
	// what leaves the gateway is written in its configuration.
	egress := config.Egress
	if egress == nil {
		egress = direct{}
	}
	out := config.Logs.Output
	if out == nil {
		out = os.Stderr
	}
	t := &Telemetry{config: config, version: version, Registry: prometheus.NewRegistry()}
	t.text = wantsText(config.Logs.Format, out)
	t.lines.New = func() any { return &Line{text: t.text} }
	t.setLevel(config.Logs.Level)
	// Before traces and the log, which count what they cannot send or write.
	t.Metrics = metrics.New(t.Registry, config.Metrics.Exemplars, version)
	// Half of them in each of two generations; see taskSpans.
	t.tasks.half = (config.Traces.tasks() + 1) / 2
	if err := t.openTraces(ctx, version, egress); err != nil {
		return nil, fmt.Errorf("open traces: %w", err)
	}
	if err := t.openMeters(ctx, version, egress); err != nil {
		return nil, fmt.Errorf("open metrics: %w", err)
	}
	t.sink = newSink(out, t.Metrics.Gateway.LogDropped)
	t.Log = newLogger(t.sink, t.text, &t.level)
	t.tellExportErrors()
	return t, nil
}

// Reload applies what can change while running: the log level and the sample
// ratio. Anything else is an error that names the key and says that it takes a
// restart; then nothing is changed.
func (t *Telemetry) Reload(config Config) error {
	if err := config.Check(); err != nil {
		return err
	}
	// Lines of two formats in one file could be read by no program.
	if config.Logs.Format != t.config.Logs.Format {
		return errors.New("telemetry.logs.format: a change takes effect after a restart")
	}
	if config.Metrics.enabled() != t.config.Metrics.enabled() ||
		config.Metrics.Exemplars != t.config.Metrics.Exemplars {
		return errors.New("telemetry.metrics: a change takes effect after a restart")
	}
	if config.Traces.events() != t.config.Traces.events() || config.Traces.tasks() != t.config.Traces.tasks() {
		return errors.New("telemetry.traces: a change of streamEvents or tasks takes effect after a restart")
	}
	t.setLevel(config.Logs.Level)
	if t.sampler != nil {
		t.sampler.set(config.Traces.SampleRatio)
	}
	return nil
}

// setLevel changes which messages are logged, from now on.
func (t *Telemetry) setLevel(name string) {
	level, _ := parseLevel(name) // checked before
	t.level.Set(level)
}

// Close sends the spans that wait, as long as ctx allows, and writes the lines
// that wait. Lines logged later are still written.
func (t *Telemetry) Close(ctx context.Context) error {
	var err error
	// Spans first: exporting them may fail, which is logged and counted; then the metrics,
	// which have that count in them; the log last.
	if t.provider != nil {
		if err = t.provider.Shutdown(ctx); err != nil {
			err = fmt.Errorf("send the last spans: %w", err)
		}
	}
	if t.meters != nil {
		if failed := t.meters.Shutdown(ctx); failed != nil {
			err = errors.Join(err, fmt.Errorf("send the last metrics: %w", failed))
		}
	}
	t.sink.close()
	return err
}

// Handler serves /metrics for the status listener; with metrics switched off it
// answers 404. A collector that fails does not take the others with it.
func (t *Telemetry) Handler() http.Handler {
	if !t.config.Metrics.enabled() {
		return http.NotFoundHandler()
	}
	return promhttp.HandlerFor(t.Registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(t.Log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		EnableOpenMetrics:   true, // the format that carries exemplars, when the scraper asks for it
		MaxRequestsInFlight: 4,    // a scrape of many agents is not cheap
	})
}

// Record writes what a finished call leaves behind: metrics, the end of its
// server span, and its access-log line. Call it exactly once per exchange. It
// does no I/O by itself and takes about a microsecond.
func (t *Telemetry) Record(e *Exchange) {
	t.finish(e)
	if t.config.Metrics.enabled() {
		t.count(e)
	}
	t.endServer(e)
	t.access(e)
}

var _ io.Writer = (*sink)(nil)
