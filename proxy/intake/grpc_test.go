package intake_test

import (
	"cmp"
	"context"
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
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestGRPCClients: grpc-go's clients of both versions in front of an agent of each
// side.
func TestGRPCClients(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	conn := w.GRPCClient()
	now, before := a2apb.NewA2AServiceClient(conn), a2apb03.NewA2AServiceClient(conn)
	for _, s := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(s))
		sent, err := now.SendMessage(w.As("alice"), proxytest.Hello())
		id := sent.GetTask().GetId()
		if err != nil || sent.GetTask().GetStatus().GetState() != a2apb.TaskState_TASK_STATE_COMPLETED {
			t.Errorf("%s: %v %v", s, sent, err)
		}
		got, err := now.GetTask(w.As("alice"), &a2apb.GetTaskRequest{Tenant: "rec", Id: id})
		if err != nil || got.GetId() != id {
			t.Errorf("%s: %v %v", s, got, err)
		}
		streamed, err := proxytest.Received(now.SendStreamingMessage(w.As("alice"), proxytest.Hello()))
		if err != nil || len(streamed) == 0 || streamed[0].GetTask() == nil {
			t.Errorf("%s: %v %v", s, streamed, err)
		}
		old := &a2apb03.Message{MessageId: "m", Role: a2apb03.Role_ROLE_USER, Parts: []*a2apb03.Part{{Part: &a2apb03.Part_Text{Text: "hi"}}}}
		made, err := before.SendMessage(w.As("tied"), &a2apb03.SendMessageRequest{Request: old})
		if err != nil || made.GetTask().GetStatus().GetState() != a2apb03.TaskState_TASK_STATE_COMPLETED {
			t.Errorf("%s: %v %v", s, made, err)
		}
		shown, err := before.GetTask(w.As("tied"), &a2apb03.GetTaskRequest{Name: "tasks/" + made.GetTask().GetId()})
		if err != nil || shown.GetId() != made.GetTask().GetId() {
			t.Errorf("%s: %v %v", s, shown, err)
		}
		heard, err := proxytest.Received(before.SendStreamingMessage(w.As("tied"), &a2apb03.SendMessageRequest{Request: old}))
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10), func(s *proxytest.Setup) {
		s.Policy.Rules = append(s.Policy.Rules, policy.Rule{
			Name: "no", Effect: "deny", Methods: []string{"CancelTask"}, Subjects: []string{"alice"},
		})
	}, andAnother) // of one agent alone, no call has to say the name
	w.Given("alice", w.Base, w.Agent, "t", "c", "")
	conn := w.GRPCClient()
	client := a2apb.NewA2AServiceClient(conn)
	for name, tt := range map[string]struct {
		call   func(ctx context.Context) error
		who    string
		code   codes.Code
		reason string
	}{
		"nobody":    {func(ctx context.Context) error { _, err := client.SendMessage(ctx, proxytest.Hello()); return err }, "", codes.Unauthenticated, "UNAUTHENTICATED"},
		"forbidden": {func(ctx context.Context) error { _, err := client.SendMessage(ctx, proxytest.Hello()); return err }, "mallory", codes.NotFound, "AGENT_NOT_FOUND"},
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
			return conn.Invoke(ctx, "/lf.a2a.v1.A2AService/TaskSubscription", proxytest.Hello(), new(a2apb.Task))
		}, "alice", codes.Unimplemented, "METHOD_NOT_FOUND"},
		"no such service": {func(ctx context.Context) error {
			return conn.Invoke(ctx, "/lf.a2a.v2.A2AService/SendMessage", proxytest.Hello(), new(a2apb.Task))
		}, "alice", codes.Unimplemented, "METHOD_NOT_FOUND"},
		"not a message": {func(ctx context.Context) error {
			return conn.Invoke(ctx, "/lf.a2a.v1.A2AService/SendMessage", &a2apb.SendMessageRequest{Tenant: "rec"}, new(a2apb.Task))
		}, "alice", codes.InvalidArgument, "INVALID_PARAMS"},
		"version": {func(ctx context.Context) error {
			_, err := client.SendMessage(metadata.AppendToOutgoingContext(ctx, "a2a-version", "0.3"), proxytest.Hello())
			return err
		}, "alice", codes.FailedPrecondition, "VERSION_NOT_SUPPORTED"},
		"no such version": {func(ctx context.Context) error {
			_, err := client.SendMessage(metadata.AppendToOutgoingContext(ctx, "a2a-version", "2.0"), proxytest.Hello())
			return err
		}, "alice", codes.FailedPrecondition, "VERSION_NOT_SUPPORTED"},
		"in a stream": {func(ctx context.Context) error {
			_, err := proxytest.Received(client.SubscribeToTask(ctx, &a2apb.SubscribeToTaskRequest{Tenant: "rec", Id: "none"}))
			return err
		}, "alice", codes.NotFound, "TASK_NOT_FOUND"},
	} {
		ctx := w.As(tt.who)
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
		w.Agent.Silent(t, name)
	}
}

