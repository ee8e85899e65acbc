package failure_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	client03 "github.com/a2aproject/a2a-go/a2aclient"
	grpcsrv03 "github.com/a2aproject/a2a-go/a2agrpc"
	a2asrv03 "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	grpc03 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpc10 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// serveGRPC serves h over cleartext HTTP/2 and connects to it.
func serveGRPC(t *testing.T, h http.Handler) *grpc.ClientConn {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(srv.Close)
	conn, err := grpc.NewClient(srv.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// grpcServer decodes calls and answers with as many events as it is told, then
// with e. It fails the test if what arrives is not what a client of v sends.
func grpcServer(t *testing.T, v wire.Version, events []string, e *wire.Error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, version, ok := wire.ByRPC(r.URL.Path)
		header, bad := wire.RequestVersion(r.Header, r.URL.Query())
		message, err := grpcframe.NewReader(r.Body, 1<<20).Next()
		if !ok || m == nil || version != v || err != nil || bad != nil {
			t.Errorf("%s: %v %s %v %v", r.URL.Path, m, version, err, bad)
			return
		}
		var c wire.Call
		if bad := c.DecodeGRPC(m, version, message, header, wire.Limits{}); bad != nil {
			t.Error(bad)
		}
		if len(events) == 0 && e != nil {
			failure.Write(w, &c, e)
			return
		}
		w.Header().Set("Content-Type", "application/grpc")
		for _, doc := range events {
			answer, err := wire.ResponseMessage(m, version, []byte(doc))
			if err != nil {
				t.Error(err)
			}
			if _, err := w.Write(grpcframe.Append(nil, answer)); err != nil {
				t.Error(err)
			}
		}
		failure.SetStatus(w.Header(), wire.V10, e)
	})
}

