package proxytest

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
)

// GRPCClient is a connection of grpc-go's to the gateway.
func (w *Gateway) GRPCClient(options ...grpc.DialOption) *grpc.ClientConn {
	w.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	c, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(w.URL, "http://"), options...)
	Must(w, err)
	w.Cleanup(func() { _ = c.Close() })
	return c
}

// As is the context of a call by a caller.
func (w *Gateway) As(who string, more ...string) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	w.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, append([]string{"x-api-key", w.Keys[who]}, more...)...)
}

// Hello is a send of one text, as the Go SDK of 1.0 writes it.
func Hello() *a2apb.SendMessageRequest {
	return &a2apb.SendMessageRequest{Tenant: "rec", Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "hi"}}},
	}}
}

// Received reads a stream to its end.
func Received[T any](s interface{ Recv() (*T, error) }, err error) (list []*T, last error) {
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

// GRPCFrame is a message of gRPC with a flag of its own.
func GRPCFrame(flag byte, message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))) + message
}

// UnknownFields are fields that no version of A2A has.
var UnknownFields = string(protowire.AppendString(protowire.AppendTag(nil, 900, protowire.BytesType), "kept")) +
	string(protowire.AppendVarint(protowire.AppendTag(nil, 901, protowire.VarintType), 1<<60))