// TestGRPCFrames: a body that is anything but one message never reaches the agent.
func TestGRPCFrames(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10), func(s *proxytest.Setup) { s.Server.Limits.Body = 4096 })
	const path = "/lf.a2a.v1.A2AService/SendMessage"
	good := string(protobuf(t, proxytest.Hello()))
	for name, tt := range map[string]struct {
		body string
		code int
	}{
		"one":             {proxytest.GRPCFrame(0, good), 0},
		"none":            {"", 3},
		"two":             {proxytest.GRPCFrame(0, good) + proxytest.GRPCFrame(0, good), 3},
		"an empty second": {proxytest.GRPCFrame(0, good) + proxytest.GRPCFrame(0, ""), 3},
		"more behind":     {proxytest.GRPCFrame(0, good) + "x", 3},
		"compressed":      {proxytest.GRPCFrame(1, good), 12},
		"unknown flag":    {proxytest.GRPCFrame(2, good), 12},
		"cut in the head": {"\x00\x00\x00", 3},
		"cut in the body": {proxytest.GRPCFrame(0, good)[:20], 3},
		"announces much":  {"\x00\xff\xff\xff\xff" + good, 8},
		"too large":       {proxytest.GRPCFrame(0, strings.Repeat("x", 5000)), 8},
		"not protobuf":    {proxytest.GRPCFrame(0, "\xff\xff\xff"), 3},
		"not UTF-8":       {proxytest.GRPCFrame(0, "\x0a\x03\xff\xfe\xfd"), 3},
	} {
		got := w.HeardRPC(proxytest.MethodOf(wire.SendMessage), proxytest.GRPC10, w.Dial("alice", path, []byte(tt.body)))
		if got.Code != tt.code || got.Status != 200 || got.Header.Get("Content-Type") != "application/grpc" {
			t.Errorf("%s: %d, grpc-status %d %v", name, got.Status, got.Code, got.Err)
		}
		if seen := len(w.Agent.Take()); seen != map[bool]int{true: 1}[tt.code == 0] {
			t.Errorf("%s: the agent saw %d calls", name, seen)
		}
	}
}