const statusDoc = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`

// TestGRPCAnswers: grpc-go reads what is written here, before, after and without
// messages.
func TestGRPCAnswers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	send := &a2apbv1.SendMessageRequest{Message: &a2apbv1.Message{MessageId: "m"}}

	conn := serveGRPC(t, grpcServer(t, wire.V10, []string{`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`}, nil))
	got, err := a2apbv1.NewA2AServiceClient(conn).SendMessage(ctx, send)
	if err != nil || got.GetTask().GetId() != "t" || got.GetTask().GetStatus().GetState() != a2apbv1.TaskState_TASK_STATE_COMPLETED {
		t.Errorf("%v %v", got, err)
	}

	for _, events := range [][]string{nil, {statusDoc, statusDoc}} {
		for _, end := range []*wire.Error{nil, wire.Errorf(wire.TaskNotFound, "no %s, 100%%\n語", "task")} {
			conn := serveGRPC(t, grpcServer(t, wire.V10, events, end))
			stream, err := a2apbv1.NewA2AServiceClient(conn).SendStreamingMessage(ctx, send)
			if err != nil {
				t.Fatal(err)
			}
			for range events {
				event, err := stream.Recv()
				if err != nil || event.GetStatusUpdate().GetTaskId() != "t" {
					t.Errorf("%v %v", event, err)
				}
			}
			_, err = stream.Recv()
			if end == nil && !errors.Is(err, io.EOF) {
				t.Errorf("end of stream: %v", err)
			}
			if end != nil && (status.Code(err) != codes.NotFound || status.Convert(err).Message() != "no task, 100%\n語") {
				t.Errorf("error: %v", err)
			}
		}
	}
}

// TestGRPCErrorDetails: message, ErrorInfo, details and headers arrive; what does
// not fit into trailers is left out before what has to be there.
func TestGRPCErrorDetails(t *testing.T) {
	t.Parallel()
	e := &wire.Error{
		Kind: wire.RateLimited, Message: "wait\x00\xff" + strings.Repeat("語", 5000),
		Meta:   map[string]string{"limit": "7\xff"},
		Header: http.Header{"Retry-After": {"3"}},
		Details: []jsontext.Value{
			jsontext.Value(`{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"a":[1]}}`),
			jsontext.Value(`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"OTHER"}`),
			jsontext.Value(`{"@type":"type.googleapis.com/no.such.Message","a":1}`),
			jsontext.Value(`{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"a":"` + strings.Repeat("x", 20_000) + `"}}`),
			jsontext.Value(`not JSON`),
		},
	}
	conn := serveGRPC(t, grpcServer(t, wire.V10, nil, e))
	var header metadata.MD
	_, err := a2apbv1.NewA2AServiceClient(conn).GetTask(context.Background(), &a2apbv1.GetTaskRequest{Id: "t"}, grpc.Header(&header))
	s := status.Convert(err)
	if s.Code() != codes.ResourceExhausted || !strings.HasPrefix(s.Message(), "wait\x00\ufffd語") || len(s.Message()) > 4<<10 {
		t.Errorf("%s %d bytes", s.Code(), len(s.Message()))
	}
	if got := header.Get("retry-after"); len(got) != 1 || got[0] != "3" {
		t.Errorf("headers %v", header)
	}
	if len(s.Details()) != 3 {
		t.Fatalf("details %v", s.Details())
	}
	info, _ := s.Details()[0].(*errdetails.ErrorInfo)
	if info.GetReason() != "RATE_LIMITED" || info.GetDomain() != "a2a-protocol.org" || info.GetMetadata()["limit"] != "7\ufffd" {
		t.Errorf("info %v", info)
	}
	if retry, ok := s.Details()[1].(*errdetails.RetryInfo); !ok || retry.GetRetryDelay().AsDuration() != 3*time.Second {
		t.Errorf("when to come back: %v", s.Details()[1])
	}
	if data, ok := s.Details()[2].(*structpb.Struct); !ok || len(data.GetFields()) != 1 {
		t.Errorf("struct %v", s.Details()[2])
	}
}

// TestGRPCErrorsReachGoClients: the clients of both SDKs recognise the errors.
func TestGRPCErrorsReachGoClients(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, tt := range []struct {
		kind       *wire.Kind
		v10, v03   error
		compatible error // what the 0.3 client of the 1.0 SDK makes of it
	}{
		{wire.TaskNotFound, a2a.ErrTaskNotFound, a2a03.ErrTaskNotFound, a2a.ErrTaskNotFound},
		{wire.NotCancelable, a2a.ErrTaskNotCancelable, a2a03.ErrTaskNotCancelable, a2a.ErrTaskNotCancelable},
		{wire.Unsupported, a2a.ErrUnsupportedOperation, a2a03.ErrUnsupportedOperation, a2a.ErrMethodNotFound},
		{wire.InvalidParams, a2a.ErrInvalidParams, a2a03.ErrInvalidParams, a2a.ErrInvalidParams},
		{wire.VersionUnsupported, a2a.ErrVersionNotSupported, a2a03.ErrInvalidParams, a2a.ErrInvalidParams},
		{wire.Denied, a2a.ErrUnauthorized, a2a03.ErrUnauthorized, a2a.ErrUnauthorized},
		{wire.Unauthenticated, a2a.ErrUnauthenticated, a2a03.ErrUnauthenticated, a2a.ErrUnauthenticated},
		{wire.Internal, a2a.ErrInternalError, a2a03.ErrInternalError, a2a.ErrInternalError},
	} {
		e := wire.Errorf(tt.kind, "it is so")
		in10 := grpc10.NewGRPCTransport(serveGRPC(t, grpcServer(t, wire.V10, nil, e)))
		conn03 := serveGRPC(t, grpcServer(t, wire.V03, nil, e))
		_, err := in10.GetTask(ctx, a2aclient.ServiceParams{"a2a-version": {"1.0"}}, &a2a.GetTaskRequest{ID: "t"})
		if !errors.Is(err, tt.v10) || !strings.Contains(err.Error(), "it is so") {
			t.Errorf("%s in 1.0: %v", tt.kind.Reason, err)
		}
		_, err = client03.NewGRPCTransport(conn03).GetTask(ctx, &a2a03.TaskQueryParams{ID: "t"})
		if !errors.Is(err, tt.v03) {
			t.Errorf("%s in 0.3: %v", tt.kind.Reason, err)
		}
		_, err = grpc03.NewGRPCTransport(conn03).GetTask(ctx, nil, &a2a.GetTaskRequest{ID: "t"})
		if !errors.Is(err, tt.compatible) {
			t.Errorf("%s in 0.3 by the 1.0 SDK: %v", tt.kind.Reason, err)
		}
	}
}

// TestStatusReadsBack: ReadStatus finds in the trailers what was written there.
func TestStatusReadsBack(t *testing.T) {
	t.Parallel()
	for _, k := range wire.Kinds() {
		want := &wire.Error{
			Kind: k, Message: "why: 50% é", Meta: map[string]string{"a": "b"},
			Details: []jsontext.Value{jsontext.Value(`{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"a":1}}`)},
		}
		rec := httptest.NewRecorder()
		failure.Write(rec, &wire.Call{Binding: wire.GRPC, Version: wire.V10}, want)
		got := failure.ReadStatus(rec.Header(), rec.Result().Trailer)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", k.Reason, diff)
		}
		rec = httptest.NewRecorder()
		failure.Write(rec, &wire.Call{Binding: wire.GRPC, Version: wire.V03}, want)
		if trailer := rec.Result().Trailer; len(trailer) != 2 {
			t.Errorf("%s in 0.3: %v", k.Reason, trailer)
		}
	}
	h := http.Header{}
	failure.SetStatus(h, wire.V10, nil)
	if diff := cmp.Diff(http.Header{"Trailer:Grpc-Status": {"0"}}, h); diff != "" {
		t.Error(diff)
	}
	if event := failure.Event(&wire.Call{Binding: wire.GRPC}, wire.Errorf(wire.Internal, "")); event != nil {
		t.Errorf("an event: %q", event)
	}
}

// TestReadStatusOfSDKAgents: what the SDKs' servers write about an unknown task is
// read as that, over a plain HTTP/2 client.
func TestReadStatusOfSDKAgents(t *testing.T) {
	t.Parallel()
	server := grpc.NewServer()
	grpc10.NewHandler(a2asrv.NewHandler(nil)).RegisterWith(server)
	grpcsrv03.NewHandler(a2asrv03.NewHandler(nil)).RegisterWith(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)

	for _, tt := range []struct {
		version wire.Version
		method  string
		doc     string
		want    *wire.Kind
	}{
		{wire.V10, wire.GetTask, `{"id":"nope"}`, wire.TaskNotFound},
		{wire.V03, wire.GetTask, `{"name":"tasks/nope"}`, wire.TaskNotFound},
		{wire.V03, wire.GetTask, `{"name":"nope"}`, wire.InvalidParams},
		{wire.V10, wire.SubscribeToTask, `{"id":"nope"}`, wire.TaskNotFound},
		{wire.V10, wire.CreatePushConfig, `{"taskId":"t","url":"https://x.example/"}`, wire.PushUnsupported},
		{wire.V03, wire.CreatePushConfig, `{"parent":"tasks/t","config":{"pushNotificationConfig":{"url":"https://x.example/"}}}`, wire.Unsupported},
	} {
		m, ok := wire.ByName(wire.V10, tt.method)
		if !ok {
			t.Fatal(tt.method)
		}
		message, err := wire.RequestMessage(m, tt.version, []byte(tt.doc))
		if err != nil {
			t.Fatal(err)
		}
		target := "http://" + listener.Addr().String() + m.RPC(tt.version)
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, target, bytes.NewReader(grpcframe.Append(nil, message)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("Te", "trailers")
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Error(err)
		}
		_ = answer.Body.Close()
		e := failure.ReadStatus(answer.Header, answer.Trailer)
		if e == nil || e.Kind != tt.want || e.Message == "" {
			t.Errorf("%s %s: %v, want %s", tt.version, tt.method, e, tt.want.Reason)
		}
	}
}
