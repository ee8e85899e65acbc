package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// Over gRPC a call and an event are what they are over HTTP, for those that can pass gRPC on.
var (
	grpcUnary = workload{
		name: "grpc", unit: "request", base: grpcFloor.name, subjects: grpcSubjects, columns: unaryColumns, round: rpcLoop,
		what: fmt.Sprintf("SendMessage over gRPC with TLS, on %d connections, closed loop", connectionsRPC),
	}
	grpcStream = workload{
		name: "grpc-stream", unit: "event", base: grpcFloor.name, subjects: grpcSubjects, columns: flood.columns, round: rpcFullSpeed,
		what: "a few streams over gRPC with events as fast as they pass, TLS",
	}
)

var grpcSubjects = []string{direct.name, grpcFloor.name, nginx.name, haproxy.name, gateway.name}

// clientRPC are connections to a subject.
type clientRPC struct {
	conns []*grpc.ClientConn
	ctx   context.Context // with the metadata of every call
	turn  atomic.Uint32
}

func (l *lane) dialRPC(connections int) (*clientRPC, error) {
	address := l.running.rpc
	if address == "" {
		to, err := url.Parse(l.running.url)
		if err != nil {
			return nil, err
		}
		address = to.Host
	}
	md := metadata.MD{}
	for name, values := range l.header() {
		if name != "Content-Type" {
			md.Set(strings.ToLower(name), values...)
		}
	}
	tls := l.tls()
	tls.ServerName = "" // which would be the authority, without the port that belongs to it
	c := &clientRPC{ctx: metadata.NewOutgoingContext(l.ctx, md)}
	for range connections {
		conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(credentials.NewTLS(tls)), grpc.WithNoProxy(),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
		if err != nil {
			c.close()
			return nil, err
		}
		c.conns = append(c.conns, conn)
	}
	return c, nil
}

func (c *clientRPC) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

// conn is one of the connections, in turn.
func (c *clientRPC) conn() *grpc.ClientConn {
	return c.conns[c.turn.Add(1)%uint32(len(c.conns))] //nolint:gosec // a few
}

// rpcLoop is a closed loop of one call.
func rpcLoop(l *lane) (figures, error) {
	c, err := l.dialRPC(connectionsRPC)
	if err != nil {
		return nil, err
	}
	defer c.close()
	call, err := grpcCall(l.subject.tenant, textMessage)
	if err != nil {
		return nil, err
	}
	return l.closed(&client{connections: l.options.connections, make: func(context.Context) error { return c.call(call) }})
}

func (c *clientRPC) call(call []byte) error {
	ctx, cancel := context.WithTimeout(c.ctx, 30*time.Second)
	defer cancel()
	var answer []byte
	if err := c.conn().Invoke(ctx, grpcService+"SendMessage", call, &answer); err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(agentWord)) {
		return fmt.Errorf("the answer is not the agent's: %.300q", answer)
	}
	return nil
}

// rpcFullSpeed measures streams at full speed.
func rpcFullSpeed(l *lane) (figures, error) {
	c, err := l.dialRPC(floodStreams)
	if err != nil {
		return nil, err
	}
	defer c.close()
	short, err := grpcCall(l.subject.tenant, textMessage)
	if err != nil {
		return nil, err
	}
	for range c.conns { // connects them
		if err := c.call(short); err != nil {
			return nil, err
		}
	}
	call, err := grpcCall(l.subject.tenant, textFlood(l.options.time))
	if err != nil {
		return nil, err
	}
	m, err := l.meter()
	if err != nil {
		return nil, err
	}
	var n atomic.Int64
	errs := inParallel(len(c.conns), func(int) error {
		events, err := c.stream(call, l.options.time+30*time.Second)
		n.Add(int64(events))
		return err
	})
	f, err := m.stop(int(n.Load()))
	if err != nil {
		return nil, err
	}
	f["lost"], err = l.lost(errs)
	return f, err
}

// stream reads one to its end, and says what is wrong with it.
func (c *clientRPC) stream(call []byte, within time.Duration) (events int, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, within)
	defer cancel()
	s, err := c.conn().NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, grpcService+"SendStreamingMessage")
	if err != nil {
		return 0, err
	}
	if err := errors.Join(s.SendMsg(call), s.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	var last []byte
	for ; ; events++ {
		var m []byte
		switch err := s.RecvMsg(&m); {
		case errors.Is(err, io.EOF):
			return events, wholeRPC(last, events-2) // beside the task and its end
		case err != nil:
			return events, err
		}
		last = m
	}
}