// TestGRPCRequests: what is not gRPC at all.
func TestGRPCRequests(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10))
	const path = "/lf.a2a.v1.A2AService/SendMessage"
	body := proxytest.GRPCFrame(0, string(protobuf(t, proxytest.Hello())))
	for name, header := range map[string]string{
		"plain": "application/grpc", "proto": "application/grpc+proto", "parameter": "application/grpc;charset=utf-8",
	} {
		if got := w.Dial("alice", path, []byte(body), "Content-Type: "+header); got.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("%s: %v %v", name, got.Header, got.Trailer)
		}
		w.Agent.One(t)
	}
	for _, media := range []string{"application/json", "application/grpc+json", "application/grpc-web", "application/grpcx", ""} {
		got := w.Dial("alice", path, []byte(body), "Content-Type: "+media)
		if got.Status < 400 || got.Header.Get("Content-Type") != "application/json" || !strings.Contains(got.Body, "application/grpc") {
			t.Errorf("%s: %d %v %s", media, got.Status, got.Header, got.Body)
		}
	}
	if got := w.Do("alice", "POST", w.URL+path, body); got.Status < 400 || !strings.Contains(got.Body, "HTTP/2") {
		t.Errorf("HTTP/1.1: %d %v %q", got.Status, got.Header, got.Body)
	}
	for _, verb := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
		got := w.Do("alice", verb, w.URL+path, "")
		if got.Status != 405 || got.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %d %v %s", verb, got.Status, got.Header, got.Body)
		}
	}
	for _, other := range []string{
		"/a2a.v1.A2AServiceX/SendMessage", "/lf.a2a.v1.A2AService", "/lf.a2a.v1.A2AService/", "/lf.a2a.v1.A2AService/SendMessage/x",
		"/LF.A2A.V1.A2AService/SendMessage", "/lf.a2a.v1.A2AService//SendMessage", "/grpc.health.v1.Health/Check",
	} {
		got := w.Dial("alice", other, []byte(body))
		if code := got.Trailer.Get("Grpc-Status"); got.Status < 400 && code != "12" && code != "3" {
			t.Errorf("%s: %d %v %v %s", other, got.Status, got.Header, got.Trailer, got.Body)
		}
	}
	w.Agent.Silent(t, "not gRPC")
}

// TestGRPCVerbatim: between two that speak the same, messages pass byte for byte,
// unknown fields and unusual order among them.
func TestGRPCVerbatim(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC03, proxytest.GRPC10), proxytest.WithTied)
	for _, s := range []wire.Side{proxytest.GRPC10, proxytest.GRPC03} {
		for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			m := proxytest.MethodOf(name)
			plain, err := wire.RequestMessage(m, s.Version, []byte(proxytest.Ask{Method: name}.Params(s)))
			proxytest.Must(t, err)
			sent := proxytest.UnknownFields + string(plain) + proxytest.UnknownFields
			task := proxytest.TaskIn(s, "t-"+name+string(s.Version), "c", "working", "")
			event, err := wire.ResponseMessage(m, s.Version, []byte(`{"task":`+task+`}`))
			proxytest.Must(t, err)
			said := proxytest.UnknownFields + string(event) + proxytest.UnknownFields
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
				rw.Header().Set("Content-Type", "application/grpc+proto")
				_, _ = io.WriteString(rw, proxytest.GRPCFrame(0, said))
				if m.Streams {
					_, _ = io.WriteString(rw, proxytest.GRPCFrame(0, said))
				}
				rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			})
			got := w.Dial("tied", m.RPC(s.Version), []byte(proxytest.GRPCFrame(0, sent)))
			want := proxytest.GRPCFrame(0, said)
			if m.Streams {
				want += want
			}
			if got.Body != want || got.Trailer.Get("Grpc-Status") != "0" {
				t.Errorf("%s %s: %q %v, want %q", s, name, got.Body, got.Trailer, want)
			}
			seen := w.Agent.One(t)
			if string(seen.Content) != proxytest.GRPCFrame(0, sent) || seen.URL.Path != m.RPC(s.Version) || seen.ProtoMajor != 2 {
				t.Errorf("%s %s: the agent got %s %q, want %q", s, name, seen.URL, seen.Content, proxytest.GRPCFrame(0, sent))
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
	w := proxytest.NewGatewayFor(t, func(base string) string {
		return proxytest.CardWith(base, proxytest.InterfaceOf(base, proxytest.GRPC10, "acme"))
	})
	sent := proxytest.UnknownFields + string(protobuf(t, proxytest.Hello())) + proxytest.UnknownFields
	got := w.Dial("alice", "/lf.a2a.v1.A2AService/SendMessage", []byte(proxytest.GRPCFrame(0, sent)))
	if got.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("%v %v", got.Header, got.Trailer)
	}
	c := w.Agent.One(t).Call()
	if c.Tenant != "acme" || strings.Contains(string(c.Message), "rec") || strings.Count(string(c.Message), proxytest.UnknownFields) != 2 {
		t.Errorf("the agent got %s in %q", c.Body, c.Message)
	}
}

