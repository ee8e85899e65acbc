package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// x402 takes a task through states of its own, in the metadata of status messages.
const (
	x402URI      = "https://github.com/google-a2a/a2a-x402/v0.1"
	x402Registry = `  - uri: "` + x402URI + `"
    kind: state
    metadata: ["x402.payment.*"]
    schemas:
      metadata:
        x402.payment.required: {type: object, required: [x402Version, accepts]}
        x402.payment.payload: {type: object, required: [x402Version, network]}
    states:
      key: x402.payment.status
      initial: [payment-required]
      transitions:
        payment-required: [payment-submitted, payment-verified, payment-rejected, payment-failed]
        payment-submitted: [payment-verified, payment-failed]
        payment-verified: [payment-completed, payment-failed]
      within:
        payment-required: [TASK_STATE_INPUT_REQUIRED]
        payment-completed: [TASK_STATE_WORKING, TASK_STATE_COMPLETED]
`
)

var (
	x402Required = map[string]any{"x402Version": 1.0, "accepts": []any{map[string]any{"network": "base", "maxAmountRequired": "48240000"}}}
	x402Payload  = map[string]any{"x402Version": 1.0, "network": "base", "payload": map[string]any{"signature": "0xabc"}}
	x402Receipts = []any{map[string]any{"success": true, "transaction": "0xdef", "network": "base"}}
)

// sells is a merchant: it wants to be paid before it works. A buyer who offers a
// counterfeit finds that it goes wrong in a way that x402 does not have.
func sells(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
	update := func(state a2a.TaskState, status string, more ...any) a2a.Event {
		metadata := map[string]any{"x402.payment.status": status}
		if len(more) > 0 {
			metadata[more[0].(string)] = more[1]
		}
		return a2a.NewStatusUpdateEvent(ec, state, reply(ec, status, "", metadata))
	}
	switch word(ec.Message) {
	case "buy":
		return []a2a.Event{
			a2a.NewSubmittedTask(ec, ec.Message),
			update(a2a.TaskStateInputRequired, "payment-required", "x402.payment.required", x402Required),
		}
	case "free": // paid before there was a price
		return []a2a.Event{
			a2a.NewSubmittedTask(ec, ec.Message), update(a2a.TaskStateCompleted, "payment-completed"),
		}
	case "again": // a price for what is paid
		return []a2a.Event{update(a2a.TaskStateInputRequired, "payment-refunded")}
	}
	if ec.Message.Metadata["x402.payment.status"] != "payment-submitted" || ec.Message.Metadata["x402.payment.payload"] == nil {
		return []a2a.Event{a2a.NewStatusUpdateEvent(ec, a2a.TaskStateFailed, reply(ec, "unpaid", "", nil))}
	}
	return []a2a.Event{
		update(a2a.TaskStateWorking, "payment-verified"), a2a.NewArtifactEvent(ec, a2a.NewTextPart("the goods")),
		update(a2a.TaskStateCompleted, "payment-completed", "x402.payment.receipts", x402Receipts),
	}
}

// pay is the buyer's second message, about the same task.
func pay(text string, task *a2a.Task) *a2a.Message {
	m := utter(text, "", map[string]any{
		"x402.payment.status": "payment-submitted", "x402.payment.payload": x402Payload,
	})
	m.TaskID, m.ContextID = task.ID, task.ContextID
	return m
}

func x402Stall() stall {
	return stall{
		registry: x402Registry, section: "allow: []", act: sells,
		declared: []a2a.AgentExtension{{URI: x402URI, Description: "Sells."}},
	}
}

