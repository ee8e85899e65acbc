package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// overGRPC is A2A 1.0 §10.
type overGRPC struct {
	conn   *grpc.ClientConn
	tenant string
}

const service = "/lf.a2a.v1.A2AService/"

// rpcs are the methods of the service, with the messages that each takes and
// gives.
var rpcs = map[string][2]proto.Message{
	"SendMessage":                      {new(a2apb.SendMessageRequest), new(a2apb.SendMessageResponse)},
	"SendStreamingMessage":             {new(a2apb.SendMessageRequest), new(a2apb.StreamResponse)},
	"GetTask":                          {new(a2apb.GetTaskRequest), new(a2apb.Task)},
	"ListTasks":                        {new(a2apb.ListTasksRequest), new(a2apb.ListTasksResponse)},
	"CancelTask":                       {new(a2apb.CancelTaskRequest), new(a2apb.Task)},
	"SubscribeToTask":                  {new(a2apb.SubscribeToTaskRequest), new(a2apb.StreamResponse)},
	"CreateTaskPushNotificationConfig": {new(a2apb.TaskPushNotificationConfig), new(a2apb.TaskPushNotificationConfig)},
	"GetTaskPushNotificationConfig": {
		new(a2apb.GetTaskPushNotificationConfigRequest), new(a2apb.TaskPushNotificationConfig),
	},
	"ListTaskPushNotificationConfigs": {
		new(a2apb.ListTaskPushNotificationConfigsRequest), new(a2apb.ListTaskPushNotificationConfigsResponse),
	},
	"DeleteTaskPushNotificationConfig": {new(a2apb.DeleteTaskPushNotificationConfigRequest), new(emptypb.Empty)},
	"GetExtendedAgentCard":             {new(a2apb.GetExtendedAgentCardRequest), new(a2apb.AgentCard)},
}

// messages makes the request of a call and room for its answer.
func (o *overGRPC) messages(method string, params object) (in, out proto.Message, err error) {
	types, ok := rpcs[method]
	if !ok {
		return new(emptypb.Empty), new(emptypb.Empty), nil
	}
	in = types[0].ProtoReflect().New().Interface()
	if o.tenant != "" {
		params["tenant"] = o.tenant
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, nil, err
	}
	// What a message cannot hold cannot be asked for.
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, in); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", method, err)
	}
	return in, types[1].ProtoReflect().New().Interface(), nil
}

func versioned(ctx context.Context) context.Context {
	if _, said := metadata.FromOutgoingContext(ctx); said {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "a2a-version", "1.0")
}

// document is a message as ProtoJSON. Members that lists must have are kept when
// empty (A2A 1.0 §3.1.4): over gRPC they always are.
func document(m proto.Message) (any, error) {
	_, list := m.(*a2apb.ListTasksResponse)
	raw, err := protojson.MarshalOptions{EmitDefaultValues: list}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var doc any
	err = json.Unmarshal(raw, &doc)
	if tasks, ok := at(doc, "tasks").([]any); ok && list {
		for _, t := range tasks {
			prune(t.(object))
		}
	}
	return doc, err
}

// prune leaves out what is empty.
func prune(o object) {
	for name, v := range o {
		switch v := v.(type) {
		case object:
			prune(v)
		case []any:
			for _, e := range v {
				if e, ok := e.(object); ok {
					prune(e)
				}
			}
			if len(v) == 0 {
				delete(o, name)
			}
		case string:
			if v == "" {
				delete(o, name)
			}
		}
	}
}

// refused reads a status.
func (o *overGRPC) refused(err error) (*refusal, error) {
	s, ok := status.FromError(err)
	if !ok {
		return nil, err
	}
	r := &refusal{grpc: s.Code(), message: s.Message()}
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			r.reason, r.domain = info.GetReason(), info.GetDomain()
		}
	}
	return r, nil
}

func (o *overGRPC) call(ctx context.Context, method string, params object) (any, *refusal, error) {
	in, out, err := o.messages(method, params)
	if err != nil {
		return nil, nil, err
	}
	if err := o.conn.Invoke(versioned(ctx), service+method, in, out); err != nil {
		r, err := o.refused(err)
		return nil, r, err
	}
	doc, err := document(out)
	return doc, nil, err
}

func (o *overGRPC) open(ctx context.Context, method string, params object) (*eventStream, *refusal, error) {
	in, out, err := o.messages(method, params)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(versioned(ctx))
	stream, err := o.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+method)
	if err == nil {
		err = stream.SendMsg(in)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		cancel()
		r, err := o.refused(err)
		return nil, r, err
	}
	return &eventStream{close: cancel, next: func() (any, *refusal, error) {
		event := out.ProtoReflect().New().Interface()
		if err := stream.RecvMsg(event); err != nil {
			r, err := o.refused(err)
			return nil, r, err
		}
		doc, err := document(event)
		return doc, nil, err
	}}, nil, nil
}
