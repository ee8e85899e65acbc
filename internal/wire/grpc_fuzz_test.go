package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/a2aproject/a2a-go/a2apb"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
)

// fuzzedRPCs are tried on every input.
var fuzzedRPCs = []string{
	service10 + SendMessage, service03 + SendMessage, service10 + CancelTask, service03 + CreatePushConfig, service10 + CreatePushConfig,
}

// FuzzDecodeGRPC: no bytes make the decoder panic; what it accepts is a document
// that means to the SDK's parser what it means to us, and the way back gives the
// same document again.
func FuzzDecodeGRPC(f *testing.F) {
	for _, m := range []proto.Message{
		&a2apbv1.SendMessageRequest{Tenant: "a", Metadata: selecting("s"), Message: &a2apbv1.Message{
			MessageId: "m", TaskId: "t", ContextId: "c", Parts: []*a2apbv1.Part{{Content: &a2apbv1.Part_Raw{Raw: []byte("x")}}},
		}},
		&a2apb.SendMessageRequest{Request: &a2apb.Message{TaskId: "t"}, Configuration: &a2apb.SendMessageConfiguration{
			PushNotification: &a2apb.PushNotificationConfig{Url: "u"},
		}},
		&a2apb.CreateTaskPushNotificationConfigRequest{Parent: "tasks/t", ConfigId: "c"},
		&a2apbv1.CancelTaskRequest{Id: "t", Metadata: selecting("s")},
	} {
		f.Add(pb(f, m))
	}
	f.Add([]byte(put(2, put(3, "a")) + put(2, put(3, ""))))
	f.Fuzz(func(t *testing.T, message []byte) {
		before := string(message)
		for _, path := range fuzzedRPCs {
			m, v, _ := ByRPC(path)
			var c Call
			if e := c.DecodeGRPC(m, v, message, "", Limits{}); e != nil {
				continue
			}
			checkAccepted(t, &c)
			checkAgainstSDK(t, &c)
			back, err := RequestMessage(m, v, c.Body)
			if err != nil {
				t.Fatalf("%s: %v", c.Body, err)
			}
			again := Call{}
			if e := again.DecodeGRPC(m, v, back, "", Limits{}); e != nil || !bytes.Equal(again.Body, c.Body) {
				t.Fatalf("%v: %s and back %s", e, c.Body, again.Body)
			}
		}
		if string(message) != before {
			t.Error("the message was changed")
		}
	})
}

// checkAgainstSDK reads the accepted bytes as a Go agent would and compares.
func checkAgainstSDK(t *testing.T, c *Call) {
	t.Helper()
	var task, context, tenant string
	switch c.Method.RPC(c.Version) {
	case service10 + SendMessage:
		var m a2apbv1.SendMessageRequest
		unmarshal(t, c.Message, &m)
		task, context, tenant = m.GetMessage().GetTaskId(), m.GetMessage().GetContextId(), m.GetTenant()
	case service03 + SendMessage:
		var m a2apb.SendMessageRequest
		unmarshal(t, c.Message, &m)
		task, context = m.GetRequest().GetTaskId(), m.GetRequest().GetContextId()
	case service10 + CancelTask:
		var m a2apbv1.CancelTaskRequest
		unmarshal(t, c.Message, &m)
		task, tenant = m.GetId(), m.GetTenant()
	case service10 + CreatePushConfig:
		var m a2apbv1.TaskPushNotificationConfig
		unmarshal(t, c.Message, &m)
		task, tenant = m.GetTaskId(), m.GetTenant()
	default:
		return // a name may be given as a bare id, which no SDK takes
	}
	if task != c.TaskID || context != c.ContextID || tenant != c.Tenant {
		t.Fatalf("an agent reads task %q, context %q, tenant %q; we %q, %q, %q",
			task, context, tenant, c.TaskID, c.ContextID, c.Tenant)
	}
}

func unmarshal(t *testing.T, b []byte, m proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
}

// FuzzResponseJSON: whatever an agent's message is turned into is strict JSON that
// ReadAnswer can be given.
func FuzzResponseJSON(f *testing.F) {
	f.Add(pb(f, &a2apbv1.StreamResponse{Payload: &a2apbv1.StreamResponse_StatusUpdate{StatusUpdate: &a2apbv1.TaskStatusUpdateEvent{
		TaskId: "t", Status: &a2apbv1.TaskStatus{State: a2apbv1.TaskState_TASK_STATE_WORKING},
	}}}))
	f.Add(pb(f, &a2apb.SendMessageResponse{Payload: &a2apb.SendMessageResponse_Task{Task: &a2apb.Task{Id: "t", Metadata: selecting("x")}}}))
	f.Add(pb(f, &a2apbv1.AgentCard{Name: "n", SecuritySchemes: map[string]*a2apbv1.SecurityScheme{"a": nil}}))
	f.Fuzz(func(t *testing.T, message []byte) {
		for i := range methods {
			m := &methods[i]
			for _, v := range []Version{V10, V03} {
				doc, err := ResponseJSON(m, v, message)
				if err != nil {
					continue
				}
				if !jsontext.Value(doc).IsValid() {
					t.Fatalf("%s: %s", m.Name, doc)
				}
				if _, err := ReadAnswer(GRPC, v, m, doc, Limits{}); err != nil {
					var e *Error
					if !errors.As(err, &e) || e.Kind != BadAgentResponse {
						t.Fatal(err)
					}
				}
				if _, err := ResponseMessage(m, v, doc); err != nil {
					t.Fatalf("%s: %v", doc, err)
				}
			}
		}
	})
}
