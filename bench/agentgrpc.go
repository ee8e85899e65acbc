package main

import (
	"fmt"
	"net"
	"path"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// agentRPC is the agent over gRPC.
type agentRPC struct {
	answer []byte // to every call
}

// serveAgentRPC listens for gRPC with TLS and without, and returns both addresses.
func serveAgentRPC(cert, key, answer string, failed chan<- error) (plain, secure string, err error) {
	a := new(agentRPC)
	if a.answer, err = asProto(answer, new(a2apb.SendMessageResponse)); err != nil {
		return "", "", err
	}
	tls, err := credentials.NewServerTLSFromFile(cert, key)
	if err != nil {
		return "", "", err
	}
	if plain, err = a.listen(failed); err == nil {
		secure, err = a.listen(failed, grpc.Creds(tls))
	}
	return plain, secure, err
}

func (a *agentRPC) listen(failed chan<- error, options ...grpc.ServerOption) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := grpc.NewServer(append(options, grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(a.serve),
		grpc.MaxConcurrentStreams(1000))...)
	go func() { failed <- server.Serve(l) }()
	return l.Addr().String(), nil
}

func (a *agentRPC) serve(_ any, s grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(s)
	var call []byte
	if err := s.RecvMsg(&call); err != nil {
		return err
	}
	if in, ok := metadata.FromIncomingContext(s.Context()); ok {
		if asked := in.Get("a2a-extensions"); asked != nil { // all that is asked for is active
			if err := s.SetHeader(metadata.MD{"a2a-extensions": asked}); err != nil {
				return err
			}
		}
	}
	switch path.Base(method) {
	case "SendMessage":
		return s.SendMsg(a.answer)
	case "SendStreamingMessage":
		return a.stream(s, call)
	}
	return status.Errorf(codes.Unimplemented, "no method %s", method)
}

// stream sends events as fast as they are taken, for as long as the call says.
func (a *agentRPC) stream(s grpc.ServerStream, call []byte) error {
	text, err := grpcText(call)
	if err != nil {
		return err
	}
	long, err := time.ParseDuration(strings.TrimPrefix(text, textFlood(0)[:len("stream flood ")]))
	if err != nil {
		return status.Errorf(codes.InvalidArgument, "unexpected stream: %s", text)
	}
	task := newTask()
	if err := send(s, `{"task":{"id":"%s","contextId":"bench","status":{"state":"TASK_STATE_WORKING"}}}`, task); err != nil {
		return err
	}
	const piece = `{"artifactUpdate":{"taskId":"%s","contextId":"bench","artifact":{"artifactId":"a","parts":[{"text":"at=%d a few words more, "}]},"append":%t}}`
	if err := send(s, piece, task, time.Now().UnixNano(), false); err != nil {
		return err
	}
	more, err := event(piece, task, time.Now().UnixNano(), true)
	if err != nil {
		return err
	}
	sent := 1
	for end := time.Now().Add(long); time.Now().Before(end); {
		for range floodBlock {
			if err := s.SendMsg(more); err != nil {
				return err
			}
		}
		sent += floodBlock
	}
	return send(s, lastEvent, task, sent)
}

// event is one in the bytes that it has.
func event(format string, args ...any) ([]byte, error) {
	return asProto(fmt.Sprintf(format, args...), new(a2apb.StreamResponse))
}

func send(s grpc.ServerStream, format string, args ...any) error {
	m, err := event(format, args...)
	if err != nil {
		return err
	}
	return s.SendMsg(m)
}
