package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// grpcFloor is the least that a proxy of grpc-go's can do.
var grpcFloor = subject{
	name: "grpc-floor", workloads: []string{"grpc", "grpc-stream"},
	what: "a handler of grpc-go that passes messages on as bytes, no policy",
	start: func(st *stage, how setup) (*running, error) {
		p, err := st.spawn(exec.Command(os.Args[0], "role", "grpc-floor", st.agentRPC, st.file("cert.pem"), st.file("key.pem")))
		if err != nil {
			return nil, err
		}
		address, err := p.find(func(line string) string {
			_, address, _ := strings.Cut(line, "grpc-floor=")
			return address
		})
		return &running{url: how.scheme() + "://" + address, pid: p.cmd.Process.Pid, version: grpc.Version, stop: p.stop}, err
	},
}

// proxyRPC passes calls on over connections that it keeps.
type proxyRPC struct {
	conns []*grpc.ClientConn
	turn  atomic.Uint32
}

// connectionsRPC are to an agent, and from the load generator: as many as keep one of them from being
// what everything waits for.
const connectionsRPC = 8

// serveGRPCFloor proxies for a target, args[0], with the certificate args[1] and its key.
func serveGRPCFloor(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("no target, or no certificate")
	}
	p := new(proxyRPC)
	for range connectionsRPC {
		conn, err := grpc.NewClient("passthrough:///"+args[0], grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
		if err != nil {
			return err
		}
		p.conns = append(p.conns, conn)
	}
	tls, err := credentials.NewServerTLSFromFile(args[1], args[2])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stdout, "grpc-floor=%s\n", l.Addr())
	return grpc.NewServer(grpc.Creds(tls), grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(p.pass),
		grpc.MaxConcurrentStreams(1000)).Serve(l)
}

// pass passes on one call, which has one message, and its answer.
func (p *proxyRPC) pass(_ any, client grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(client)
	ctx := client.Context()
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, in)
	}
	conn := p.conns[p.turn.Add(1)%uint32(len(p.conns))] //nolint:gosec // a few
	agent, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	call := new(frame)
	if err := client.RecvMsg(call); err != nil {
		return err
	}
	if err := errors.Join(agent.SendMsg(call), agent.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	header, err := agent.Header()
	if err != nil {
		return err
	}
	if err := client.SetHeader(header); err != nil {
		return err
	}
	for {
		answer := new(frame)
		if err := agent.RecvMsg(answer); err != nil {
			client.SetTrailer(agent.Trailer())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := client.SendMsg(answer); err != nil {
			return err
		}
	}
}
