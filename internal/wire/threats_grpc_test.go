package wire

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/a2aproject/a2a-go/a2apb"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

// spelling of one call in one version and binding.
type spelled struct {
	side    Side
	name    string        // JSON-RPC method, "POST /path" or RPC path
	body    string        // params or body
	message proto.Message // gRPC
}

// decode reads the call as its side's requests are read.
func (s spelled) decode(t *testing.T, header Version) (Call, *Error) {
	t.Helper()
	var c Call
	switch s.side.Binding {
	case JSONRPC:
		return c, c.DecodeJSONRPC([]byte(rpc(s.name, s.body)), header, Limits{})
	case HTTPJSON:
		return decodeRequest(t, s.name, s.body, header)
	}
	m, v, ok := ByRPC(s.name)
	if !ok || m == nil || v != s.side.Version {
		t.Fatalf("no RPC: %s", s.name)
	}
	return c, c.DecodeGRPC(m, v, pb(t, s.message), header, Limits{})
}

// policyView is all of a call that decides whether it is allowed.
type policyView struct {
	Method, Tenant, MessageID, TaskID, ContextID, ConfigID, Skill, PageToken string
	References, Extensions                                                   []string
	Push, Streaming                                                          bool
}

func viewed(c *Call) policyView {
	return policyView{
		c.Method.Name, c.Tenant, c.MessageID, c.TaskID, c.ContextID, c.ConfigID, c.Skill, c.PageToken,
		c.ReferenceTaskIDs, c.MessageExtensions, c.HasPushConfig, c.Streaming,
	}
}

const (
	skillMember = `"metadata":{"` + SkillSelection + `":"s"}`
	ids10       = `"messageId":"m","taskId":"t","contextId":"c","referenceTaskIds":["r"],"extensions":["urn:x"]`
)

// sends is a message with everything that policy looks at, with its webhook.
func sends(rpcName03, rpcName10, name03, path string) []spelled {
	message03 := &a2apb.SendMessageRequest{
		Metadata: selecting("s"),
		Request: &a2apb.Message{
			MessageId: "m", TaskId: "t", ContextId: "c", ReferenceTaskIds: []string{"r"}, Extensions: []string{"urn:x"},
		},
		Configuration: &a2apb.SendMessageConfiguration{PushNotification: &a2apb.PushNotificationConfig{Url: "u"}},
	}
	message10 := &a2apbv1.SendMessageRequest{
		Metadata: selecting("s"),
		Message: &a2apbv1.Message{
			MessageId: "m", TaskId: "t", ContextId: "c", ReferenceTaskIds: []string{"r"}, Extensions: []string{"urn:x"},
		},
		Configuration: &a2apbv1.SendMessageConfiguration{TaskPushNotificationConfig: &a2apbv1.TaskPushNotificationConfig{Url: "u"}},
	}
	body := func(push string) string {
		return `{"message":{` + ids10 + `},` + skillMember + `,"configuration":{"` + push + `":{"url":"u"}}}`
	}
	return []spelled{
		{Side{V03, JSONRPC}, name03, body("pushNotificationConfig"), nil},
		{Side{V10, JSONRPC}, rpcName10, body("taskPushNotificationConfig"), nil},
		{Side{V03, HTTPJSON}, "POST /v1" + path, body("pushNotification"), nil},
		{Side{V10, HTTPJSON}, "POST " + path, body("taskPushNotificationConfig"), nil},
		{Side{V03, GRPC}, service03 + rpcName03, "", message03},
		{Side{V10, GRPC}, service10 + rpcName10, "", message10},
	}
}

