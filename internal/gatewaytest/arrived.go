package gatewaytest

import (
	"context"
	"net/http"

	"google.golang.org/grpc"
)

// Requests tells how many requests of any kind reached the agent, reads of its card
// aside.
func (e *Executor) Requests() int64 { return e.arrived.Load() }

// count counts requests over HTTP.
func (e *Executor) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.arrived.Add(1)
		next.ServeHTTP(w, r)
	})
}

// countUnary and countStream count requests over gRPC.
func (e *Executor) countUnary(ctx context.Context, r any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	e.arrived.Add(1)
	return next(ctx, r)
}

func (e *Executor) countStream(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	e.arrived.Add(1)
	return next(srv, s)
}
