// Package ownership keeps one caller's tasks and contexts from another: it looks up whose the ids
// of a call are, derives ids that the caller brought, learns those that answers show, and holds
// an agent's answers to what it has shown of a task before.
package ownership

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// ReserveIDs makes the ids that the caller made up the caller's, before the agent sees them. The error
// is that another caller has one of them, or that the state cannot tell.
func (ow *Owners) ReserveIDs(x *exchange.Exchange) error {
	err := ow.Ledger.Reserve(x.Ctx, x.Principal, originOf(x), &x.Call)
	if err == nil && x.Call.Method.Subject == wire.OfMessage {
		x.Reserved = x.Call.ContextID
	}
	return err
}

// Missing is the same for who knows a task as it was; nil for who knows nothing of it.
func (m Dialect) Missing(id, doc []byte, task *fold.Task) ([][]byte, error) {
	var events [][]byte
	err := m.ToCanonical(m.Canonical(), doc, func(event []byte) (err error) {
		if task == nil {
			events = append(events, event)
			return nil
		}
		events, err = task.Missing(memberOf(event, "task"))
		return err
	})
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "the agent's task cannot be read").Because(err)
	}
	return m.FromCanonical(id, events)
}

// Owners keeps whose tasks and contexts are, and under which ids both sides know them: of calls before
// they are sent, and of all that agents answer.
type Owners struct {
	*admit.Authenticator
	*webhooks.Webhooks
	*intake.Frontend
	*intake.Decoder

	Hub          *stream.Hub
	Shown        *Shown
	StreamConfig stream.Config
	Telemetry    *telemetry.Telemetry
	Ledger       *ledger.Ledger
	Salt         []byte
}

// CheckOwnership: are the task, the context and the referenced tasks the caller's?
func (ow *Owners) CheckOwnership(x *exchange.Exchange) error {
	if e := agents.Incapable(x.Call.Method, x.View.Card, ow.Pushes()); e != nil {
		return e
	}
	if err := ow.rename(x); err != nil {
		return err
	}
	record, err := ow.Ledger.Check(x.Ctx, x.Principal, x.Agent.ID, &x.Call)
	if err == nil {
		x.Record = record
		ow.LinkTask(x)
		if err := ow.NameTask(x); err != nil {
			return err
		}
		return ow.Recall(x)
	}
	var other *ledger.ForeignContext
	if errors.As(err, &other) || errors.Is(err, ledger.ErrAbsent) && x.InOtherContext() {
		return ow.outside(x, ow.replaceContext(x, other))
	}
	x.Record = record
	return err
}

// outside says of a call about a task which is there that it names another context beside
// it: no version has one there, so that a caller who hears of a task that is not found would
// look in the wrong place.
func (ow *Owners) outside(x *exchange.Exchange, err error) error {
	m := x.Call.Method
	if !errors.Is(err, ledger.ErrAbsent) || m.Extension != "" || m.Subject != wire.OfTask && m.Subject != wire.OfConfig {
		return err
	}
	alone := x.Call
	alone.ContextID = ""
	if _, absent := ow.Ledger.Check(x.Ctx, x.Principal, x.Agent.ID, &alone); absent != nil {
		return err
	}
	return wire.Errorf(wire.InvalidParams,
		"Invalid parameters: contextId or sessionId, which A2A %s does not have here, names another context than the task's",
		x.Call.Version).Because(err)
}

// LinkTask links the call's span to the one that its task began with, whatever becomes of it
// from here on.
func (ow *Owners) LinkTask(x *exchange.Exchange) {
	if x.Record.Kind == state.Task {
		x.Rec.Agent, x.Rec.TaskID = x.Agent.ID, x.Record.ID
		ow.Telemetry.JoinTask(&x.Rec, x.Record.Trace)
	}
}

// LastRetry is the longest pause between two tries to reach an agent whose stream broke.
const LastRetry = 5 * time.Second

// ResultOf is an answer or event without JSON-RPC's envelope; other bindings have none.
func ResultOf(b wire.Binding, doc []byte) []byte {
	from, to := ResultSpan(b, doc)
	return doc[from:to]
}

// ResultSpan is where it stands. A document without one, such as an error, has an
// empty span.
func ResultSpan(b wire.Binding, doc []byte) (from, to int) {
	if b != wire.JSONRPC {
		return 0, len(doc)
	}
	return jsonscan.MemberSpan(doc, "result")
}

// StatusOf finds the status of a task or update, and when it came about.
func StatusOf(v []byte) (status []byte, at time.Time) {
	var o struct {
		Status jsontext.Value `json:"status"`
	}
	var when struct {
		Timestamp string `json:"timestamp"`
	}
	if json.Unmarshal(v, &o) != nil || json.Unmarshal(o.Status, &when) != nil {
		return nil, time.Time{}
	}
	at, _ = time.Parse(time.RFC3339Nano, when.Timestamp) // absent and unreadable are the same: unknown
	return o.Status, at
}

// memberOf is the value of one member of an object; nil for none.
func memberOf(doc []byte, name string) []byte {
	var o map[string]jsontext.Value
	if json.Unmarshal(jsonscan.Mend(doc), &o) != nil {
		return nil
	}
	return o[name]
}

// AssignTaskID gives a new task the id that a 0.1 agent expects its client to choose, and a
// session id. The task id is random, so that it is nobody's yet, and is reserved for the caller
// before the agent sees it.
func (ow *Owners) AssignTaskID(x *exchange.Exchange, c *wire.Call) error {
	if c.Method.Subject != wire.OfMessage {
		return nil
	}
	if c.ContextID == "" {
		c.ContextID = x.Record.Context // a task goes on in its own
	}
	if c.ContextID == "" {
		c.ContextID = uuid.NewString()
	}
	if c.TaskID != "" {
		return nil
	}
	c.TaskID = uuid.NewString()
	return ow.Ledger.ReserveTask(x.Ctx, x.Principal, originOf(x), c.TaskID, c.ContextID)
}

// CreateConfig is the row of the method that creates push configs.
var CreateConfig = intake.Method(wire.CreatePushConfig)
