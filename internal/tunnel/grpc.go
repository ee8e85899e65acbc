package tunnel

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
)

// GRPC has a client of gRPC's own open its connections as Dialer does, and no other way.
func (p *Proxy) GRPC(timeout time.Duration) []grpc.DialOption {
	dial := p.Dialer(timeout)
	return []grpc.DialOption{
		grpc.WithNoProxy(), // of the environment
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dial(ctx, "tcp", address)
		}),
		grpc.WithResolvers(names{p}),
	}
}

// names takes gRPC's resolver's place: a proxy is asked for the name, which it may know when
// the gateway does not.
type names struct{ proxy *Proxy }

// Scheme implements resolver.Builder.
func (n names) Scheme() string { return "dns" }

// Build implements resolver.Builder.
func (n names) Build(target resolver.Target, cc resolver.ClientConn, o resolver.BuildOptions) (resolver.Resolver, error) {
	address := target.Endpoint()
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(address, "443") // as gRPC has it
	}
	// Without the proxy names are this machine's to resolve.
	if !n.proxy.Serves(address) {
		return resolver.Get("dns").Build(target, cc, o)
	}
	return fixed{}, cc.UpdateState(resolver.State{Addresses: []resolver.Address{{Addr: address}}})
}

// fixed is a resolver that has said all it knows.
type fixed struct{}

// ResolveNow implements resolver.Resolver.
func (fixed) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements resolver.Resolver.
func (fixed) Close() {}
