//go:build !minimal

package pdp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"github.com/go-json-experiment/json"
	"golang.org/x/net/http/httpguts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	grpcmetadata "google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

var _ = feature.Register(feature.ExtAuthz)

// extAuthz asks a service by Envoy's ext_authz v3 (envoy.service.auth.v3.Authorization).
// One connection serves all questions: HTTP/2 carries them side by side.
type extAuthz struct {
	conn    *grpc.ClientConn
	service auth.AuthorizationClient
	token   string // bearer token; "" for none
	log     *slog.Logger
	once    sync.Once // the log says what is ignored
}

// newExtAuthz connects to nobody yet.
func newExtAuthz(c *Authorizer, files *tls.Config, egress *tunnel.Proxy, log *slog.Logger) (*extAuthz, error) {
	u, err := c.URL.Parse()
	if err != nil {
		return nil, errors.New("url: not a URL")
	}
	// A service elsewhere is only ever reached over TLS, since it is told who calls.
	transport := credentials.NewTLS(files)
	if _, plain := schemes(kindExtAuthz); u.Scheme == plain {
		transport = insecure.NewCredentials() // on this machine alone: see checkURL
	}
	conn, err := grpc.NewClient("dns:///"+hostPort(u), append(egress.GRPC(dialTimeout),
		grpc.WithTransportCredentials(transport),
		grpc.WithDisableServiceConfig(), // a DNS record must not decide how there is decided
		grpc.WithDisableRetry(),
		grpc.WithUserAgent("a2a-gateway"),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithMaxHeaderListSize(maxAnswer),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: dialTimeout,
		}),
	)...)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	return &extAuthz{conn: conn, service: auth.NewAuthorizationClient(conn), token: c.Token.Reveal(), log: log}, nil
}

// close ends the connection, and with it the questions that are being asked.
func (e *extAuthz) close() { _ = e.conn.Close() }

// decide implements decider.
// The token goes along as metadata of the RPC, as a header does in HTTP.
func (e *extAuthz) decide(ctx context.Context, in *inquiry) (verdict, error) {
	attributes, err := in.attributes()
	if err != nil {
		return verdict{}, &final{fmt.Errorf("the question cannot be written: %w", err)}
	}
	if e.token != "" {
		ctx = grpcmetadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+e.token)
	}
	answer, err := e.service.Check(ctx, &auth.CheckRequest{Attributes: attributes})
	if err != nil {
		code := grpcstatus.Code(err)
		// Only a connection that is not up makes it the network's affair. A service that says
		// Unavailable itself was there, and may have been made to say so by the question.
		if err = undecided(err); code == codes.Unavailable && e.conn.GetState() != connectivity.Ready {
			err = &away{err}
		}
		return verdict{}, err
	}
	return e.read(answer)
}

// undecided describes an RPC that failed. That the service does not take the question,
// or says no where it should not be said, is not passed over.
func undecided(err error) error {
	s := grpcstatus.Convert(err)
	err = fmt.Errorf("the RPC failed: %s: %s", s.Code(), printable(s.Message()))
	switch s.Code() {
	case codes.InvalidArgument, codes.OutOfRange, codes.PermissionDenied:
		return &final{err}
	// The error of the context is wrapped, for over to find.
	case codes.DeadlineExceeded:
		return fmt.Errorf("%w (%w)", err, context.DeadlineExceeded)
	}
	return err
}

