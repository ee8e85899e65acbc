package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// errNotKept says that what a client has missed is not there any more.
var errNotKept = errors.New("the events since then are not kept any more")

// errAhead says that it is not there yet, and may never be: the client has had more of the
// task than is known here.
var errAhead = fmt.Errorf("%w: the client has had later ones", errNotKept)

// Logs are written behind, so that who comes from another replica may be ahead of what can
// be read here. It is looked at so often again, with such a pause before.
const (
	looksAgain = 10
	pauseAgain = 100 * time.Millisecond
)

// resumeStream gives a client who comes back with an event id what it has missed, and then
// what comes. Whatever it asked for at first is not asked of the agent again.
//
// The call is judged as a subscription first, whatever it was when the stream began: a message
// that is sent again with Last-Event-ID sends nothing.
func (se *Sessions) resumeStream(ctx context.Context, x *exchange.Exchange, m *cursors.Mark) error {
	x.Rec.Resumed, x.Rec.TaskID = true, m.Task
	if err := se.asSubscriber(x, m.Task); err != nil {
		return err
	}
	a, l, err := se.awaitMark(ctx, x, m)
	if errors.Is(err, errNotKept) {
		x.Rec.Gap = true
		if !errors.Is(err, errAhead) { // else what could be shared is older than what the client has had
			if done, err := se.shareFeed(x); done || err != nil {
				return err
			}
		}
		return se.showTaskAnew(ctx, x, m.Task)
	}
	if err != nil {
		return err
	}
	return se.followFeed(x, a, l, m.Task)
}

// asSubscriber has an exchange be a subscription to a task from here on, whatever it was
// before, and asks of it what is asked of one: whether the task is the caller's or shared
// with it, and whether the rules let it subscribe to a task of that skill.
//
// Its errors are those of the stages that it repeats: TASK_NOT_FOUND, 403, or what an authorizer
// says.
func (se *Sessions) asSubscriber(x *exchange.Exchange, task string) error {
	if x.Call.Method.Name == wire.SubscribeToTask {
		return nil // it was asked
	}
	record, err := se.Ledger.Check(x.Ctx, x.Principal, x.Agent.ID, intake.Question(ownership.SubscribeToTask, task, nil))
	if err != nil {
		return err
	}
	x.Call.Method, x.Call.TaskID, x.Record = ownership.SubscribeToTask, task, record
	se.LinkTask(x)
	if err := se.NameTask(x); err != nil {
		return err
	}
	if err := se.RecallSession(x); err != nil {
		return err
	}
	x.Known = intake.Recorded(&record)
	if x.Rec.Sharing = ""; record.Owner != x.Principal.Key() {
		x.Rec.Sharing = se.Policy.Shares(x.Principal, x.Agent.ID, ownership.SubscribeToTask, x.Known)
	}
	x.Skill, x.Agentwide = x.Path, false
	q := x.PolicyRequest()
	x.Skill, x.Agentwide, err = se.Policy.Resolve(policy.SkillSource{
		Path: x.Skill, Task: record.Skill, Declared: x.Call.Skill, All: x.View.Skills,
		Method: ownership.SubscribeToTask, Principal: x.Principal, Agent: x.Agent.ID, Match: x.Agent.Match, Call: &q,
	})
	if err != nil {
		return err
	}
	decision, err := se.Policy.Check(x.PolicyRequest())
	if x.Decide(decision, &x.Rec); err != nil {
		return err
	}
	return se.AskAuthorizers(x)
}

// awaitMark finds the place of an event, for which it waits a little where it is ahead.
func (se *Sessions) awaitMark(ctx context.Context, x *exchange.Exchange, m *cursors.Mark) (*subscriber, *exchange.UpstreamCall, error) {
	for looks := 0; ; looks++ {
		a, l, err := se.findMark(x, m)
		if !errors.Is(err, errAhead) || looks == looksAgain {
			return a, l, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(pauseAgain):
		}
	}
}

// findMark finds the place of an event in the feed of its task.
//
// errNotKept also where the feed is another form than this caller may be shown.
func (se *Sessions) findMark(x *exchange.Exchange, m *cursors.Mark) (*subscriber, *exchange.UpstreamCall, error) {
	feed, err := se.Hub.Find(x.Ctx, record.FeedOf(x.Agent.ID, m.Task))
	switch {
	case err != nil:
		return nil, nil, err
	case feed == nil:
		return nil, nil, errNotKept
	}
	l, err := readFeed(x, feed, m.Task)
	if err != nil {
		return nil, nil, err
	}
	if l == nil {
		return nil, nil, errNotKept
	}
	a := &subscriber{sessions: se, x: x, feed: feed}
	a.missed = feed.Newest()
	if a.cursor, err = feed.Since(m.Epoch, m.Number); err != nil {
		if m.Number > a.missed && m.Epoch == feed.Epoch(a.missed) {
			return nil, nil, errAhead
		}
		return nil, nil, errNotKept
	}
	a.recall(l, m.Number)
	return a, l, nil
}

