package wire

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// errProtobuf cannot be: the message has been read before.
var errProtobuf = errors.New("the message is not protobuf")

// ReplaceTenant puts another tenant, or none, where a protobuf request message of
// version v names one: in the message itself and in a push notification config
// that comes with it. Everything else stays as it is, fields that nobody here
// knows among it.
//
// In 1.0 a tenant is what an interface of the card says (§4.4.6): A2A's word for multi-tenancy at
// one URL. At the gateway it names the agent, and the agent itself may want another one, or none.
//
//	/lf.a2a.v1.A2AService/GetTask   {tenant: "billing", id: "T"}
//	tenant "acme"                   {id: "T", tenant: "acme"}
//	tenant ""                       {id: "T"}
func ReplaceTenant(m *Method, v Version, message []byte, tenant string) ([]byte, error) {
	types, err := m.types(v)
	if err != nil {
		return nil, err
	}
	return replaceTenant(types.request.Descriptor(), message, tenant)
}

// replaceTenant copies the fields of one message but for the tenant, which goes to the end: the order
// of fields means nothing in protobuf.
func replaceTenant(d protoreflect.MessageDescriptor, in []byte, tenant string) ([]byte, error) {
	out := make([]byte, 0, len(in)+len(tenant))
	var named protowire.Number // the tenant's field, if it was there
	for len(in) > 0 {
		number, wireType, head := protowire.ConsumeTag(in)
		if head < 0 {
			return nil, errProtobuf
		}
		length := protowire.ConsumeFieldValue(number, wireType, in[head:])
		if length < 0 {
			return nil, errProtobuf
		}
		field, value := in[:head+length], in[head:head+length]
		in = in[head+length:]
		var name protoreflect.Name
		f := d.Fields().ByNumber(number)
		if f != nil && wireType == protowire.BytesType {
			name = f.Name()
		}
		switch name {
		case "tenant":
			named = number
			continue
		case "configuration", "task_push_notification_config":
			inner, _ := protowire.ConsumeBytes(value)
			inner, err := replaceTenant(f.Message(), inner, tenant)
			if err != nil {
				return nil, err
			}
			out = protowire.AppendTag(out, number, wireType)
			out = protowire.AppendBytes(out, inner)
		default:
			out = append(out, field...)
		}
	}
	if named != 0 && tenant != "" {
		out = protowire.AppendTag(out, named, protowire.BytesType)
		out = protowire.AppendString(out, tenant)
	}
	return out, nil
}