// read takes OK for yes and every other status for no. A status that is not there, or
// does not go with the response, is neither.
func (e *extAuthz) read(answer *auth.CheckResponse) (verdict, error) {
	// A missing status is 0 in protobuf, which is OK: it must not be taken for a yes.
	if answer.GetStatus() == nil {
		return verdict{}, errors.New("its answer has no status")
	}
	code := codes.Code(answer.GetStatus().GetCode()) //nolint:gosec // as protobuf has it; other numbers are no OK
	switch response := answer.GetHttpResponse().(type) {
	case *auth.CheckResponse_ErrorResponse:
		return verdict{}, fmt.Errorf("it could not decide: %s", printable(response.ErrorResponse.GetBody()))
	case *auth.CheckResponse_DeniedResponse:
		if code == codes.OK {
			return verdict{}, errors.New("its answer has the status OK and a response that denies")
		}
	case *auth.CheckResponse_OkResponse:
		e.ignore(response.OkResponse)
	}
	if code == codes.OK {
		return verdict{allow: true}, nil
	}
	said := printable(answer.GetStatus().GetMessage())
	return verdict{reason: strings.TrimSuffix(code.String()+": "+said, ": ")}, nil
}

// ignore says once that the service wants calls changed, which authorizers cannot do:
// what reaches an agent is the configuration's to say.
func (e *extAuthz) ignore(r *auth.OkHttpResponse) {
	if len(r.GetHeaders())+len(r.GetHeadersToRemove())+len(r.GetResponseHeadersToAdd())+
		len(r.GetQueryParametersToSet())+len(r.GetQueryParametersToRemove()) > 0 {
		e.once.Do(func() {
			e.log.Warn("the authorizer wants headers or parameters of calls changed, which is not done")
		})
	}
}

// attributes is the question in Envoy's words. All of it is in the metadata "a2a" too, in
// the form that AuthZEN gives it.
func (in *inquiry) attributes() (*auth.AttributeContext, error) {
	text, err := json.Marshal(evaluation{in.subject, in.action, in.resource, in.now()})
	if err != nil {
		return nil, err
	}
	whole := new(structpb.Struct)
	if err := whole.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	q := in.q
	circumstances := whole.GetFields()["context"].GetStructValue().GetFields()
	source := &auth.AttributeContext_Peer{Principal: q.Principal.Subject}
	if q.Source.IsValid() {
		source.Address = &core.Address{Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{
			Address: q.Source.String(), PortSpecifier: &core.SocketAddress_PortValue{},
		}}}
	}
	// Of the request there is neither body nor headers, where credentials are. -1 is a size
	// that is not told.
	request := &auth.AttributeContext_HttpRequest{
		Method: q.Verb, Host: q.Host, Path: circumstances["path"].GetStringValue(), Size: -1,
	}
	// Strings of protobuf are UTF-8, and the id may be the caller's own.
	if httpguts.ValidHeaderFieldValue(q.RequestID) && strings.ToValidUTF8(q.RequestID, "") == q.RequestID {
		request.Id = q.RequestID
	}
	return &auth.AttributeContext{
		Source:            source,
		Destination:       &auth.AttributeContext_Peer{Service: q.Agent},
		Request:           &auth.AttributeContext_Request{Time: timestamppb.New(q.Now), Http: request},
		ContextExtensions: in.extensions(circumstances["gateway"].GetStringValue()),
		MetadataContext:   &core.Metadata{FilterMetadata: map[string]*structpb.Struct{"a2a": whole}},
	}, nil
}

// extensions are the facts that are one word each. One that is not known is not there.
// The gateway is its id in server.id.
func (in *inquiry) extensions(gateway string) map[string]string {
	q := in.q
	// For policies that are written for Envoy, which read context_extensions and no metadata.
	facts := map[string]string{
		"a2a.gateway": gateway, "a2a.agent": q.Agent, "a2a.method": q.Method.Name,
		"a2a.binding": q.Binding.String(), "a2a.version": string(q.Version),
		"a2a.task": q.TaskID, "a2a.context": q.ContextID,
		"a2a.principal": q.Principal.Subject, "a2a.issuer": q.Principal.Issuer,
	}
	if len(in.skills) == 1 {
		facts["a2a.skill"] = in.skills[0]
	}
	for name, value := range facts {
		if value == "" {
			delete(facts, name)
		}
	}
	return facts
}