// showTaskAnew shows a client who has missed what is not kept any more the task as it is,
// and then what comes. Of a task that has ended that is all there is.
//
// Of agents before 1.0 the task is asked for once more behind the subscription, as what happened
// in between is in neither. shown then has what both show left out.
func (se *Sessions) showTaskAnew(ctx context.Context, x *exchange.Exchange, task string) error {
	l, err := subscriptionFor(x, task)
	if err != nil {
		return err
	}
	whole, state, err := se.wholeTask(ctx, x, l, task)
	if err != nil {
		return err
	}
	a := &subscriber{sessions: se, x: x, lead: whole}
	x.Upstream = l
	if taskstate.Terminal(state) {
		x.Stamp()
		return se.serveSubscriber(x, a)
	}
	resp, err := se.SendCall(ctx, x)
	if err != nil {
		return err
	}
	defer x.Up.LetGo(resp)
	if !streams(resp, l) {
		if whole, _, err = se.wholeTask(ctx, x, l, task); err != nil { // it may have ended since
			return err
		}
		a.lead = whole
		x.Stamp()
		return se.serveSubscriber(x, a)
	}
	// Before 1.0 a stream begins with what comes next. Who has been shown the task, and not asked for a
	// subscription, is not to hear that there is none.
	if a.lead = nil; l.Version != wire.V10 || x.TaskTold {
		if whole, state, err = se.wholeTask(ctx, x, l, task); err != nil {
			return err
		}
		if taskstate.Terminal(state) { // some agents say by an event that they refuse
			a.lead = whole
			x.Stamp()
			return se.serveSubscriber(x, a)
		}
	}
	if l.Version != wire.V10 {
		a.lead, a.shown = whole, snapshotOf(l, whole)
	}
	return se.relayTo(x, a, resp)
}

// wholeTask is the task as it is, as an event of the agent's stream, and its state.
func (se *Sessions) wholeTask(ctx context.Context, x *exchange.Exchange, l *exchange.UpstreamCall, task string) ([]stream.Entry, string, error) {
	g, doc, seen, err := se.AskAboutTask(ctx, x, intake.Question(intake.GetTask, task, nil))
	if err != nil {
		return nil, "", err
	}
	m := ownership.Dialect{Side: l.Side, Bytes: x.Agent.Bytes()}
	var events [][]byte
	err = m.ToCanonical(m.Canonical(), newSnapshot(g, doc).doc, func(event []byte) error {
		events = append(events, event)
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	said, err := m.FromCanonical(l.Call.ID, events)
	if err != nil {
		return nil, "", wire.Errorf(wire.Internal, "").Because(err)
	}
	entries := make([]stream.Entry, len(said))
	for i, data := range said {
		entries[i] = stream.Entry{Data: data, Made: true}
	}
	return entries, seen.State, nil
}

// subscriptionFor is a call of SubscribeToTask in the caller's behalf, whose events are told
// as answers to the caller's own call.
//
// Where caller and agent speak alike the events pass byte for byte; the JSON-RPC id is then the
// caller's own.
func subscriptionFor(x *exchange.Exchange, task string) (*exchange.UpstreamCall, error) {
	c := intake.Question(ownership.SubscribeToTask, task, nil)
	c.Extra = x.Call.Extra
	to := x.TranslationTarget(c)
	alike := x.Alike(to.Side)
	if alike && to.Binding == wire.JSONRPC {
		to.ID = x.Call.ID // the events pass as they come
	}
	l, err := x.TranslatedAs(c, nil, &x.Call, to)
	if err != nil {
		return nil, err
	}
	if l.Own = true; alike {
		l.Retell = nil
	}
	return l, nil
}

// rejoin gives a caller what there is already of the stream that it asks for. done is
// false where the agent is to be asked.
func (se *Sessions) rejoin(ctx context.Context, x *exchange.Exchange) (done bool, err error) {
	if !x.Call.Streaming || x.Call.Method.Extension != "" {
		return false, nil
	}
	m, e := se.openMark(x)
	switch {
	case e != nil:
		return true, e
	case m != nil:
		return true, se.resumeStream(ctx, x, m)
	case x.Call.Method.Name == wire.SubscribeToTask:
		return se.shareFeed(x)
	}
	return false, nil
}

// openMark reads the event id that the caller comes back with; nil without one. What is
// wrong with an id that is not good here nobody is told: it may be somebody else's.
//
// Several lines, or an id that opens for another task than the call names, are refused alike. An
// empty header is none: an event without an id clears the one that its reader has (WHATWG HTML
// §9.2.6). Browsers leave the header out then (§9.2.3); who sends it all the same has no id.
func (se *Sessions) openMark(x *exchange.Exchange) (*cursors.Mark, *wire.Error) {
	lines := x.Request.Header[cursors.ResumeHeader]
	if !x.Call.Streaming || len(lines) == 0 || len(lines) == 1 && lines[0] == "" {
		return nil, nil
	}
	var m cursors.Mark
	if len(lines) == 1 && se.ReadMark(x, lines[0], &m) && (x.Call.TaskID == "" || x.Call.TaskID == m.Task) {
		return &m, nil
	}
	se.Telemetry.Metrics.Streams.Refused(x.Agent.ID)
	return nil, wire.Errorf(wire.InvalidParams, "Last-Event-ID is not one that this gateway has given you for this task")
}

// Following gives the callers of streaming calls the stream of a task that another call has begun: the task
// as it is, and what comes after that. Of a task that has ended that is all there is.
func Following(se *Sessions) func(x *exchange.Exchange, task string) error {
	return func(x *exchange.Exchange, task string) error {
		return within(se, x, func(ctx context.Context, _ *time.Timer) error {
			if err := se.asSubscriber(x, task); err != nil {
				return err
			}
			if done, err := se.shareFeed(x); done || err != nil {
				return err
			}
			return se.showTaskAnew(ctx, x, task)
		})
	}
}
