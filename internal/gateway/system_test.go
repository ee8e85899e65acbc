package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

const serving, notServing = grpc_health_v1.HealthCheckResponse_SERVING, grpc_health_v1.HealthCheckResponse_NOT_SERVING

// dial is a connection of grpc-go's to a gateway, without a credential.
func dial(t testing.TB, g *gateway.Gateway) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(g.URL(), "http://"),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func patiently(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// TestHealth: load balancers have no credential, and ask for the whole or for a
// service.
func TestHealth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := grpc_health_v1.NewHealthClient(dial(t, w.start(w.yaml(plain, ""))))
	for _, service := range []string{"", "lf.a2a.v1.A2AService", "a2a.v1.A2AService"} {
		got, err := client.Check(patiently(t), &grpc_health_v1.HealthCheckRequest{Service: service})
		if err != nil || got.GetStatus() != serving {
			t.Errorf("%q: %v %v", service, got, err)
		}
	}
	if _, err := client.Check(patiently(t), &grpc_health_v1.HealthCheckRequest{Service: "agents"}); status.Code(err) != codes.NotFound {
		t.Errorf("a service that is none: %v", err)
	}
}

// TestHealthWhileDraining: who watches sees at once that no more should come, and
// is no reason for the gateway to stay.
func TestHealthWhileDraining(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, ""))
	watch, err := grpc_health_v1.NewHealthClient(dial(t, g)).Watch(patiently(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := watch.Recv(); err != nil || got.GetStatus() != serving {
		t.Fatalf("%v %v", got, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- g.Shutdown(ctx) }()
	if got, err := watch.Recv(); err != nil || got.GetStatus() != notServing {
		t.Errorf("%v %v", got, err)
	}
	if got, err := watch.Recv(); err == nil {
		t.Errorf("then: %v", got)
	}
	if err := <-done; err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// TestReflection lists what can be called, A2A's services among it.
func TestReflection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn := dial(t, w.start(w.yaml(plain, "")))
	client, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(patiently(t))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
		if err := client.Send(r); err != nil {
			t.Fatal(err)
		}
		got, err := client.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var names []string
	for _, s := range ask(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
	}).GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	if want := []string{
		"a2a.v1.A2AService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
		"grpc.reflection.v1alpha.ServerReflection", "lf.a2a.v1.A2AService",
	}; !slices.Equal(names, want) {
		t.Errorf("services %v, want %v", names, want)
	}
	for _, symbol := range []string{"lf.a2a.v1.A2AService.SubscribeToTask", "a2a.v1.A2AService.TaskSubscription", "lf.a2a.v1.Message"} {
		got := ask(&grpc_reflection_v1.ServerReflectionRequest{
			MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol},
		})
		if len(got.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("%s: %v", symbol, got)
		}
	}
	if err := client.CloseSend(); err != nil {
		t.Error(err)
	}
}

// TestReflectionOff: what the operator has switched off is not there.
func TestReflectionOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn := dial(t, w.start(w.yaml(plain+"\nreflection: false", "")))
	now, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(patiently(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = now.Recv(); status.Code(err) != codes.Unimplemented {
		t.Errorf("%v", err)
	}
	before, err := grpc_reflection_v1alpha.NewServerReflectionClient(conn).ServerReflectionInfo(patiently(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = before.Recv(); status.Code(err) != codes.Unimplemented {
		t.Errorf("%v", err)
	}
}

// TestNoPlaintextHTTP2: where it is switched off there is no gRPC without TLS, and
// no card that says so.
func TestNoPlaintextHTTP2(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain+"\nh2c: false", ""))
	_, err := grpc_health_v1.NewHealthClient(dial(t, g)).Check(patiently(t), &grpc_health_v1.HealthCheckRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
}
