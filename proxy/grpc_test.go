package proxy_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	a2apb03 "github.com/a2aproject/a2a-go/a2apb"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// grpcClient is a connection of grpc-go's to the gateway.
func (w *world) grpcClient(options ...grpc.DialOption) *grpc.ClientConn {
	w.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	c, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(w.url, "http://"), options...)
	must(w, err)
	w.Cleanup(func() { _ = c.Close() })
	return c
}

// as is the context of a call by a caller.
func (w *world) as(who string, more ...string) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, append([]string{"x-api-key", w.keys[who]}, more...)...)
}

func hi() *a2apb.SendMessageRequest {
	return &a2apb.SendMessageRequest{Tenant: "rec", Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "hi"}}},
	}}
}

// received reads a stream to its end.
func received[T any](s interface{ Recv() (*T, error) }, err error) (list []*T, last error) {
	if err != nil {
		return nil, err
	}
	for {
		event, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, event)
	}
}

// TestGRPCClients: grpc-go's clients of both versions in front of an agent of each
// side.
func TestGRPCClients(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied)
	conn := w.grpcClient()
	now, before := a2apb.NewA2AServiceClient(conn), a2apb03.NewA2AServiceClient(conn)
	for _, s := range sides {
		w.becomes(speaks(s))
		sent, err := now.SendMessage(w.as("alice"), hi())
		id := sent.GetTask().GetId()
		if err != nil || sent.GetTask().GetStatus().GetState() != a2apb.TaskState_TASK_STATE_COMPLETED {
			t.Errorf("%s: %v %v", s, sent, err)
		}
		got, err := now.GetTask(w.as("alice"), &a2apb.GetTaskRequest{Tenant: "rec", Id: id})
		if err != nil || got.GetId() != id {
			t.Errorf("%s: %v %v", s, got, err)
		}
		streamed, err := received(now.SendStreamingMessage(w.as("alice"), hi()))
		if err != nil || len(streamed) == 0 || streamed[0].GetTask() == nil {
			t.Errorf("%s: %v %v", s, streamed, err)
		}
		old := &a2apb03.Message{MessageId: "m", Role: a2apb03.Role_ROLE_USER, Parts: []*a2apb03.Part{{Part: &a2apb03.Part_Text{Text: "hi"}}}}
		made, err := before.SendMessage(w.as("tied"), &a2apb03.SendMessageRequest{Request: old})
		if err != nil || made.GetTask().GetStatus().GetState() != a2apb03.TaskState_TASK_STATE_COMPLETED {
			t.Errorf("%s: %v %v", s, made, err)
		}
		shown, err := before.GetTask(w.as("tied"), &a2apb03.GetTaskRequest{Name: "tasks/" + made.GetTask().GetId()})
		if err != nil || shown.GetId() != made.GetTask().GetId() {
			t.Errorf("%s: %v %v", s, shown, err)
		}
		heard, err := received(before.SendStreamingMessage(w.as("tied"), &a2apb03.SendMessageRequest{Request: old}))
		if err != nil || len(heard) == 0 {
			t.Errorf("%s: %v %v", s, heard, err)
		}
	}
}

// info is the ErrorInfo of a status.
func info(err error) *errdetails.ErrorInfo {
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			return i
		}
	}
	return nil
}

