//go:build !minimal

package otlp

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// rpcServer is a receiver by gRPC.
type rpcServer struct {
	collector.UnimplementedLogsServiceServer
	mu      sync.Mutex
	answers []error // one for each of the next requests
	times   []time.Time
	got     []uint64
	header  metadata.MD
}

func (r *rpcServer) Export(ctx context.Context, in *collector.ExportLogsServiceRequest) (*collector.ExportLogsServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = append(r.times, time.Now())
	r.header, _ = metadata.FromIncomingContext(ctx)
	if len(r.answers) > 0 {
		err := r.answers[0]
		r.answers = r.answers[1:]
		return nil, err
	}
	r.got = append(r.got, numbers(in)...)
	return &collector.ExportLogsServiceResponse{}, nil
}

// has is what it was sent: the numbers, when, and the last header.
func (r *rpcServer) has() ([]uint64, []time.Time, metadata.MD) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got), slices.Clone(r.times), r.header
}

func serveGRPC(t testing.TB, r *rpcServer, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	collector.RegisterLogsServiceServer(s, r)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func busy(t *testing.T, code codes.Code, after time.Duration) error {
	t.Helper()
	s, err := status.New(code, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

// TestGRPC: what the answers mean is as the protocol has it, and the records come.
func TestGRPC(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]error{
		"the receiver refuses: Unauthenticated: who":                                             status.Error(codes.Unauthenticated, "who"),
		"the receiver refuses: Unimplemented":                                                    status.Error(codes.Unimplemented, ""),
		"the receiver takes no records now: Unavailable: full":                                   status.Error(codes.Unavailable, "full"),
		"the receiver takes no records now: Unavailable: later":                                  busy(t, codes.Unavailable, time.Hour),
		"the receiver takes no records now: ResourceExhausted: later":                            busy(t, codes.ResourceExhausted, time.Hour),
		"record 1 in audit-2026-11-21.jsonl: the receiver rejects records: InvalidArgument: bad": status.Error(codes.InvalidArgument, "bad"),
		"the receiver rejects records: ResourceExhausted: too large":                             status.Error(codes.ResourceExhausted, "too large"),
		"the receiver refuses: PermissionDenied: later":                                          busy(t, codes.PermissionDenied, time.Hour),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			r := &rpcServer{answers: []error{answer}}
			s := open(t, Config{Endpoint: secret.URL("http://" + serveGRPC(t, r)), Protocol: protocolGRPC, Headers: []Header{{"X-Key", secret.New("k")}}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Put(ctx, entries(1, 1, 10)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if waits := time.Until(s.notUntil) > 0; waits != (strings.Contains(want, "now: ") && strings.Contains(want, "later")) {
				t.Errorf("it waits until %v", s.notUntil)
			}
			s.notUntil = time.Time{}
			err := s.Put(ctx, entries(1, 10, 10))
			got, _, header := r.has()
			if err != nil || !slices.Equal(got, upTo(10)) {
				t.Errorf("%v, it has %v", err, got)
			}
			if key := header.Get("x-key"); !slices.Equal(key, []string{"k"}) {
				t.Errorf("the header is %q", key)
			}
		})
	}
}

// TestGRPCLater: a receiver that says when to come back is asked then.
func TestGRPCLater(t *testing.T) {
	t.Parallel()
	r := &rpcServer{answers: []error{busy(t, codes.Unavailable, time.Second)}}
	s := open(t, Config{Endpoint: secret.URL("http://" + serveGRPC(t, r)), Protocol: protocolGRPC, Compression: compressNone})
	err := s.Put(t.Context(), entries(1, 10, 10))
	got, times, _ := r.has()
	if err != nil || !slices.Equal(got, upTo(10)) {
		t.Fatalf("%v, it has %v", err, got)
	}
	if d := times[1].Sub(times[0]); d < time.Second {
		t.Errorf("it was asked again after %v", d)
	}
}

// TestGRPCSizes: with the default a server with its own default takes every request, and
// one that takes less gets less.
func TestGRPCSizes(t *testing.T) {
	t.Parallel()
	r, small := &rpcServer{}, &rpcServer{}
	for _, c := range []struct {
		to      *rpcServer
		records uint64
		options []grpc.ServerOption
	}{{r, 150, nil}, {small, 20, []grpc.ServerOption{grpc.MaxRecvMsgSize(300 << 10)}}} {
		s := open(t, Config{Endpoint: secret.URL("http://" + serveGRPC(t, c.to, c.options...)), Protocol: protocolGRPC})
		err := s.Put(t.Context(), entries(1, int(c.records), 60000)) // small
		if got, _, _ := c.to.has(); err != nil || !slices.Equal(got, upTo(c.records)) {
			t.Errorf("%v, it has %d records", err, len(got))
		}
	}
	if _, times, _ := r.has(); len(times) != 3 {
		t.Errorf("9 MB went in %d requests", len(times))
	}
}
