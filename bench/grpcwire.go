package main

import (
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// grpcService is where the paths of A2A's methods begin.
const grpcService = "/lf.a2a.v1.A2AService/"

// rawCodec passes messages as the bytes that they are, so that neither side spends anything on reading them.
type rawCodec struct{}

// frame is a message that is passed on, in the buffers that it came in.
type frame struct{ data mem.BufferSlice }

// Name implements encoding.CodecV2. It is part of the content type.
func (rawCodec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2. What was the frame's is gRPC's to free.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case *frame:
		return v.data, nil
	case []byte:
		return mem.BufferSlice{mem.SliceBuffer(v)}, nil
	}
	return nil, fmt.Errorf("no bytes: %T", v)
}

// Unmarshal implements encoding.CodecV2.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *frame:
		data.Ref() // until it has been sent
		v.data = data
	case *[]byte:
		*v = data.Materialize()
	default:
		return fmt.Errorf("no place for bytes: %T", v)
	}
	return nil
}

// asProto is a document of A2A in the bytes that it has over gRPC.
func asProto(document string, m proto.Message) ([]byte, error) {
	if err := protojson.Unmarshal([]byte(document), m); err != nil {
		return nil, err
	}
	return proto.Marshal(m)
}

// grpcCall is a call with a text, for an agent that the tenant names; "" where there is only one.
func grpcCall(tenant, text string) ([]byte, error) {
	return asProto(`{"tenant":"`+tenant+`","message":{"messageId":"m-1","contextId":"bench","role":"ROLE_USER","parts":[{"text":"`+text+
		`"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}`, new(a2apb.SendMessageRequest))
}

// grpcText is that of a call.
func grpcText(call []byte) (string, error) {
	m := new(a2apb.SendMessageRequest)
	if err := proto.Unmarshal(call, m); err != nil {
		return "", err
	}
	parts := m.GetMessage().GetParts()
	if len(parts) == 0 {
		return "", fmt.Errorf("a call without parts")
	}
	return parts[0].GetText(), nil
}

// wholeRPC says what is wrong with a stream that has ended, as whole does.
func wholeRPC(last []byte, pieces int) error {
	m := new(a2apb.StreamResponse)
	if err := proto.Unmarshal(last, m); err != nil {
		return err
	}
	document, err := protojson.MarshalOptions{}.Marshal(m)
	if err != nil {
		return err
	}
	return whole(document, pieces)
}
