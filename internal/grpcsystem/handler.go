// Package grpcsystem answers gRPC's own services, health and reflection, for a gateway that
// serves A2A's services itself.
package grpcsystem

import (
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// NewHealth is the gateway's answer to grpc.health.v1: as a whole, and for each
// A2A service, it serves until it drains.
func NewHealth() *health.Server {
	h := health.NewServer() // "", the server as a whole, is serving
	for _, service := range wire.Services() {
		h.SetServingStatus(service, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	return h
}

// Handler answers with a gateway's health, and by reflection if reflect is set.
func Handler(health *health.Server, reflect bool) http.Handler {
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health)
	if reflect {
		options := reflection.ServerOptions{Services: services{server}}
		grpc_reflection_v1.RegisterServerReflectionServer(server, reflection.NewServerV1(options))
		grpc_reflection_v1alpha.RegisterServerReflectionServer(server, reflection.NewServer(options))
	}
	return server
}

// services adds A2A's, which the proxy serves itself, to those of a gRPC server.
type services struct{ *grpc.Server }

// GetServiceInfo implements reflection.ServiceInfoProvider.
func (s services) GetServiceInfo() map[string]grpc.ServiceInfo {
	info := s.Server.GetServiceInfo()
	for _, name := range wire.Services() {
		info[name] = grpc.ServiceInfo{}
	}
	return info
}
