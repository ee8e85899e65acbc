// Package ownership keeps one caller's tasks and contexts from another: it looks up whose the ids
// of a call are, derives ids that the caller brought, learns those that answers show, and holds
// an agent's answers to what it has shown of a task before.
//
// # Whose an id is
//
// The ledger (policy/ledger) has a record of each task and context that an agent has shown: agent
// and id, and whose it is. It is insert-only, so that of two who are shown the same id the first
// keeps it. This package asks it at three moments:
//
//   - before the rules are asked: CheckOwnership. What may be refused: TASK_NOT_FOUND: a task, a
//     context or a referenced task of somebody else's.
//   - before the agent sees ids that the caller made up: ReserveIDs, AssignTaskID. What may be
//     refused: another caller has just had the same id.
//   - when an answer or event shows ids: LearnIDs, ClaimIDs. What may be refused:
//     INVALID_AGENT_RESPONSE: the agent has shown another caller's task.
//
// What it leaves in the exchange: Record (the task's, with its skill, version, extensions and
// instance), Foreign and Contexts (ids that go by two names), Task and Session (0.1's own ids),
// Uses (what has to be kept alive while a stream is open).
//
// # Ids that go by two names
//
// A context id that is not recorded as the caller's is not passed on: it is replaced by an id
// that is derived from the caller, the agent and the id (HMAC-SHA-256 in the form of a UUID), the
// same each time. To refuse it would tell that it is taken.
//
//	caller sends   {"message":{"contextId":"c-42",…}}
//	agent reads    {"message":{"contextId":"8f0d…-8…",…}}
//	agent answers  {"task":{"contextId":"8f0d…-8…",…}}
//	caller reads   {"task":{"contextId":"c-42",…}}
//
// A client of A2A 0.1 chooses the ids of its tasks and sessions, and newer agents choose their
// own; the ledger then keeps which stands for which (legacy.go).
//
// # What an agent has said before
//
// Shown remembers tasks that have ended, Tracker what a task has become by the events of its
// feed. An answer that contradicts them (a task goes on after its end, an artifact has other
// content) breaks a rule of proxy/stream/grammar: it is recorded and counted, and refused where
// streams.grammar enforces the rule.
//
// # Dialects
//
// Dialect is how an agent writes events. ToCanonical and FromCanonical translate between it and
// StreamResponses of A2A 1.0, which is what tasks are folded and compared in.
package ownership

import (
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
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

// Owners keeps whose tasks and contexts are, and under which ids both sides know them: of calls before
// they are sent, and of all that agents answer.
//
// Salt keys derived context ids and must be the same on all replicas. Shown and Hub live as long
// as the process.
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
	Approvals    *approvals.Store // calls that wait for approval; nil where none does
}

// CheckOwnership: are the task, the context and the referenced tasks the caller's?
//
// What the agent cannot do at all is refused first, without a look at any task, so that the
// refusal says nothing about one.
func (ow *Owners) CheckOwnership(x *exchange.Exchange) error {
	if e := agents.Incapable(x.Call.Method, x.View.Card, ow.Pushes()); e != nil {
		return e
	}
	if err := ow.renameIDs(x); err != nil {
		return err
	}
	if waits, err := ow.nameApproved(x); waits || err != nil {
		return err
	}
	record, err := ow.Ledger.Check(x.Ctx, x.Principal, x.Agent.ID, &x.Call)
	if err == nil {
		x.Record = record
		ow.LinkTask(x)
		if err := ow.NameTask(x); err != nil {
			return err
		}
		return ow.RecallSession(x)
	}
	var other *ledger.ForeignContext
	if errors.As(err, &other) || errors.Is(err, ledger.ErrAbsent) && x.InOtherContext() {
		return ow.explainOtherContext(x, ow.replaceContext(x, other))
	}
	x.Record = record
	return err
}

// explainOtherContext says of a call about a task which is there that it names another context beside
// it: no version has one there, so that a caller who hears of a task that is not found would
// look in the wrong place.
func (ow *Owners) explainOtherContext(x *exchange.Exchange, err error) error {
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

// CreateConfig is the row of the method that creates push configs.
var CreateConfig = intake.Method(wire.CreatePushConfig)