// TestGRPCRefusals: what the gateway refuses is a status that says why.
func TestGRPCRefusals(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc10), func(s *setup) {
		s.policy.Rules = append(s.policy.Rules, policy.Rule{
			Name: "no", Effect: "deny", Methods: []string{"CancelTask"}, Subjects: []string{"alice"},
		})
	}, andAnother) // of one agent alone, no call has to say the name
	w.given("alice", w.base, w.agent, "t", "c", "")
	conn := w.grpcClient()
	client := a2apb.NewA2AServiceClient(conn)
	for name, tt := range map[string]struct {
		call   func(ctx context.Context) error
		who    string
		code   codes.Code
		reason string
	}{
		"nobody":    {func(ctx context.Context) error { _, err := client.SendMessage(ctx, hi()); return err }, "", codes.Unauthenticated, "UNAUTHENTICATED"},
		"forbidden": {func(ctx context.Context) error { _, err := client.SendMessage(ctx, hi()); return err }, "mallory", codes.NotFound, "AGENT_NOT_FOUND"},
		"denied": {func(ctx context.Context) error {
			_, err := client.CancelTask(ctx, &a2apb.CancelTaskRequest{Tenant: "rec", Id: "t"})
			return err
		}, "alice", codes.PermissionDenied, "UNAUTHORIZED"},
		"foreign task": {func(ctx context.Context) error {
			_, err := client.GetTask(ctx, &a2apb.GetTaskRequest{Tenant: "rec", Id: "t"})
			return err
		}, "bob", codes.NotFound, "TASK_NOT_FOUND"},
		"no agent": {func(ctx context.Context) error {
			_, err := client.GetTask(ctx, &a2apb.GetTaskRequest{Id: "t"})
			return err
		}, "alice", codes.InvalidArgument, "INVALID_PARAMS"},
		"no such method": {func(ctx context.Context) error {
			return conn.Invoke(ctx, "/lf.a2a.v1.A2AService/TaskSubscription", hi(), new(a2apb.Task))
		}, "alice", codes.Unimplemented, "METHOD_NOT_FOUND"},
		"no such service": {func(ctx context.Context) error {
			return conn.Invoke(ctx, "/lf.a2a.v2.A2AService/SendMessage", hi(), new(a2apb.Task))
		}, "alice", codes.Unimplemented, "METHOD_NOT_FOUND"},
		"not a message": {func(ctx context.Context) error {
			return conn.Invoke(ctx, "/lf.a2a.v1.A2AService/SendMessage", &a2apb.SendMessageRequest{Tenant: "rec"}, new(a2apb.Task))
		}, "alice", codes.InvalidArgument, "INVALID_PARAMS"},
		"version": {func(ctx context.Context) error {
			_, err := client.SendMessage(metadata.AppendToOutgoingContext(ctx, "a2a-version", "0.3"), hi())
			return err
		}, "alice", codes.FailedPrecondition, "VERSION_NOT_SUPPORTED"},
		"no such version": {func(ctx context.Context) error {
			_, err := client.SendMessage(metadata.AppendToOutgoingContext(ctx, "a2a-version", "2.0"), hi())
			return err
		}, "alice", codes.FailedPrecondition, "VERSION_NOT_SUPPORTED"},
		"in a stream": {func(ctx context.Context) error {
			_, err := received(client.SubscribeToTask(ctx, &a2apb.SubscribeToTaskRequest{Tenant: "rec", Id: "none"}))
			return err
		}, "alice", codes.NotFound, "TASK_NOT_FOUND"},
	} {
		ctx := w.as(tt.who)
		if tt.who == "" {
			ctx = context.Background()
		}
		err := tt.call(ctx)
		if status.Code(err) != tt.code || info(err).GetReason() != tt.reason {
			t.Errorf("%s: %v %v", name, err, info(err))
		}
		if tt.reason != "" && info(err).GetDomain() != "a2a-protocol.org" {
			t.Errorf("%s: domain %q", name, info(err).GetDomain())
		}
		w.agent.silent(t, name)
	}
}

// frame is a message of gRPC with a flag of its own.
func frame(flag byte, message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))) + message
}

// TestGRPCFrames: a body that is anything but one message never reaches the agent.
func TestGRPCFrames(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc10), func(s *setup) { s.server.Limits.Body = 4096 })
	const path = "/lf.a2a.v1.A2AService/SendMessage"
	good := string(protobuf(t, hi()))
	for name, tt := range map[string]struct {
		body string
		code int
	}{
		"one":             {frame(0, good), 0},
		"none":            {"", 3},
		"two":             {frame(0, good) + frame(0, good), 3},
		"an empty second": {frame(0, good) + frame(0, ""), 3},
		"more behind":     {frame(0, good) + "x", 3},
		"compressed":      {frame(1, good), 12},
		"unknown flag":    {frame(2, good), 12},
		"cut in the head": {"\x00\x00\x00", 3},
		"cut in the body": {frame(0, good)[:20], 3},
		"announces much":  {"\x00\xff\xff\xff\xff" + good, 8},
		"too large":       {frame(0, strings.Repeat("x", 5000)), 8},
		"not protobuf":    {frame(0, "\xff\xff\xff"), 3},
		"not UTF-8":       {frame(0, "\x0a\x03\xff\xfe\xfd"), 3},
	} {
		got := w.heardRPC(methodOf(wire.SendMessage), grpc10, w.dial("alice", path, []byte(tt.body)))
		if got.code != tt.code || got.status != 200 || got.header.Get("Content-Type") != "application/grpc" {
			t.Errorf("%s: %d, grpc-status %d %v", name, got.status, got.code, got.err)
		}
		if seen := len(w.agent.take()); seen != map[bool]int{true: 1}[tt.code == 0] {
			t.Errorf("%s: the agent saw %d calls", name, seen)
		}
	}
}

