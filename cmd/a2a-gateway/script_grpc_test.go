package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	_ "github.com/a2aproject/a2a-go/a2apb" // registers the messages of 0.3
	_ "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	_ "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// rpcServices are A2A's services by version.
func rpcServices() map[string]string {
	return map[string]string{"1.0": "lf.a2a.v1.A2AService", "0.3": "a2a.v1.A2AService"}
}

// callGRPC makes a gRPC call with Google's client: grpc [flags] METHOD [MESSAGE].
// METHOD is A2A's, of the version that -v says, or SERVICE/METHOD; MESSAGE is the
// request as JSON. It prints each answer as JSON, and then the status.
func callGRPC(ts *testscript.TestScript, args []string) string {
	q, rest := flags(ts, args)
	if len(rest) == 0 || len(rest) > 2 {
		ts.Fatalf("usage: grpc [flags] METHOD [MESSAGE]")
	}
	name, ours := rest[0], !strings.Contains(rest[0], "/")
	if ours {
		name = rpcServices()[q.version] + "/" + name
	}
	method, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(name, "/", ".")))
	ts.Check(err)
	m, ok := method.(protoreflect.MethodDescriptor)
	if !ok {
		ts.Fatalf("%s is no method", name)
	}
	in := dynamicpb.NewMessage(m.Input())
	if len(rest) == 2 {
		ts.Check(protojson.Unmarshal([]byte(expandBraced(ts, rest[1])), in))
	}
	c := worldOf(ts).client
	if ours && c.w.gateway != nil {
		c.w.sent.Add(1)
	}
	conn, err := c.dial(ts, q)
	ts.Check(err)
	defer conn.Close() // every answer has been read
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(context.Background(), q.metadata(ts)), patience)
	defer cancel()
	return c.talk(ctx, conn, "/"+name, m, in)
}

// dial makes a connection of its own for each call.
func (c *client) dial(ts *testscript.TestScript, q *request) (*grpc.ClientConn, error) {
	u, err := url.Parse(ts.Getenv("GW"))
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if u.Scheme == "https" {
		transport = credentials.NewTLS(&tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12})
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(transport), grpc.WithNoProxy()}
	for _, line := range q.header {
		if host, ok := strings.CutPrefix(line, "Host:"); ok {
			options = append(options, grpc.WithAuthority(strings.TrimSpace(host)))
		}
	}
	return grpc.NewClient("passthrough:///"+u.Host, options...)
}

// metadata are the credential and the headers of a call.
func (q *request) metadata(ts *testscript.TestScript) metadata.MD {
	md := metadata.MD{}
	if q.as != "" {
		if secret := ts.Getenv(q.as); strings.HasPrefix(secret, "a2a_") {
			md.Set("x-api-key", secret)
		} else {
			md.Set("authorization", "Bearer "+secret)
		}
	}
	for _, line := range q.header {
		if name, value, _ := strings.Cut(line, ":"); name != "Host" {
			md.Append(name, strings.TrimSpace(value))
		}
	}
	return md
}

// talk sends one message and prints what comes, down to the status.
func (c *client) talk(
	ctx context.Context, conn *grpc.ClientConn, name string, m protoreflect.MethodDescriptor, in proto.Message,
) string {
	var out bytes.Buffer
	c.last = nil
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, name)
	if err == nil {
		err = errors.Join(stream.SendMsg(in), stream.CloseSend())
	}
	for err == nil {
		answer := dynamicpb.NewMessage(m.Output())
		if err = stream.RecvMsg(answer); err == nil {
			doc := document(answer, !m.IsStreamingServer())
			c.last = append(c.last, doc)
			_, _ = fmt.Fprintf(&out, "%s\n", doc)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s := status.Convert(err)
	_, _ = fmt.Fprintln(&out, strings.TrimSpace(s.Code().String()+" "+s.Message()))
	for _, d := range s.Proto().GetDetails() {
		_, _ = fmt.Fprintf(&out, "%s\n", document(d, false))
	}
	return c.w.steady(out.String())
}

// document is a message as JSON, whose spaces protojson varies on purpose.
func document(m proto.Message, indent bool) jsontext.Value {
	raw, err := protojson.Marshal(m)
	if err != nil {
		return jsontext.Value(err.Error())
	}
	v := jsontext.Value(slices.Clone(raw))
	if indent {
		_ = v.Indent(jsontext.WithIndent("  ")) // it is valid
	} else {
		_ = v.Compact()
	}
	return v
}
