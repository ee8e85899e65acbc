//go:build !minimal

package pdp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"github.com/google/go-cmp/cmp"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	grpcmetadata "google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// service is an ext_authz service on loopback.
type service struct {
	auth.UnimplementedAuthorizationServer

	url    string
	answer func(context.Context, *auth.CheckRequest) (*auth.CheckResponse, error)

	mu       sync.Mutex
	requests []*auth.CheckRequest
	tokens   []string
}

func (s *service) Check(ctx context.Context, r *auth.CheckRequest) (*auth.CheckResponse, error) {
	md, _ := grpcmetadata.FromIncomingContext(ctx)
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.tokens = append(s.tokens, strings.Join(md.Get("authorization"), ","))
	s.mu.Unlock()
	return s.answer(ctx, r)
}

func always(r *auth.CheckResponse, err error) func(context.Context, *auth.CheckRequest) (*auth.CheckResponse, error) {
	return func(context.Context, *auth.CheckRequest) (*auth.CheckResponse, error) { return r, err }
}

// newService starts a service; over TLS where there is a configuration for it.
func newService(t testing.TB, c *tls.Config, answer func(context.Context, *auth.CheckRequest) (*auth.CheckResponse, error)) *service {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var options []grpc.ServerOption
	s := &service{answer: answer, url: "grpc://" + l.Addr().String()}
	if c != nil {
		s.url = "grpcs://" + l.Addr().String()
		options = append(options, grpc.Creds(credentials.NewTLS(c)))
	}
	server := grpc.NewServer(options...)
	auth.RegisterAuthorizationServer(server, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return s
}

func (s *service) authorizer() Authorizer {
	return Authorizer{Name: "envoy", Kind: kindExtAuthz, URL: secret.URL(s.url), Timeout: quantity.Duration(10 * time.Second)}
}

func code(c codes.Code, message string) *auth.CheckResponse {
	return &auth.CheckResponse{Status: &rpcstatus.Status{Code: int32(c), Message: message}}
}

// TestCheckRequest: what a service sees of a call.
func TestCheckRequest(t *testing.T) {
	t.Parallel()
	s := newService(t, nil, always(code(codes.OK, ""), nil))
	a := s.authorizer()
	a.Token, a.Claims, a.Message = secret.New("s3cret"), []string{"department"}, true
	q := newQuestion(t)
	if notes, err := ask(t, newPanel(t, a), q); err != nil || notes != nil {
		t.Fatal(notes, err)
	}
	got := s.requests[0].GetAttributes()
	if err := s.requests[0].ValidateAll(); err != nil {
		t.Error(err)
	}
	if s.tokens[0] != "Bearer s3cret" {
		t.Errorf("the token is %q", s.tokens[0])
	}
	http := got.GetRequest().GetHttp()
	seen := map[string]any{
		"principal": got.GetSource().GetPrincipal(), "address": got.GetSource().GetAddress().GetSocketAddress().GetAddress(),
		"service": got.GetDestination().GetService(), "id": http.GetId(), "verb": http.GetMethod(), "host": http.GetHost(),
		"path": http.GetPath(), "size": http.GetSize(), "headers": len(http.GetHeaders()) + len(http.GetBody()),
		"time": got.GetRequest().GetTime().AsTime(), "extensions": got.GetContextExtensions(),
	}
	want := map[string]any{
		"principal": "alice", "address": "192.0.2.7", "service": "billing", "id": "req-1", "verb": "POST",
		"host": "gateway.example", "path": "/agents/billing", "size": int64(-1), "headers": 0, "time": q.Now,
		"extensions": map[string]string{
			"a2a.gateway": "gw-1", "a2a.agent": "billing", "a2a.skill": "refund", "a2a.method": "SendMessage",
			"a2a.binding": "JSONRPC", "a2a.version": "1.0", "a2a.task": "task-1", "a2a.context": "context-1",
			"a2a.principal": "alice", "a2a.issuer": "https://idp.example",
		},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	whole := got.GetMetadataContext().GetFilterMetadata()["a2a"].AsMap()
	for path, want := range map[string]any{
		"subject/properties/claims": map[string]any{"department": "accounts"},
		"resource/id":               "billing/refund",
		"context/time":              "2026-10-26T09:30:00.25Z",
		"context/message/metadata":  map[string]any{"cost-centre": map[string]any{"code": "4711"}},
	} {
		if diff := cmp.Diff(want, pointer(whole, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if text := s.requests[0].String(); strings.Contains(text, "secret text") || strings.Contains(text, "kid-7") {
		t.Errorf("the request is %s", text)
	}
}

// TestCheckRequestBare: what is not known is left out, and several skills are listed.
func TestCheckRequestBare(t *testing.T) {
	t.Parallel()
	s := newService(t, nil, always(code(codes.OK, ""), nil))
	q := newQuestion(t)
	q.Skill, q.Skills, q.TaskID, q.ContextID, q.RequestID = "", []string{"refund", "invoice"}, "", "", "a\nb"
	q.Source, q.Path = q.Source.Unmap().Prev().Next(), "/agents/billing/\xff"
	if _, err := ask(t, newPanel(t, s.authorizer()), q); err != nil {
		t.Fatal(err)
	}
	got := s.requests[0].GetAttributes()
	for _, name := range []string{"a2a.skill", "a2a.task", "a2a.context"} {
		if value, ok := got.GetContextExtensions()[name]; ok {
			t.Errorf("%s is %q", name, value)
		}
	}
	if http := got.GetRequest().GetHttp(); http.GetId() != "" || http.GetPath() != "/agents/billing/%FF" {
		t.Errorf("got %s", http)
	}
	whole := got.GetMetadataContext().GetFilterMetadata()["a2a"].AsMap()
	if diff := cmp.Diff([]any{"refund", "invoice"}, pointer(whole, "resource/properties/skills")); diff != "" {
		t.Error(diff)
	}
}

func TestCheckResponse(t *testing.T) {
	t.Parallel()
	header := []*core.HeaderValueOption{{Header: &core.HeaderValue{Key: "x-user", Value: "alice"}}}
	denied := &auth.CheckResponse_DeniedResponse{DeniedResponse: &auth.DeniedHttpResponse{Body: "no"}}
	okay := &auth.CheckResponse_OkResponse{OkResponse: &auth.OkHttpResponse{Headers: header}}
	failed := &auth.CheckResponse_ErrorResponse{ErrorResponse: &auth.DeniedHttpResponse{Body: "database"}}
	with := func(c *auth.CheckResponse, change func(*auth.CheckResponse)) *auth.CheckResponse {
		change(c)
		return c
	}
	for name, test := range map[string]struct {
		answer *auth.CheckResponse
		err    error
		want   string // "allow", "deny: …" with what the authorizer said, "fail" or "never"
	}{
		"OK":               {code(codes.OK, "fine"), nil, "allow"},
		"OK with headers":  {with(code(codes.OK, ""), func(r *auth.CheckResponse) { r.HttpResponse = okay }), nil, "allow"},
		"denied":           {code(codes.PermissionDenied, "not\nyou"), nil, "deny: PermissionDenied: not you"},
		"denied, no words": {code(codes.Unauthenticated, ""), nil, "deny: Unauthenticated"},
		"unknown status":   {code(77, "?"), nil, "deny: Code(77): ?"},
		"denied with OK":   {with(code(codes.Aborted, ""), func(r *auth.CheckResponse) { r.HttpResponse = okay }), nil, "deny: Aborted"},
		"denial":           {with(code(codes.PermissionDenied, ""), func(r *auth.CheckResponse) { r.HttpResponse = denied }), nil, "deny: PermissionDenied"},
		"OK and denial":    {with(code(codes.OK, ""), func(r *auth.CheckResponse) { r.HttpResponse = denied }), nil, "fail"},
		"OK and error":     {with(code(codes.OK, ""), func(r *auth.CheckResponse) { r.HttpResponse = failed }), nil, "fail"},
		"denied and error": {with(code(codes.PermissionDenied, ""), func(r *auth.CheckResponse) { r.HttpResponse = failed }), nil, "fail"},
		"nothing":          {&auth.CheckResponse{}, nil, "fail"},
		"too large": {with(code(codes.OK, ""), func(r *auth.CheckResponse) {
			r.DynamicMetadata = &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue(strings.Repeat("a", maxAnswer))}}
		}), nil, "fail"},
		"unavailable":       {nil, grpcstatus.Error(codes.Unavailable, "down"), "fail"},
		"unimplemented":     {nil, grpcstatus.Error(codes.Unimplemented, "what"), "fail"},
		"unauthenticated":   {nil, grpcstatus.Error(codes.Unauthenticated, "token"), "fail"},
		"permission denied": {nil, grpcstatus.Error(codes.PermissionDenied, "no"), "never"},
		"invalid":           {nil, grpcstatus.Error(codes.InvalidArgument, "what"), "never"},
		"out of range":      {nil, grpcstatus.Error(codes.OutOfRange, "what"), "never"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, nil, always(test.answer, test.err))
			for _, onFailure := range []string{failDeny, failAllow} {
				a := s.authorizer()
				a.OnFailure = onFailure
				notes, err := ask(t, newPanel(t, a), newQuestion(t))
				var refused *Refused
				errors.As(err, &refused)
				got := "allow"
				switch {
				case refused != nil && refused.Err == nil:
					got = "deny: " + refused.Reason
				case refused != nil && onFailure == failAllow:
					got = "never"
				case refused != nil, len(notes) == 1:
					got = "fail"
				}
				if got != test.want && (test.want != "never" || onFailure == failAllow) {
					t.Errorf("onFailure %s: got %s (%v), want %s", onFailure, got, err, test.want)
				}
			}
		})
	}
}

// TestIgnored: wishes for changed calls are logged once and not fulfilled.
func TestIgnored(t *testing.T) {
	t.Parallel()
	answer := code(codes.OK, "")
	answer.HttpResponse = &auth.CheckResponse_OkResponse{OkResponse: &auth.OkHttpResponse{HeadersToRemove: []string{"via"}}}
	s := newService(t, nil, always(answer, nil))
	var set setup
	panel := set.panel(t, s.authorizer())
	for range 3 {
		if notes, err := ask(t, panel, newQuestion(t)); err != nil || notes != nil {
			t.Fatal(notes, err)
		}
	}
	if log := set.log.String(); strings.Count(log, "not done") != 1 || !strings.Contains(log, "authorizer=envoy") {
		t.Errorf("the log says %q", log)
	}
}