// TestGRPCRequests: what is not gRPC at all.
func TestGRPCRequests(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc10))
	const path = "/lf.a2a.v1.A2AService/SendMessage"
	body := frame(0, string(protobuf(t, hi())))
	for name, header := range map[string]string{
		"plain": "application/grpc", "proto": "application/grpc+proto", "parameter": "application/grpc;charset=utf-8",
	} {
		if got := w.dial("alice", path, []byte(body), "Content-Type: "+header); got.trailer.Get("Grpc-Status") != "0" {
			t.Errorf("%s: %v %v", name, got.header, got.trailer)
		}
		w.agent.one(t)
	}
	for _, media := range []string{"application/json", "application/grpc+json", "application/grpc-web", "application/grpcx", ""} {
		got := w.dial("alice", path, []byte(body), "Content-Type: "+media)
		if got.status < 400 || got.header.Get("Content-Type") != "application/json" || !strings.Contains(got.body, "application/grpc") {
			t.Errorf("%s: %d %v %s", media, got.status, got.header, got.body)
		}
	}
	if got := w.do("alice", "POST", w.url+path, body); got.status < 400 || !strings.Contains(got.body, "HTTP/2") {
		t.Errorf("HTTP/1.1: %d %v %q", got.status, got.header, got.body)
	}
	for _, verb := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
		got := w.do("alice", verb, w.url+path, "")
		if got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d %v %s", verb, got.status, got.header, got.body)
		}
	}
	for _, other := range []string{
		"/a2a.v1.A2AServiceX/SendMessage", "/lf.a2a.v1.A2AService", "/lf.a2a.v1.A2AService/", "/lf.a2a.v1.A2AService/SendMessage/x",
		"/LF.A2A.V1.A2AService/SendMessage", "/lf.a2a.v1.A2AService//SendMessage", "/grpc.health.v1.Health/Check",
	} {
		got := w.dial("alice", other, []byte(body))
		if code := got.trailer.Get("Grpc-Status"); got.status < 400 && code != "12" && code != "3" {
			t.Errorf("%s: %d %v %v %s", other, got.status, got.header, got.trailer, got.body)
		}
	}
	w.agent.silent(t, "not gRPC")
}

// unknown are fields that no version of A2A has.
var unknown = string(protowire.AppendString(protowire.AppendTag(nil, 900, protowire.BytesType), "kept")) +
	string(protowire.AppendVarint(protowire.AppendTag(nil, 901, protowire.VarintType), 1<<60))

// TestGRPCVerbatim: between two that speak the same, messages pass byte for byte,
// unknown fields and unusual order among them.
func TestGRPCVerbatim(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc03, grpc10), tied)
	for _, s := range []wire.Side{grpc10, grpc03} {
		for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			m := methodOf(name)
			plain, err := wire.RequestMessage(m, s.Version, []byte(ask{method: name}.params(s)))
			must(t, err)
			sent := unknown + string(plain) + unknown
			task := taskIn(s, "t-"+name+string(s.Version), "c", "working", "")
			event, err := wire.ResponseMessage(m, s.Version, []byte(`{"task":`+task+`}`))
			must(t, err)
			said := unknown + string(event) + unknown
			w.agent.answers(func(rw http.ResponseWriter, _ *record) {
				rw.Header().Set("Content-Type", "application/grpc+proto")
				_, _ = io.WriteString(rw, frame(0, said))
				if m.Streams {
					_, _ = io.WriteString(rw, frame(0, said))
				}
				rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			})
			got := w.dial("tied", m.RPC(s.Version), []byte(frame(0, sent)))
			want := frame(0, said)
			if m.Streams {
				want += want
			}
			if got.body != want || got.trailer.Get("Grpc-Status") != "0" {
				t.Errorf("%s %s: %q %v, want %q", s, name, got.body, got.trailer, want)
			}
			seen := w.agent.one(t)
			if string(seen.body) != frame(0, sent) || seen.URL.Path != m.RPC(s.Version) || seen.ProtoMajor != 2 {
				t.Errorf("%s %s: the agent got %s %q, want %q", s, name, seen.URL, seen.body, frame(0, sent))
			}
			if h := seen.Header; h.Get("Te") != "trailers" || h.Get("A2a-Version") != string(s.Version) || h.Get("X-Api-Key") != "" {
				t.Errorf("%s %s: the agent got %v", s, name, h)
			}
		}
	}
}

