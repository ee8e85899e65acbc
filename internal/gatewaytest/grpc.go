package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	a2agrpc03 "github.com/a2aproject/a2a-go/a2agrpc"
	a2asrv03 "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func serveGRPC10(at string, ex *Executor) service {
	c := card10(at, "1.0", a2a.TransportProtocolGRPC, ex)
	h := a2agrpc.NewHandler(handler10(c, ex))
	return service{card: a2asrv.NewStaticAgentCardHandler(c), grpc: func(s *grpc.Server) { h.RegisterWith(s) }}
}

func serveCompatGRPC(at string, ex *Executor) service {
	c := card10(at, a2av0.Version, a2a.TransportProtocolGRPC, ex)
	h := a2agrpcv0.NewHandler(handler10(c, ex))
	return service{card: cardCompat(c), grpc: func(s *grpc.Server) { h.RegisterWith(s) }}
}

func serveGRPC03(at string, ex *Executor) service {
	c := card03(at, a2a03.TransportProtocolGRPC, ex)
	h := a2agrpc03.NewHandler(handler03(c, ex))
	return service{card: a2asrv03.NewStaticAgentCardHandler(c), grpc: func(s *grpc.Server) { h.RegisterWith(s) }}
}

// serveGRPC runs a gRPC server until the test ends.
func serveGRPC(t testing.TB, listener net.Listener, ex *Executor, register func(*grpc.Server)) {
	server := grpc.NewServer(grpc.WaitForHandlers(true),
		grpc.ChainUnaryInterceptor(ex.countUnary), grpc.ChainStreamInterceptor(ex.countStream, severed))
	register(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); err != nil {
			t.Errorf("serve gRPC: %v", err)
		}
	}()
	t.Cleanup(func() {
		ex.stop()
		server.Stop()
		<-done
	})
}

// dialOptions reach a gRPC server as the tape's transport reaches an HTTP server:
// with its certificates, its headers and its memory.
func (t *tape) dialOptions() []grpc.DialOption {
	transport := insecure.NewCredentials()
	if t.tls != nil {
		transport = credentials.NewTLS(t.tls.Clone())
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport), grpc.WithNoProxy(),
		grpc.WithChainUnaryInterceptor(t.unary), grpc.WithChainStreamInterceptor(t.stream),
	}
}

// attach adds the headers to a call.
func (t *tape) attach(ctx context.Context) context.Context {
	for name, values := range t.header {
		for _, value := range values {
			ctx = metadata.AppendToOutgoingContext(ctx, strings.ToLower(name), value)
		}
	}
	return ctx
}

func (t *tape) unary(
	ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	a := t.begin(http.StatusOK, "")
	var header, trailer metadata.MD
	opts = append(opts[:len(opts):len(opts)], grpc.Header(&header), grpc.Trailer(&trailer))
	err := invoke(t.attach(ctx), method, in, out, conn, opts...)
	t.hear(fields(header, trailer))
	_, _ = io.WriteString(a, written(out, err))
	return err
}

func (t *tape) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	a := t.begin(http.StatusOK, "text/event-stream")
	stream, err := open(t.attach(ctx), desc, conn, method, opts...)
	if err != nil {
		_, _ = io.WriteString(a, "data: "+written(nil, err)+"\n\n")
		return nil, err
	}
	return &tapedStream{stream, a, t}, nil
}

// tapedStream keeps the messages of a stream as events.
type tapedStream struct {
	grpc.ClientStream
	a *answer
	t *tape
}

// RecvMsg implements grpc.ClientStream.
func (s *tapedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil {
		header, _ := s.Header() // it failed where the message did
		s.t.hear(fields(header, s.Trailer()))
	}
	if !errors.Is(err, io.EOF) {
		_, _ = io.WriteString(s.a, "data: "+written(m, err)+"\n\n")
	}
	return err
}

// fields are metadata as HTTP would have them.
func fields(all ...metadata.MD) http.Header {
	h := http.Header{}
	for _, md := range all {
		for name, values := range md {
			name = http.CanonicalHeaderKey(name)
			h[name] = append(h[name], values...)
		}
	}
	return h
}

// written is a message or a status as a document like those of JSON-RPC.
func written(m any, err error) string {
	if err != nil {
		return fmt.Sprintf(`{"error":{"code":%d}}`, status.Code(err))
	}
	message, ok := m.(proto.Message)
	if !ok {
		return fmt.Sprintf("not a message: %T", m)
	}
	text, err := protojson.Marshal(message)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// severed ends a stream with a broken connection's status after the message that
// asks for it.
func severed(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	s := &severedStream{ServerStream: stream}
	if err := handle(srv, s); s.err == nil {
		return err
	}
	return s.err
}

type severedStream struct {
	grpc.ServerStream
	err error
}

// SendMsg implements grpc.ServerStream.
func (s *severedStream) SendMsg(m any) error {
	if err := s.ServerStream.SendMsg(m); err != nil {
		return err
	}
	if text := written(m, nil); strings.Contains(text, severHere) {
		s.err = status.Error(codes.Unavailable, "connection lost")
	}
	return s.err
}
