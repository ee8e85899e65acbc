package wire

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/a2aproject/a2a-go/a2apb"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/transcode"
)

// On gRPC everything is read, checked and translated as the ProtoJSON of the
// messages, which is what HTTP+JSON sends in the same version; this file transcodes
// one to the other. What a document has and the proto has not is lost on the
// way, which is the nature of gRPC; messages that go to an agent of the same
// version are not taken apart at all but sent on as they came.

// rpcTypes are the messages of one RPC; the response of a streaming one is one
// event.
type rpcTypes struct {
	request, response messageType
}

// messageType is a type, and what writes documents of it. Messages are made of documents through the
// type, by reflection, since protojson reads whatever people and SDKs write: names in both forms, numbers
// as texts, enums by number.
type messageType struct {
	protoreflect.MessageType
	documents *transcode.Message
}

// rpcOf is an operation in a version.
type rpcOf struct {
	name    string
	version Version
}

// typesOf finds the messages of an operation's RPC. They are made on first use, so that a gateway without
// gRPC does not pay for them.
var typesOf = sync.OnceValues(func() (map[rpcOf]rpcTypes, error) {
	file03, err := file03()
	if err != nil {
		return nil, err
	}
	index := make(map[rpcOf]rpcTypes, 2*len(methods))
	for _, file := range []protoreflect.FileDescriptor{a2apbv1.File_a2av1_proto, file03} {
		service, table := file.Services().ByName("A2AService"), transcode.Table{}
		for i := range service.Methods().Len() {
			rpc := service.Methods().Get(i)
			m, v, _ := ByRPC("/" + string(service.FullName()) + "/" + string(rpc.Name()))
			if m == nil {
				continue
			}
			request, err := typeOf(file, rpc.Input(), table)
			if err != nil {
				return nil, err
			}
			response, err := typeOf(file, rpc.Output(), table)
			if err != nil {
				return nil, err
			}
			index[rpcOf{m.Name, v}] = rpcTypes{request, response}
		}
	}
	return index, nil
})

// typeOf prefers a generated type, which is several times as fast.
func typeOf(file protoreflect.FileDescriptor, d protoreflect.MessageDescriptor, table transcode.Table) (messageType, error) {
	documents, err := table.Message(d)
	if err != nil {
		return messageType{}, err
	}
	generated, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err == nil && (file == a2apbv1.File_a2av1_proto || d.ParentFile() != file) {
		return messageType{generated, documents}, nil
	}
	return messageType{dynamicpb.NewMessageType(d), documents}, nil
}

// file03 is the SDK's proto of 0.3 with the JSON name that the specification and
// every other implementation have for the parts of a message: "content". Under its
// own name, "parts", the SDK's would be lost in HTTP+JSON, and the other way
// round. Parsers of ProtoJSON still take "parts", as the field's proto name.
//
//	0.3 §6.4, ProtoJSON of a2a.v1   {"message":{"content":[{"text":"hi"}]}}
//	a2a-go's proto of the same      {"message":{"parts":[{"text":"hi"}]}}
func file03() (protoreflect.FileDescriptor, error) {
	file := protodesc.ToFileDescriptorProto(a2apb.File_a2a_proto)
	for _, m := range file.GetMessageType() {
		for _, f := range m.GetField() {
			if m.GetName() == "Message" && f.GetName() == "parts" {
				f.JsonName = proto.String("content")
			}
		}
	}
	built, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		return nil, fmt.Errorf("build the messages of A2A 0.3: %w", err)
	}
	return built, nil
}

// types are the messages of the method's RPC in a version.
func (m *Method) types(v Version) (rpcTypes, error) {
	index, err := typesOf()
	if err != nil {
		return rpcTypes{}, err
	}
	t, ok := index[rpcOf{m.Name, v}]
	if !ok || m.Extension != "" {
		return rpcTypes{}, fmt.Errorf("A2A %s has no RPC for %s", v, m.Name)
	}
	return t, nil
}

// RequestFields are the fields of the protobuf message that a version's RPC of the method takes.
func (m *Method) RequestFields(v Version) (protoreflect.FieldDescriptors, error) {
	t, err := m.types(v)
	if err != nil {
		return nil, err
	}
	return t.request.Descriptor().Fields(), nil
}

// RequestMessage turns the ProtoJSON document of a request into its protobuf
// message. Members that the proto does not have are left out. An empty document
// and null are the empty message.
//
//	GetTask, V10, {"id":"T"}   0a 01 54
func RequestMessage(m *Method, v Version, doc []byte) ([]byte, error) {
	t, err := m.types(v)
	if err != nil {
		return nil, err
	}
	return messageOf(t.request, doc)
}

// ResponseMessage is RequestMessage for an answer, or for one event of a stream.
func ResponseMessage(m *Method, v Version, doc []byte) ([]byte, error) {
	t, err := m.types(v)
	if err != nil {
		return nil, err
	}
	return messageOf(t.response, doc)
}

// ResponseJSON turns the protobuf message of an answer, or of one event of a
// stream, into its ProtoJSON document. It refuses what parsers would not read
// alike, as DecodeGRPC does for requests. Of what an extension's RPC answers nothing is
// known, and the document is nil.
//
// The document is what ReadAnswer, the translation and the audit record read; to a caller of the same
// side the message goes as it came.
func ResponseJSON(m *Method, v Version, message []byte) ([]byte, error) {
	if m.Extension != "" {
		return nil, nil
	}
	t, err := m.types(v)
	if err != nil {
		return nil, err
	}
	return documentOf(t.response, message, Limits{})
}

// messageOf writes a document as protobuf. Required fields do not exist in proto3, and members that
// the proto does not have are dropped, as every parser of ProtoJSON may do.
//
// Deterministic keeps map entries in order, so that one document always gives the same bytes: webhooks
// and tests compare them.
func messageOf(t messageType, doc []byte) ([]byte, error) {
	if trimmed := bytes.TrimSpace(doc); len(trimmed) == 0 || string(trimmed) == "null" {
		return []byte{}, nil
	}
	message := t.New().Interface()
	options := protojson.UnmarshalOptions{AllowPartial: true, DiscardUnknown: true}
	if err := options.Unmarshal(jsonscan.Mend(doc), message); err != nil {
		return nil, fmt.Errorf("read ProtoJSON: %w", err)
	}
	b, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("write protobuf: %w", err)
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// documentOf writes a message as its ProtoJSON document, after checkMessage has found that everybody
// reads it alike.
//
// An event of a stream is one: what it costs is what each event of a gRPC agent costs.
func documentOf(t messageType, b []byte, lim Limits) ([]byte, error) {
	if err := checkMessage(t.Descriptor(), b, lim.withDefaults()); err != nil {
		return nil, err
	}
	doc, err := t.documents.Append(make([]byte, 0, len(b)+len(b)/2+documentRoom), b)
	if err != nil {
		return nil, fmt.Errorf("write ProtoJSON: %w", err)
	}
	return doc, nil
}

// documentRoom is what the names of members take in a usual document, in bytes, beyond half of the message.
const documentRoom = 256
