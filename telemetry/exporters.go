//go:build !minimal

package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

var _ = feature.Register(feature.Exporters)

// newSpanExporter makes the exporter that OTEL_TRACES_EXPORTER names, nil for none. Those that are
// not OTLP are the SDK's affair. OTLP is made here and not by autoexport, so that proxies of the
// environment have no say: what leaves the gateway leaves it by the way that its configuration names.
func newSpanExporter(ctx context.Context, name string, egress Egress) (sdktrace.SpanExporter, error) {
	if name != "" && name != "otlp" {
		exporter, err := autoexport.NewSpanExporter(ctx)
		if err != nil || autoexport.IsNoneSpanExporter(exporter) {
			return nil, err
		}
		return exporter, nil
	}
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	switch protocol {
	case "", "http/protobuf":
		return otlptracehttp.New(ctx, otlptracehttp.WithProxy(egress.For))
	case "grpc":
		return otlptracegrpc.New(ctx, otlptracegrpc.WithDialOption(egress.GRPC(dialTimeout)...))
	}
	return nil, errProtocol(protocol)
}

// newMetricExporter makes the OTLP exporter of metrics, of the protocol that the environment names.
func newMetricExporter(ctx context.Context, egress Egress) (sdkmetric.Exporter, error) {
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
