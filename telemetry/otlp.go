package telemetry

import (
	"context"
	"fmt"
	"os"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// openMeters sends what /metrics serves to a collector as well, where the environment asks
// for metrics by name. An endpoint for everything is not enough: who has one for traces
// scrapes /metrics already, and would get it all twice. The SDK reads the Prometheus
// registry each minute (or OTEL_METRIC_EXPORT_INTERVAL) through a bridge: each metric is
// declared and counted once, whoever it is sent to.
func (t *Telemetry) openMeters(ctx context.Context, version string, egress Egress) error {
	exporter, err := openMetricExporter(ctx, egress)
	if err != nil || exporter == nil {
		return err
	}
	about, err := newResource(ctx, version)
	if err != nil {
		return err
	}
	reader := sdkmetric.NewPeriodicReader(exporter,
		sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(t.Registry))))
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about))
	return nil
}

// openMetricExporter returns nil where metrics go nowhere. The variables are those of the
// OpenTelemetry specification. A name that is none of the known ones is an error and not
// ignored: somebody believes that metrics are sent.
func openMetricExporter(ctx context.Context, egress Egress) (sdkmetric.Exporter, error) {
	name := os.Getenv("OTEL_METRICS_EXPORTER")
	if name == "" && os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") != "" {
		name = "otlp"
	}
	switch name {
	case "", "none", "prometheus": // the last is what /metrics is for
		return nil, nil
	case "otlp":
	default:
		return nil, fmt.Errorf("OTEL_METRICS_EXPORTER: %q is none of otlp, prometheus, none", name)
	}
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, nil
	}
	return newMetricExporter(ctx, egress)
}