// TestGRPCExtensions: asked for and told of as metadata.
func TestGRPCExtensions(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10, proxytest.RPC03), proxytest.WithTied)
	for _, agent := range []wire.Side{proxytest.GRPC10, proxytest.RPC03} {
		w.BecomeCard(proxytest.CardFor(agent))
		name := map[wire.Version]string{wire.V10: "A2a-Extensions", wire.V03: "X-A2a-Extensions"}[agent.Version]
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			if !slices.Equal(r.Header[name], []string{"urn:declared"}) {
				t.Errorf("%s: the agent got %v", agent, r.Header)
			}
			if agent == proxytest.GRPC10 {
				rw.Header().Set(http.TrailerPrefix+name, "urn:declared")
			} else {
				rw.Header().Set(name, "urn:declared")
			}
			proxytest.Fluent(rw, r)
		})
		var header metadata.MD
		_, err := a2apb.NewA2AServiceClient(w.GRPCClient()).SendMessage(
			w.As("alice", "a2a-extensions", "urn:declared, urn:else"), proxytest.Hello(), grpc.Header(&header))
		if err != nil || !slices.Equal(header.Get("a2a-extensions"), []string{"urn:declared"}) {
			t.Errorf("%s: %v %v", agent, header, err)
		}
	}
}

// TestGRPCHost: on a host of its own the agent needs no other name.
func TestGRPCHost(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10, proxytest.GRPC03), func(s *proxytest.Setup) { s.Agent.Hosts = []string{"rec.example"} })
	conn := w.GRPCClient(grpc.WithAuthority("rec.example"))
	nameless := proxytest.Hello()
	nameless.Tenant = ""
	sent, err := a2apb.NewA2AServiceClient(conn).SendMessage(w.As("alice"), nameless)
	if err != nil || sent.GetTask().GetId() == "" {
		t.Errorf("%v %v", sent, err)
	}
	got, err := a2apb03.NewA2AServiceClient(conn).GetTask(w.As("alice"), &a2apb03.GetTaskRequest{Name: "tasks/" + sent.GetTask().GetId()})
	if err != nil || got.GetId() != sent.GetTask().GetId() {
		t.Errorf("0.3: %v %v", got, err)
	}
	if _, err = a2apb.NewA2AServiceClient(conn).SendMessage(w.As("alice"), proxytest.Hello()); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a name is a tenant there: %v", err)
	}
	conn = w.GRPCClient(grpc.WithAuthority("else.example"))
	if _, err = a2apb.NewA2AServiceClient(conn).SendMessage(w.As("alice"), proxytest.Hello()); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a host that is not served: %v", err)
	}
}

func protobuf(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	proxytest.Must(t, err)
	return b
}

// fromAgent is a world in which a caller of 1.0 gRPC streams from an agent.
func fromAgent(t testing.TB, agent wire.Side, answers func(http.ResponseWriter, *proxytest.Request)) (*proxytest.Gateway, func() ([]*a2apb.StreamResponse, error)) {
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
	w.Agent.Answers(answers)
	client := a2apb.NewA2AServiceClient(w.GRPCClient())
	return w, func() ([]*a2apb.StreamResponse, error) {
		return proxytest.Received(client.SendStreamingMessage(w.As("alice"), proxytest.Hello()))
	}
}

