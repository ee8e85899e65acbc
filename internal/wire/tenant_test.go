package wire_test

import (
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// unknownField is one that no version of A2A has.
func unknownField(message []byte) []byte {
	return protowire.AppendString(protowire.AppendTag(message, 1999, protowire.BytesType), "kept")
}

// TestReplaceTenant: the tenant goes, or gives way to another, in every place where
// a request has it; fields that nobody knows stay, in every message on the way.
func TestReplaceTenant(t *testing.T) {
	t.Parallel()
	send := func(tenant, pushTenant string) *a2apb.SendMessageRequest {
		push := &a2apb.TaskPushNotificationConfig{Tenant: pushTenant, Url: "https://hook.example"}
		push.ProtoReflect().SetUnknown(unknownField(nil))
		m := &a2apb.SendMessageRequest{
			Tenant:        tenant,
			Message:       &a2apb.Message{MessageId: "m"},
			Configuration: &a2apb.SendMessageConfiguration{TaskPushNotificationConfig: push},
		}
		m.ProtoReflect().SetUnknown(unknownField(nil))
		return m
	}
	tests := []struct {
		method   string
		in, want proto.Message
		tenant   string
	}{
		{"SendMessage", send("billing", "billing"), send("acme", "acme"), "acme"},
		{"SendMessage", send("billing", "billing"), send("", ""), ""},
		{"SendMessage", send("billing", ""), send("acme", ""), "acme"},
		{"SendMessage", send("", ""), send("", ""), "acme"},
		{"GetTask", &a2apb.GetTaskRequest{Tenant: "billing", Id: "t"}, &a2apb.GetTaskRequest{Tenant: "acme", Id: "t"}, "acme"},
		{
			"ListTaskPushNotificationConfigs",
			&a2apb.ListTaskPushNotificationConfigsRequest{Tenant: "billing", TaskId: "t"},
			&a2apb.ListTaskPushNotificationConfigsRequest{TaskId: "t"}, "",
		},
	}
	for _, tt := range tests {
		m, _ := wire.ByName(wire.V10, tt.method)
		in, err := proto.Marshal(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := wire.ReplaceTenant(m, wire.V10, in, tt.tenant)
		got := tt.want.ProtoReflect().New().Interface()
		if err == nil {
			err = proto.Unmarshal(out, got)
		}
		if err != nil || !proto.Equal(got, tt.want) {
			t.Errorf("%s, %q: %v %v, want %v", tt.method, tt.tenant, got, err, tt.want)
		}
	}
	m, _ := wire.ByName(wire.V10, "GetTask")
	for _, broken := range []string{"\x0a", "\x0a\x05x", "\xff"} {
		if out, err := wire.ReplaceTenant(m, wire.V10, []byte(broken), ""); err == nil {
			t.Errorf("%q gave %q", broken, out)
		}
	}
}
