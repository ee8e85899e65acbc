package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
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
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	switch protocol {
	case "", "http/protobuf":
		return otlpmetrichttp.New(ctx, otlpmetrichttp.WithProxy(egress.For))
	case "grpc":
		return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithDialOption(egress.GRPC(dialTimeout)...))
	}
	return nil, errProtocol(protocol)
}

// errProtocol is the error for a protocol that there is no exporter for.
func errProtocol(protocol string) error {
	return fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: %q is neither grpc nor http/protobuf", protocol)
}

// dialTimeout is for one attempt to reach a collector.
const dialTimeout = 10 * time.Second