// TestGRPCTenant: of a message that names the agent by tenant, that alone changes:
// the interface's own stands in its place.
func TestGRPCTenant(t *testing.T) {
	t.Parallel()
	w := in(t, func(base string) string { return cardWith(base, interfaceOf(base, grpc10, "acme")) })
	sent := unknown + string(protobuf(t, hi())) + unknown
	got := w.dial("alice", "/lf.a2a.v1.A2AService/SendMessage", []byte(frame(0, sent)))
	if got.trailer.Get("Grpc-Status") != "0" {
		t.Errorf("%v %v", got.header, got.trailer)
	}
	c := w.agent.one(t).call()
	if c.Tenant != "acme" || strings.Contains(string(c.Message), "rec") || strings.Count(string(c.Message), unknown) != 2 {
		t.Errorf("the agent got %s in %q", c.Body, c.Message)
	}
}

// TestGRPCExtensions: asked for and told of as metadata.
func TestGRPCExtensions(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc10, rpc03), tied)
	for _, agent := range []wire.Side{grpc10, rpc03} {
		w.becomes(speaks(agent))
		name := map[wire.Version]string{wire.V10: "A2a-Extensions", wire.V03: "X-A2a-Extensions"}[agent.Version]
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			if !slices.Equal(r.Header[name], []string{"urn:declared"}) {
				t.Errorf("%s: the agent got %v", agent, r.Header)
			}
			if agent == grpc10 {
				rw.Header().Set(http.TrailerPrefix+name, "urn:declared")
			} else {
				rw.Header().Set(name, "urn:declared")
			}
			fluent(rw, r)
		})
		var header metadata.MD
		_, err := a2apb.NewA2AServiceClient(w.grpcClient()).SendMessage(
			w.as("alice", "a2a-extensions", "urn:declared, urn:else"), hi(), grpc.Header(&header))
		if err != nil || !slices.Equal(header.Get("a2a-extensions"), []string{"urn:declared"}) {
			t.Errorf("%s: %v %v", agent, header, err)
		}
	}
}

// TestGRPCHost: on a host of its own the agent needs no other name.
func TestGRPCHost(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc10, grpc03), func(s *setup) { s.agent.Hosts = []string{"rec.example"} })
	conn := w.grpcClient(grpc.WithAuthority("rec.example"))
	nameless := hi()
	nameless.Tenant = ""
	sent, err := a2apb.NewA2AServiceClient(conn).SendMessage(w.as("alice"), nameless)
	if err != nil || sent.GetTask().GetId() == "" {
		t.Errorf("%v %v", sent, err)
	}
	got, err := a2apb03.NewA2AServiceClient(conn).GetTask(w.as("alice"), &a2apb03.GetTaskRequest{Name: "tasks/" + sent.GetTask().GetId()})
	if err != nil || got.GetId() != sent.GetTask().GetId() {
		t.Errorf("0.3: %v %v", got, err)
	}
	if _, err = a2apb.NewA2AServiceClient(conn).SendMessage(w.as("alice"), hi()); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a name is a tenant there: %v", err)
	}
	conn = w.grpcClient(grpc.WithAuthority("else.example"))
	if _, err = a2apb.NewA2AServiceClient(conn).SendMessage(w.as("alice"), hi()); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a host that is not served: %v", err)
	}
}

func protobuf(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	must(t, err)
	return b
}

// fromAgent is a world in which a caller of 1.0 gRPC streams from an agent.
func fromAgent(t testing.TB, agent wire.Side, answers func(http.ResponseWriter, *record)) (*world, func() ([]*a2apb.StreamResponse, error)) {
	w := in(t, speaks(agent))
	w.agent.answers(answers)
	client := a2apb.NewA2AServiceClient(w.grpcClient())
	return w, func() ([]*a2apb.StreamResponse, error) {
		return received(client.SendStreamingMessage(w.as("alice"), hi()))
	}
}

