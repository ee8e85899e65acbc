package approve

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// task is a Task of A2A 1.0, as far as the gateway has something to say of its own.
type task struct {
	ID        string     `json:"id"`
	Context   string     `json:"contextId"`
	Status    status     `json:"status"`
	Artifacts []artifact `json:"artifacts,omitzero"`
}

type status struct {
	State   string  `json:"state"`
	At      string  `json:"timestamp"`
	Message message `json:"message"`
}

type message struct {
	ID      string `json:"messageId"`
	Task    string `json:"taskId"`
	Context string `json:"contextId"`
	Role    string `json:"role"`
	Parts   []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

type artifact struct {
	ID    string         `json:"artifactId"`
	Parts jsontext.Value `json:"parts"`
}

// States of A2A 1.0.
var states = map[standing.State]string{
	standing.Waiting: "TASK_STATE_AUTH_REQUIRED", standing.Approved: "TASK_STATE_WORKING", standing.Sending: "TASK_STATE_WORKING",
	standing.Sent: "TASK_STATE_COMPLETED", standing.Failed: "TASK_STATE_FAILED", standing.Lost: "TASK_STATE_FAILED",
	standing.Rejected: "TASK_STATE_REJECTED", standing.Expired: "TASK_STATE_REJECTED", standing.Void: "TASK_STATE_REJECTED",
	standing.Canceled: "TASK_STATE_CANCELED",
}

// told is what the caller reads of where a call stands. Who has decided is for the record.
func told(st *approvals.Status) string {
	switch st.Outcome.State {
	case standing.Waiting:
		return "This request waits for approval by " + st.Asks() + ", until " + st.Expires.UTC().Format(time.RFC3339) + "."
	case standing.Approved, standing.Sending:
		return "The request was approved, and is on its way to the agent."
	case standing.Sent:
		if st.Outcome.Task != "" {
			return "The request was approved, and the agent works on it."
		}
		return "The request was approved, and the agent has answered."
	case standing.Rejected:
		if st.Outcome.Why != "" {
			return "The request was rejected: " + st.Outcome.Why
		}
		return "The request was rejected."
	case standing.Canceled:
		return "The request was canceled."
	case standing.Expired:
		if st.Outcome.Why != "" {
			return "The request was not approved: " + st.Outcome.Why + "."
		}
		return "Nobody approved the request in time."
	case standing.Void:
		return "The request is void: a rule, or what its caller or an approver may do, has changed since it came."
	case standing.Lost:
		return "The request was approved; whether the agent has it is not known."
	}
	return "The request was approved, and failed: " + st.Outcome.Why
}

// StateOf is the state of the task, in the words of A2A 1.0. Of one that the agent has, it knows more.
func StateOf(st *approvals.Status) string {
	if st.Outcome.Task != "" {
		return "TASK_STATE_WORKING"
	}
	return states[st.Outcome.State]
}

// TaskOf is the task of a call that waits, or has come to nothing, in the words of A2A 1.0.
func TaskOf(x *exchange.Exchange, st *approvals.Status) ([]byte, error) {
	context, o := x.NameFor(st.Context), &st.Outcome
	t := task{ID: st.ID, Context: context, Status: status{
		State: StateOf(st), At: o.At.UTC().Format("2006-01-02T15:04:05.000Z"),
		Message: message{
			ID: st.ID + "-" + string(o.State), Task: st.ID, Context: context, Role: "ROLE_AGENT", Parts: []part{{told(st)}},
		},
	}}
	var result struct {
		Message struct {
			Parts jsontext.Value `json:"parts"`
		} `json:"message"`
	}
	if o.Result != nil && json.Unmarshal(o.Result, &result) == nil && result.Message.Parts != nil {
		t.Artifacts = []artifact{{ID: "answer", Parts: result.Message.Parts}}
	}
	return json.Marshal(t)
}

// plain is the side in which the gateway writes answers of its own, to be retold for the caller.
var plain = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}

// retelling says an answer of the gateway's own in the caller's words.
func retelling(x *exchange.Exchange) *translate.Retelling {
	at := *x.Endpoint
	at.Side = plain
	r := &translate.Retelling{From: plain, Call: &x.Call, CallerBytes: x.CallerBytes(), Task: x.Task, Told: x.TaskTold}
	x.Upstream = &exchange.UpstreamCall{Endpoint: &at, Call: &x.Call, Retell: r}
	return r
}

// show answers a call that is answered once: with the answer of the agent, where there is one to a message,
// else with the task as it is.
func (h *Holder) show(x *exchange.Exchange, st *approvals.Status) error {
	x.Rec.TaskState, x.Rec.ApprovalState = StateOf(st), string(st.Outcome.State)
	doc := []byte(st.Outcome.Result)
	if sends := x.Call.Method.Subject == wire.OfMessage; !sends || doc == nil {
		var err error
		if doc, err = TaskOf(x, st); err != nil {
			return err
		}
		if sends {
			doc = event(doc)
		}
	}
	out, err := retelling(x).Answer(nil, doc)
	if err != nil {
		return exchange.Retelling(err)
	}
	x.Stamp()
	x.Write(out)
	return nil
}

// event is a task as an event, and the result of a message, have it.
func event(task []byte) []byte { return append(append([]byte(`{"task":`), task...), '}') }
