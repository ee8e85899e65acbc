//go:build !minimal

package otlp

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// overGRPC is OTLP/gRPC. The library connects, and connects again, behind its back; every export has
// an outcome of its own.
type overGRPC struct {
	conn   *grpc.ClientConn
	logs   collector.LogsServiceClient
	header []string // names and values, in turn
}

// newGRPC prepares a connection, which is made with the first records. gRPC does not send anything
// again by itself: what became of records is for the sink to know. A client is made without a
// connection: the first export dials. The name is resolved by DNS anew when a connection breaks,
// which is how a receiver may move.
func newGRPC(c Config, secure *tls.Config, egress *tunnel.Proxy) (*overGRPC, error) {
	u := c.url()
	transport := credentials.NewTLS(secure)
	if u.Scheme == "http" {
		transport = insecure.NewCredentials()
	}
	calls := []grpc.CallOption{grpc.MaxCallRecvMsgSize(maxAnswer)}
	if c.gzip() {
		calls = append(calls, grpc.UseCompressor(gzip.Name))
	}
	conn, err := grpc.NewClient("dns:///"+u.Host, append(egress.GRPC(dialTimeout),
		grpc.WithTransportCredentials(transport),
		grpc.WithDisableServiceConfig(), // a DNS record must not decide what becomes of records
		grpc.WithDisableRetry(),
		grpc.WithUserAgent("a2a-gateway"),
		grpc.WithDefaultCallOptions(calls...),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: dialTimeout,
		}),
	)...)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	o := &overGRPC{conn: conn, logs: collector.NewLogsServiceClient(conn)}
	for _, h := range c.Headers {
		o.header = append(o.header, h.Name, h.Value.Reveal())
	}
	return o, nil
}

func (o *overGRPC) close() error { return o.conn.Close() }

// export sends a request. The limit of the context is the only one: how long a receiver may take for
// a request is for the runner to say.
func (o *overGRPC) export(ctx context.Context, in *collector.ExportLogsServiceRequest) (*collector.ExportLogsPartialSuccess, error) {
	out, err := o.logs.Export(metadata.AppendToOutgoingContext(ctx, o.header...), in)
	if err != nil {
		return nil, refusedBy(status.Convert(err))
	}
	return out.GetPartialSuccess(), nil
}

// refusedBy reads a status as the protocol has it: with a message that is too large,
// ResourceExhausted is about the message, unless it says when to come back.
// The table of codes that may be retried is that of the OTLP specification, "Failures" of
// OTLP/gRPC.
func refusedBy(s *status.Status) *refusal {
	r := &refusal{status: s.Code().String(), said: printable(s.Message()), after: delay(s)}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		r.kind = aboutTime
	case codes.ResourceExhausted:
		if r.kind = aboutRecords; r.after > 0 {
			r.kind = aboutTime
		}
	case codes.InvalidArgument:
		r.kind = aboutRecords
	}
	if r.kind != aboutTime {
		r.after = 0
	}
	return r
}

// delay is how long the receiver wants to be left alone.
// google.rpc.RetryInfo is how the specification lets a receiver ask for time.
func delay(s *status.Status) time.Duration {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return max(info.GetRetryDelay().AsDuration(), 0)
		}
	}
	return 0
}
