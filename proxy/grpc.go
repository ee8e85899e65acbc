package proxy

// systemServices are gRPC's own: they say whether the gateway is up and what the
// protocol looks like, nothing of agents or callers, and so to anybody.
var systemServices = []string{
	"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
}