// TestGRPCAgentFails: an agent that ends a stream badly, at its beginning, in its
// middle, and without a word.
func TestGRPCAgentFails(t *testing.T) {
	t.Parallel()
	two := func(rw http.ResponseWriter, r *record) {
		r.event(rw, `{"task":`+taskIn(r.side(), "t-"+r.Header.Get("X-Request-Id"), "", "working", "")+`}`)
		r.event(rw, statusIn(r.side(), "t-"+r.Header.Get("X-Request-Id"), "", "working", ""))
	}
	w := in(t, speaks(grpc10))
	for what, tt := range map[string]struct {
		answers func(http.ResponseWriter, *record)
		stream  int
		code    codes.Code
		reason  string
	}{
		"refuses": {func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.TaskNotFound, "not here") }, 0, codes.NotFound, "TASK_NOT_FOUND"},
		"in the header only": {func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			rw.Header().Set("Grpc-Status", "8")
			rw.Header().Set("Grpc-Message", "slow%20down")
		}, 0, codes.ResourceExhausted, "RATE_LIMITED"},
		"after two events": {func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			failure.SetStatus(rw.Header(), wire.V10, wire.Errorf(wire.Unsupported, "no more"))
		}, 2, codes.FailedPrecondition, "UNSUPPORTED_OPERATION"},
		"no status": {func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"no number": {func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "fine")
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"dies": {func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			panic(http.ErrAbortHandler)
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"cut frame": {func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			_, _ = io.WriteString(rw, frame(0, "xxxxx")[:7])
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"a proxy's page": {func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Content-Type", "text/html")
			rw.WriteHeader(http.StatusBadGateway)
		}, 0, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"a proxy's JSON": {func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(rw, `{"message":"no route"}`)
		}, 0, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"JSON instead": {func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, `{"task":{"id":"t","contextId":"c","status":{}}}`)
		}, 0, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"busy": {func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Content-Type", "text/plain")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}, 0, codes.Unavailable, "UNAVAILABLE"},
	} {
		w.agent.answers(tt.answers)
		for _, name := range []string{wire.SendStreamingMessage, wire.SendMessage} {
			m, what, want := methodOf(name), what+", "+name, tt.stream
			if !m.Streams {
				want = 0
			}
			got := w.heardRPC(m, grpc10, w.dial("alice", m.RPC(wire.V10), []byte(frame(0, string(protobuf(t, hi()))))))
			if got.err == nil || got.code != int(tt.code) || got.err.Reason != tt.reason || len(got.docs) != want {
				t.Errorf("%s: grpc-status %d, %v, %d messages", what, got.code, got.err, len(got.docs))
			}
		}
	}
	for _, r := range w.audited("call") {
		if r["decision"] != "error" {
			t.Errorf("recorded as %v: %v", r["decision"], r)
		}
	}
}

// TestGRPCAgentsError: what the agent's status says reaches the caller as it is.
func TestGRPCAgentsError(t *testing.T) {
	t.Parallel()
	w, stream := fromAgent(t, grpc10, nil)
	details := ""
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		e := wire.Errorf(wire.TaskNotFound, "nicht da: ü%%")
		e.Meta = map[string]string{"k": "v"}
		failure.Write(rw, &wire.Call{Version: wire.V10, Binding: wire.GRPC}, e)
		details = rw.Header().Get(http.TrailerPrefix + "Grpc-Status-Details-Bin")
	})
	_, err := stream()
	if status.Code(err) != codes.NotFound || status.Convert(err).Message() != "nicht da: ü%" || info(err).GetMetadata()["k"] != "v" {
		t.Errorf("%v %v", err, info(err))
	}
	for _, name := range []string{"SendMessage", "SendStreamingMessage"} {
		got := w.dial("alice", "/lf.a2a.v1.A2AService/"+name, []byte(frame(0, string(protobuf(t, hi())))))
		if got.trailer.Get("Grpc-Status-Details-Bin") != details || details == "" {
			t.Errorf("%s: %v, want %s", name, got.trailer, details)
		}
	}
	for _, r := range w.audited("call") {
		if r["decision"] != "error" {
			t.Errorf("recorded as %v: %v", r["decision"], r)
		}
	}
}

// TestGRPCStatusOfOthers: an error of a JSON agent's is a status to a gRPC caller.
func TestGRPCStatusOfOthers(t *testing.T) {
	t.Parallel()
	for _, s := range sides {
		_, stream := fromAgent(t, s, func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.Unsupported, "not today") })
		_, err := stream()
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(status.Convert(err).Message(), "not today") ||
			info(err).GetReason() != "UNSUPPORTED_OPERATION" {
			t.Errorf("%s: %v %v", s, err, info(err))
		}
	}
}

// TestGRPCCallerLeaves: the agent notices in the middle of a stream, whichever way
// it streams.
func TestGRPCCallerLeaves(t *testing.T) {
	t.Parallel()
	for _, s := range sides {
		w := in(t, speaks(s))
		left := make(chan struct{})
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "text/event-stream")
			if s.Binding == wire.GRPC {
				rw.Header().Set("Content-Type", "application/grpc")
			}
			id := cmp.Or(r.call().TaskID, "t")
			r.event(rw, statusIn(s, id, "c", "working", ""))
			<-r.Context().Done()
			close(left)
		})
		ctx, cancel := context.WithCancel(w.as("alice"))
		client, err := a2apb.NewA2AServiceClient(w.grpcClient()).SendStreamingMessage(ctx, hi())
		must(t, err)
		if _, err = client.Recv(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		cancel()
		select {
		case <-left:
		case <-time.After(patience):
			t.Fatalf("%s: the agent still streams to nobody", s)
		}
	}
}