// TestA10_SameCall: one call in every version and binding that has it is the same
// call to policy, whether it says its version or not.
func TestA10_SameCall(t *testing.T) {
	t.Parallel()
	full := policyView{
		Method: SendMessage, MessageID: "m", TaskID: "t", ContextID: "c", Skill: "s",
		References: []string{"r"}, Extensions: []string{"urn:x"}, Push: true,
	}
	streamed := full
	streamed.Method, streamed.Streaming = SendStreamingMessage, true
	// 0.1 has fewer ids, and no place for the others.
	in01 := policyView{Method: SendMessage, TaskID: "t", ContextID: "c", Skill: "s", Push: true}
	const config = "tasks/t/pushNotificationConfigs/c"
	for _, tt := range []struct {
		want policyView
		as   []spelled
	}{
		{full, sends(SendMessage, SendMessage, "message/send", "/message:send")},
		{streamed, sends(SendStreamingMessage, SendStreamingMessage, "message/stream", "/message:stream")},
		{in01, []spelled{{Side{V01, JSONRPC}, "tasks/send", `{"id":"t","sessionId":"c","message":{},` + skillMember +
			`,"pushNotification":{"url":"u"}}`, nil}}},
		{policyView{Method: GetTask, TaskID: "t"}, []spelled{
			{Side{V01, JSONRPC}, "tasks/get", `{"id":"t"}`, nil},
			{Side{V03, JSONRPC}, "tasks/get", `{"id":"t"}`, nil},
			{Side{V10, JSONRPC}, "GetTask", `{"id":"t"}`, nil},
			{Side{V03, HTTPJSON}, "GET /v1/tasks/t", "", nil},
			{Side{V10, HTTPJSON}, "GET /tasks/t", "", nil},
			{Side{V03, GRPC}, service03 + "GetTask", "", &a2apb.GetTaskRequest{Name: "tasks/t"}},
			{Side{V10, GRPC}, service10 + "GetTask", "", &a2apbv1.GetTaskRequest{Id: "t"}},
		}},
		{policyView{Method: CancelTask, TaskID: "t"}, []spelled{
			{Side{V01, JSONRPC}, "tasks/cancel", `{"id":"t"}`, nil},
			{Side{V03, JSONRPC}, "tasks/cancel", `{"id":"t"}`, nil},
			{Side{V10, JSONRPC}, "CancelTask", `{"id":"t"}`, nil},
			{Side{V03, HTTPJSON}, "POST /v1/tasks/t:cancel", "", nil},
			{Side{V10, HTTPJSON}, "POST /tasks/t:cancel", "", nil},
			{Side{V03, GRPC}, service03 + "CancelTask", "", &a2apb.CancelTaskRequest{Name: "tasks/t"}},
			{Side{V10, GRPC}, service10 + "CancelTask", "", &a2apbv1.CancelTaskRequest{Id: "t"}},
		}},
		{policyView{Method: SubscribeToTask, TaskID: "t", Streaming: true}, []spelled{
			{Side{V01, JSONRPC}, "tasks/resubscribe", `{"id":"t","historyLength":1}`, nil},
			{Side{V03, JSONRPC}, "tasks/resubscribe", `{"id":"t"}`, nil},
			{Side{V10, JSONRPC}, "SubscribeToTask", `{"id":"t"}`, nil},
			{Side{V03, HTTPJSON}, "GET /v1/tasks/t:subscribe", "", nil},
			{Side{V10, HTTPJSON}, "POST /tasks/t:subscribe", "", nil},
			{Side{V03, GRPC}, service03 + "TaskSubscription", "", &a2apb.TaskSubscriptionRequest{Name: "tasks/t"}},
			{Side{V10, GRPC}, service10 + "SubscribeToTask", "", &a2apbv1.SubscribeToTaskRequest{Id: "t"}},
		}},
		{policyView{Method: ListTasks, ContextID: "c", PageToken: "p"}, []spelled{
			{Side{V10, JSONRPC}, "ListTasks", `{"contextId":"c","pageToken":"p"}`, nil},
			{Side{V10, HTTPJSON}, "GET /tasks?contextId=c&pageToken=p", "", nil},
			{Side{V10, GRPC}, service10 + "ListTasks", "", &a2apbv1.ListTasksRequest{ContextId: "c", PageToken: "p"}},
		}},
		{policyView{Method: CreatePushConfig, TaskID: "t", ConfigID: "c", Push: true}, []spelled{
			{Side{V03, JSONRPC}, "tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"id":"c"}}`, nil},
			{Side{V10, JSONRPC}, CreatePushConfig, `{"taskId":"t","id":"c"}`, nil},
			{Side{V03, HTTPJSON}, "POST /v1/tasks/t/pushNotificationConfigs", `{"config":{"name":"` + config + `"}}`, nil},
			{Side{V10, HTTPJSON}, "POST /tasks/t/pushNotificationConfigs", `{"id":"c"}`, nil},
			{Side{V03, GRPC}, service03 + CreatePushConfig, "", &a2apb.CreateTaskPushNotificationConfigRequest{Parent: "tasks/t", ConfigId: "c"}},
			{Side{V10, GRPC}, service10 + CreatePushConfig, "", &a2apbv1.TaskPushNotificationConfig{TaskId: "t", Id: "c"}},
		}},
		{policyView{Method: CreatePushConfig, TaskID: "t", Push: true}, []spelled{
			{Side{V01, JSONRPC}, "tasks/pushNotification/set", `{"id":"t","pushNotificationConfig":{}}`, nil},
		}},
		{policyView{Method: "GetTaskPushNotificationConfig", TaskID: "t", ConfigID: "c"}, []spelled{
			{Side{V03, JSONRPC}, "tasks/pushNotificationConfig/get", `{"id":"t","pushNotificationConfigId":"c"}`, nil},
			{Side{V10, JSONRPC}, "GetTaskPushNotificationConfig", `{"taskId":"t","id":"c"}`, nil},
			{Side{V03, HTTPJSON}, "GET /v1/" + config, "", nil},
			{Side{V10, HTTPJSON}, "GET /" + config, "", nil},
			{Side{V03, GRPC}, service03 + "GetTaskPushNotificationConfig", "", &a2apb.GetTaskPushNotificationConfigRequest{Name: config}},
			{Side{V10, GRPC}, service10 + "GetTaskPushNotificationConfig", "",
				&a2apbv1.GetTaskPushNotificationConfigRequest{TaskId: "t", Id: "c"}},
		}},
		{policyView{Method: "DeleteTaskPushNotificationConfig", TaskID: "t", ConfigID: "c"}, []spelled{
			{Side{V03, JSONRPC}, "tasks/pushNotificationConfig/delete", `{"id":"t","pushNotificationConfigId":"c"}`, nil},
			{Side{V10, JSONRPC}, "DeleteTaskPushNotificationConfig", `{"taskId":"t","id":"c"}`, nil},
			{Side{V03, HTTPJSON}, "DELETE /v1/" + config, "", nil},
			{Side{V10, HTTPJSON}, "DELETE /" + config, "", nil},
			{Side{V03, GRPC}, service03 + "DeleteTaskPushNotificationConfig", "",
				&a2apb.DeleteTaskPushNotificationConfigRequest{Name: config}},
			{Side{V10, GRPC}, service10 + "DeleteTaskPushNotificationConfig", "",
				&a2apbv1.DeleteTaskPushNotificationConfigRequest{TaskId: "t", Id: "c"}},
		}},
		{policyView{Method: "ListTaskPushNotificationConfigs", TaskID: "t"}, []spelled{
			{Side{V03, JSONRPC}, "tasks/pushNotificationConfig/list", `{"id":"t"}`, nil},
			{Side{V10, JSONRPC}, "ListTaskPushNotificationConfigs", `{"taskId":"t"}`, nil},
			{Side{V03, HTTPJSON}, "GET /v1/tasks/t/pushNotificationConfigs", "", nil},
			{Side{V10, HTTPJSON}, "GET /tasks/t/pushNotificationConfigs", "", nil},
			{Side{V03, GRPC}, service03 + "ListTaskPushNotificationConfig", "", &a2apb.ListTaskPushNotificationConfigRequest{Parent: "tasks/t"}},
			{Side{V10, GRPC}, service10 + "ListTaskPushNotificationConfigs", "", &a2apbv1.ListTaskPushNotificationConfigsRequest{TaskId: "t"}},
		}},
		{policyView{Method: GetExtendedAgentCard}, []spelled{
			{Side{V03, JSONRPC}, "agent/getAuthenticatedExtendedCard", `{}`, nil},
			{Side{V10, JSONRPC}, GetExtendedAgentCard, `{}`, nil},
			{Side{V03, HTTPJSON}, "GET /v1/card", "", nil},
			{Side{V10, HTTPJSON}, "GET /extendedAgentCard", "", nil},
			{Side{V03, GRPC}, service03 + "GetAgentCard", "", &a2apb.GetAgentCardRequest{}},
			{Side{V10, GRPC}, service10 + GetExtendedAgentCard, "", &a2apbv1.GetExtendedAgentCardRequest{}},
		}},
	} {
		for _, s := range tt.as {
			for _, header := range []Version{"", s.side.Version, V01, V03, V10} {
				c, e := s.decode(t, header)
				// What 0.1 and 0.3 share is whichever of them the header says.
				shared := s.side.Binding == JSONRPC && c.Method.V01 == c.Method.V03 && c.Method.V01 == s.name
				fits := header == "" || header == s.side.Version || shared && header != V10
				if !fits {
					if e == nil || e.Kind != VersionUnsupported {
						t.Errorf("%s %s with %q: %v", s.side, s.name, header, e)
					}
					continue
				}
				if e != nil {
					t.Errorf("%s %s with %q: %v", s.side, s.name, header, e)
					continue
				}
				if diff := cmp.Diff(tt.want, viewed(&c)); diff != "" {
					t.Errorf("%s %s with %q: %s", s.side, s.name, header, diff)
				}
				if c.Binding != s.side.Binding || header != "" && c.Version != header || !shared && c.Version != s.side.Version {
					t.Errorf("%s %s with %q is %s %s", s.side, s.name, header, c.Version, c.Binding)
				}
			}
		}
	}
}

// TestA10_GRPCVersion: the metadata key is the header, and follows its rules.
func TestA10_GRPCVersion(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]*Kind{"": nil, "1.0": nil, "1.0.1": nil, "0.3": VersionUnsupported, "9.9": VersionUnsupported} {
		h := http.Header{}
		h.Set("a2a-version", value)
		v, e := RequestVersion(h, url.Values{})
		if e == nil {
			m, service, _ := ByRPC(service10 + GetTask)
			var c Call
			e = c.DecodeGRPC(m, service, pb(t, &a2apbv1.GetTaskRequest{Id: "t"}), v, Limits{})
		}
		if (e == nil) != (want == nil) || e != nil && e.Kind != want {
			t.Errorf("%q: %v", value, e)
		}
	}
}