// A purchase goes through between any two sides: a price, a payment on the same task,
// goods and a receipt.
func TestExtensionX402(t *testing.T) {
	t.Parallel()
	f := newFair(t, x402Stall())
	f.meet(t, []string{x402URI}, nil, func(m *meeting) {
		task := m.task(m.send(utter("buy", "", nil)), a2a.TaskStateInputRequired)
		m.activated(x402URI)
		m.same("price", task.Status.Message.Metadata, map[string]any{
			"x402.payment.status": "payment-required", "x402.payment.required": x402Required,
		})
		paid := m.task(m.send(pay("pay", task)), a2a.TaskStateCompleted)
		m.activated(x402URI)
		m.same("task", paid.ID, task.ID)
		m.same("receipt", paid.Status.Message.Metadata, map[string]any{
			"x402.payment.status": "payment-completed", "x402.payment.receipts": x402Receipts,
		})
		m.same("goods", len(paid.Artifacts), 1)
		again, err := m.client.GetTask(m.Context(), &a2a.GetTaskRequest{ID: task.ID})
		if err != nil {
			m.Fatalf("get: %v", err)
		}
		m.same("receipt, read again", again.Status.Message.Metadata, paid.Status.Message.Metadata)
	})
	f.meet(t, nil, nil, func(m *meeting) {
		task := m.task(m.send(utter("buy", "", nil)), a2a.TaskStateInputRequired)
		m.activated()
		m.has("price", task.Status.Message.Metadata, nil)
		unpaid := m.task(m.send(pay("pay", task)), a2a.TaskStateFailed)
		m.same("what the agent saw", word(unpaid.Status.Message), "unpaid")
	})
}

// The same, followed by streams, in which no state is passed over.
func TestExtensionX402Streams(t *testing.T) {
	t.Parallel()
	f := newFair(t, x402Stall())
	f.meet(t, []string{x402URI}, nil, func(m *meeting) {
		var states []string
		var task a2a.TaskInfo
		follow := func(events []a2a.Event) {
			for _, e := range events {
				task = e.TaskInfo()
				if update, ok := e.(*a2a.TaskStatusUpdateEvent); ok && update.Status.Message != nil {
					states = append(states, fmt.Sprint(update.Status.Message.Metadata["x402.payment.status"]))
				}
			}
		}
		follow(m.events(utter("buy", "", nil)))
		follow(m.streamAgain(pay("pay", &a2a.Task{ID: task.TaskID, ContextID: task.ContextID})))
		m.same("states", strings.Join(states, " "), "payment-required payment-verified payment-completed")
	})
}

// An agent that leaves the states' order is not believed, and neither is a buyer with
// a payment that is none.
func TestExtensionX402Jumps(t *testing.T) {
	t.Parallel()
	f := newFair(t, x402Stall())
	f.meet(t, []string{x402URI}, nil, func(m *meeting) {
		var err error
		for _, failed := range m.client.SendStreamingMessage(m.Context(), &a2a.SendMessageRequest{
			Message: utter("free", "", nil),
		}) {
			err = failed
		}
		m.notBelieved(err, "payment-completed")
		task := m.task(m.send(utter("buy", "", nil)), a2a.TaskStateInputRequired)
		counterfeit := pay("pay", task)
		counterfeit.Metadata["x402.payment.payload"] = map[string]any{"x402Version": 1.0, "secret": "secret"}
		_, err = gatewaytest.Send(m.Context(), m.client, m.hc, &a2a.SendMessageRequest{Message: counterfeit})
		m.refusedFor(err, "x402.payment.payload")
		_, err = gatewaytest.Send(m.Context(), m.client, m.hc, &a2a.SendMessageRequest{Message: pay("again", task)})
		m.notBelieved(err, "payment-required")
	})
}

// notBelieved makes sure that an answer of the agent's was withheld, and that the
// client is told why as far as its SDK reads it: over JSON-RPC no body under a 502.
func (m *meeting) notBelieved(err error, state string) {
	m.Helper()
	if err == nil {
		m.Error("no error")
		return
	}
	text := err.Error()
	if strings.Contains(text, "502 Bad Gateway") && m.caller.Binding == a2a.TransportProtocolJSONRPC {
		return
	}
	if !strings.Contains(text, "the agent's answer: ") || !strings.Contains(text, state) {
		m.Errorf("error %v (%T), want one of an answer that shows %s", err, err, state)
	}
}