// TestGRPCAgentFails: an agent that ends a stream badly, at its beginning, in its
// middle, and without a word.
func TestGRPCAgentFails(t *testing.T) {
	t.Parallel()
	two := func(rw http.ResponseWriter, r *proxytest.Request) {
		r.Event(rw, `{"task":`+proxytest.TaskIn(r.Side(), "t-"+r.Header.Get("X-Request-Id"), "", "working", "")+`}`)
		r.Event(rw, proxytest.StatusIn(r.Side(), "t-"+r.Header.Get("X-Request-Id"), "", "working", ""))
	}
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10))
	for what, tt := range map[string]struct {
		answers func(http.ResponseWriter, *proxytest.Request)
		stream  int
		code    codes.Code
		reason  string
	}{
		"refuses": {func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.TaskNotFound, "not here") }, 0, codes.NotFound, "TASK_NOT_FOUND"},
		"in the header only": {func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			rw.Header().Set("Grpc-Status", "8")
			rw.Header().Set("Grpc-Message", "slow%20down")
		}, 0, codes.ResourceExhausted, "RATE_LIMITED"},
		"after two events": {func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			failure.SetStatus(rw.Header(), wire.V10, wire.Errorf(wire.Unsupported, "no more"))
		}, 2, codes.FailedPrecondition, "UNSUPPORTED_OPERATION"},
		"no status": {func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"no number": {func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "fine")
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"dies": {func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			panic(http.ErrAbortHandler)
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"cut frame": {func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			two(rw, r)
			_, _ = io.WriteString(rw, proxytest.GRPCFrame(0, "xxxxx")[:7])
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}, 2, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"a proxy's page": {func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "text/html")
			rw.WriteHeader(http.StatusBadGateway)
		}, 0, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"a proxy's JSON": {func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(rw, `{"message":"no route"}`)
		}, 0, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"JSON instead": {func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, `{"task":{"id":"t","contextId":"c","status":{}}}`)
		}, 0, codes.Internal, "INVALID_AGENT_RESPONSE"},
		"busy": {func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}, 0, codes.Unavailable, "UNAVAILABLE"},
	} {
		w.Agent.Answers(tt.answers)
		for _, name := range []string{wire.SendStreamingMessage, wire.SendMessage} {
			m, what, want := proxytest.MethodOf(name), what+", "+name, tt.stream
			if !m.Streams {
				want = 0
			}
			got := w.HeardRPC(m, proxytest.GRPC10, w.Dial("alice", m.RPC(wire.V10), []byte(proxytest.GRPCFrame(0, string(protobuf(t, proxytest.Hello()))))))
			if got.Err == nil || got.Code != int(tt.code) || got.Err.Reason != tt.reason || len(got.Docs) != want {
				t.Errorf("%s: grpc-status %d, %v, %d messages", what, got.Code, got.Err, len(got.Docs))
			}
		}
	}
	for _, r := range w.Audited("call") {
		if r["decision"] != "error" {
			t.Errorf("recorded as %v: %v", r["decision"], r)
		}
	}
}

// TestGRPCAgentsError: what the agent's status says reaches the caller as it is.
func TestGRPCAgentsError(t *testing.T) {
	t.Parallel()
	w, stream := fromAgent(t, proxytest.GRPC10, nil)
	details := ""
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
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
		got := w.Dial("alice", "/lf.a2a.v1.A2AService/"+name, []byte(proxytest.GRPCFrame(0, string(protobuf(t, proxytest.Hello())))))
		if got.Trailer.Get("Grpc-Status-Details-Bin") != details || details == "" {
			t.Errorf("%s: %v, want %s", name, got.Trailer, details)
		}
	}
	for _, r := range w.Audited("call") {
		if r["decision"] != "error" {
			t.Errorf("recorded as %v: %v", r["decision"], r)
		}
	}
}

// TestGRPCStatusOfOthers: an error of a JSON agent's is a status to a gRPC caller.
func TestGRPCStatusOfOthers(t *testing.T) {
	t.Parallel()
	for _, s := range proxytest.Sides {
		_, stream := fromAgent(t, s, func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Unsupported, "not today") })
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
	for _, s := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(s))
		left := make(chan struct{})
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			if s.Binding == wire.GRPC {
				rw.Header().Set("Content-Type", "application/grpc")
			}
			id := cmp.Or(r.Call().TaskID, "t")
			r.Event(rw, proxytest.StatusIn(s, id, "c", "working", ""))
			<-r.Context().Done()
			close(left)
		})
		ctx, cancel := context.WithCancel(w.As("alice"))
		client, err := a2apb.NewA2AServiceClient(w.GRPCClient()).SendStreamingMessage(ctx, proxytest.Hello())
		proxytest.Must(t, err)
		if _, err = client.Recv(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		cancel()
		select {
		case <-left:
		case <-time.After(proxytest.Patience):
			t.Fatalf("%s: the agent still streams to nobody", s)
		}
	}
}
