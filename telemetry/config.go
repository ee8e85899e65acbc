package telemetry

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Config is the telemetry section of the configuration file, without audit,
// which audit declares.
type Config struct {
	// Traces says which calls the gateway traces. The OTEL_* variables of the environment say
	// where it sends spans. Without OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or
	// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, it exports nothing.
	Traces Traces `yaml:"traces"`

	// Metrics configures the Prometheus metrics of the status listener.
	Metrics MetricsConfig `yaml:"metrics"`

	// Logs configures the log on standard error: one line per call and the gateway's own messages.
	Logs Logs `yaml:"logs"`

	// Egress is the way to collectors; nil is direct.
	Egress Egress `yaml:"-"`
}

// Traces configures tracing.
type Traces struct {
	// SampleRatio is the share of calls that the gateway traces, from 0 to 1. A caller behind one
	// of server.trustedProxies decides for its own calls with the sampled flag of its traceparent.
	// Default 1, or what OTEL_TRACES_SAMPLER says when that is set.
	SampleRatio *float64 `yaml:"sampleRatio"`

	// StreamEvents is how many events of a stream its span has; the gateway only counts the rest.
	// Default 64.
	StreamEvents *int `yaml:"streamEvents"`

	// Tasks is how many tasks this gateway remembers whose records do not name the call that began
	// them. So it can link their later calls to the first one here. It forgets the least recently
	// used first. Each takes about 200 bytes. Default 65536.
	Tasks *int `yaml:"tasks"`

	// Exporter takes the place of the one the environment describes and gets
	// each span as it ends. For tests.
	Exporter sdktrace.SpanExporter `yaml:"-" json:"-"`
}

// MetricsConfig configures the Prometheus metrics.
type MetricsConfig struct {
	// Enabled serves /metrics on the status listener. Default true.
	Enabled *bool `yaml:"enabled"`

	// Exemplars attaches the trace id of sampled calls to the duration histograms. The scraper
	// must ask for OpenMetrics. Default false.
	Exemplars bool `yaml:"exemplars"`
}

// Logs configures the log.
type Logs struct {
	// Level is the lowest level that the gateway logs: debug, info, warn or error. Calls are info,
	// failures of the gateway or the agent warn. Default info.
	Level string `yaml:"level" jsonschema:"enum=debug,enum=info,enum=warn,enum=error"`

	// Format is json or text. Default text on a terminal, json elsewhere.
	Format string `yaml:"format" jsonschema:"enum=json,enum=text"`

	// Output takes the place of standard error. For tests and for programs that
	// embed the gateway. It is written to by one goroutine at a time.
	Output io.Writer `yaml:"-" json:"-"`
}

// Check reports every value that Open would refuse.
func (c Config) Check() error {
	var errs []error
	if r := c.Traces.SampleRatio; r != nil && !(*r >= 0 && *r <= 1) {
		errs = append(errs, keypath.At(fmt.Errorf("%v is not between 0 and 1", *r), "telemetry", "traces", "sampleRatio"))
	}
	if n := c.Traces.StreamEvents; n != nil && (*n < 0 || *n > mostStreamEvents) {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between 0 and %d", *n, mostStreamEvents), "telemetry", "traces", "streamEvents"))
	}
	if n := c.Traces.Tasks; n != nil && *n < 0 {
		errs = append(errs, keypath.At(fmt.Errorf("%d is negative", *n), "telemetry", "traces", "tasks"))
	}
	if _, err := parseLevel(c.Logs.Level); err != nil {
		errs = append(errs, err)
	}
	switch c.Logs.Format {
	case "", formatJSON, formatText:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is neither json nor text", c.Logs.Format), "telemetry", "logs", "format"))
	}
	return errors.Join(errs...)
}

// mostStreamEvents is what Traces.StreamEvents may be: a span is sent whole.
const mostStreamEvents = 10_000

// events is StreamEvents or its default. 0 is a number of its own, so that spans of streams can do without.
func (c Traces) events() int {
	if c.StreamEvents == nil {
		return 64
	}
	return *c.StreamEvents
}

// tasks is Tasks or its default. 0 is a choice here as well: nothing is remembered.
func (c Traces) tasks() int {
	if c.Tasks == nil {
		return defaultTasks
	}
	return *c.Tasks
}

// enabled is Enabled or its default.
func (c MetricsConfig) enabled() bool { return c.Enabled == nil || *c.Enabled }

// parseLevel accepts the four words only: slog's own parser also takes offsets
// and any case, and a configuration should have one spelling.
func parseLevel(s string) (slog.Level, error) {
	switch s {
	case "debug":
		return slog.LevelDebug, nil
	case "", "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, keypath.At(fmt.Errorf("%q is none of debug, info, warn, error", s), "telemetry", "logs", "level")
}
