//go:build minimal

package telemetry

import (
	"context"
	"fmt"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

// newSpanExporter refuses all exporters but "none". A gateway that started all the same would leave
// its operator looking for spans at the collector.
func newSpanExporter(_ context.Context, name string, _ Egress) (sdktrace.SpanExporter, error) {
	if name == "none" {
		return nil, nil
	}
	return nil, fmt.Errorf("export of traces (OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT): %w", feature.Need(feature.Exporters))
}

// newMetricExporter refuses: metrics are on /metrics alone in this build.
func newMetricExporter(context.Context, Egress) (sdkmetric.Exporter, error) {
	return nil, fmt.Errorf("export of metrics (OTEL_METRICS_EXPORTER): %w", feature.Need(feature.Exporters))
}