// task is a result that is a task in a state, with a message.
func (m *meeting) task(result a2a.SendMessageResult, state a2a.TaskState) *a2a.Task {
	m.Helper()
	task, ok := result.(*a2a.Task)
	if !ok || task.Status.State != state || task.Status.Message == nil {
		m.Fatalf("the answer is %+v, want a task that is %s", result, state)
	}
	return task
}

// AP2 sends mandates as the data of parts.
const (
	ap2URI      = "https://github.com/google-agentic-commerce/ap2/tree/v0.1"
	ap2Registry = `  - uri: "` + ap2URI + `"
    schemas:
      params:
        type: object
        required: [roles]
        properties:
          roles:
            type: array
            minItems: 1
            items: {enum: [merchant, shopper, credentials-provider, payment-processor]}
      part:
        properties:
          data:
            properties:
              ap2.mandates.IntentMandate: {type: object, required: [natural_language_description]}
              ap2.mandates.PaymentMandate: {type: object, required: [payment_mandate_contents]}
`
)

// charts is a merchant that answers a mandate with another.
func charts(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
	intent, _ := json.Marshal(ec.Message.Parts[1].Data())
	made := a2a.NewArtifactEvent(ec, a2a.NewTextPart(string(intent)), a2a.NewDataPart(map[string]any{
		"ap2.mandates.CartMandate": map[string]any{"contents": map[string]any{"id": "cart"}}, "risk_data": "r",
	}))
	return []a2a.Event{
		a2a.NewSubmittedTask(ec, ec.Message), made,
		a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, reply(ec, "done", "", nil)),
	}
}

// Mandates are data, which belongs to nobody: they arrive as they were sent, and are
// held against schemas in calls with the extension.
func TestExtensionAP2(t *testing.T) {
	t.Parallel()
	params := map[string]any{"roles": []any{"merchant"}}
	f := newFair(t, stall{
		registry: ap2Registry, section: "allow: []", act: charts,
		declared: []a2a.AgentExtension{{URI: ap2URI, Params: params}},
	})
	intend := func(mandate any) *a2a.Message {
		m := utter("buy", "", nil)
		m.Parts = append(m.Parts, a2a.NewDataPart(map[string]any{"ap2.mandates.IntentMandate": mandate}))
		return m
	}
	mandate := map[string]any{"natural_language_description": "red shoes", "skus": []any{}}
	for _, uris := range [][]string{{ap2URI}, nil} {
		f.meet(t, uris, nil, func(m *meeting) {
			m.same("params", m.listed(ap2URI).Params, params)
			task := m.task(m.send(intend(mandate)), a2a.TaskStateCompleted)
			m.activated(uris...)
			var heard any
			if err := json.Unmarshal([]byte(task.Artifacts[0].Parts[0].Text()), &heard); err != nil {
				m.Fatal(err)
			}
			m.same("heard", heard, any(map[string]any{"ap2.mandates.IntentMandate": mandate}))
			m.same("cart", task.Artifacts[0].Parts[1].Data(), any(map[string]any{
				"ap2.mandates.CartMandate": map[string]any{"contents": map[string]any{"id": "cart"}}, "risk_data": "r",
			}))
			_, err := m.client.SendMessage(m.Context(), &a2a.SendMessageRequest{
				Message: intend(map[string]any{"secret": "secret"}),
			})
			if uris == nil {
				m.errs(err, nil)
			} else {
				m.refusedFor(err, "ap2.mandates.IntentMandate")
			}
		})
	}
}

// Of an agent whose card has roles that AP2 does not know the operator is warned.
func TestExtensionAP2Roles(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.StartWith(t, gatewaytest.Flavours()[1], []a2a.AgentExtension{
		{URI: ap2URI, Params: map[string]any{"roles": []any{"thief"}}},
	}, charts)
	w := newWorld(t)
	w.start(w.yaml(plain, openPolicy+"extensions:\n"+ap2Registry+fleet(agent)))
	eventually(t, "the warning", func() bool {
		log := w.log.String()
		return strings.Contains(log, ap2URI) && strings.Contains(log, "/roles/0")
	})
	if strings.Contains(w.log.String(), "thief") {
		t.Error("the log repeats the value")
	}
}
