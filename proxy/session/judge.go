package session

import (
	"bytes"
	"errors"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// judge looks at the events of one stream of an agent's, in the goroutine that reads it,
// for all clients at once. What depends on a client comes later, in tellEvent.
//
// It has no lock but for remarks: one goroutine reads the stream, while remarks are read by the
// exchange when it ends.
type judge struct {
	sessions *Sessions
	agent    string
	side     wire.Side
	method   *wire.Method // of the call, as the agent saw it
	ID       []byte       // of the call in JSON-RPC; a copy, as a feed outlives the request
	grammar  grammar.Grammar
	chunks   chunks
	feed     *stream.Feed // of the stream
	bytes    translate.Bytes
	before   *wire.Answer // of the event before
	shown    string       // the state that was remembered of the task last
	since    time.Time    // when the agent was asked; zero once the task has been looked up
	series   *wire.Series
	found    *intake.Judged  // what read gave last
	kept     [1]stream.Entry // what look gives, until it is called again
	zones    bool            // timestamps without a zone are UTC
	timeless bool            // the event before has no timestamp
	watches  bool            // the events are made of looks at the task
	own      remarks
	said     *remarks // own, or those of the stream in whose place this one has come
}

// remarks are what the record has of the agent's events.
type remarks struct {
	skipped atomic.Int64          // events that are none of A2A's
	zoned   atomic.Bool           // timestamps of some were without a zone
	wrong   atomic.Pointer[error] // the first that the order of events had wrong
}

// newJudge makes the judge of one stream that answers an upstream call of the exchange's.
// Grammar is lenient with agents before 1.0, which were never told how streams begin. since is
// when the agent was asked, so that a terminal state which was shown after that is no
// contradiction.
func (se *Sessions) newJudge(x *exchange.Exchange, l *exchange.UpstreamCall) *judge {
	j := &judge{sessions: se, agent: x.Agent.ID, side: l.Side, method: l.Call.Method, ID: bytes.Clone(l.Call.ID)}
	j.said = &j.own
	j.series = wire.NewSeries(l.Binding, l.Version, l.Call.Method, se.AnswerLimits())
	j.chunks.whole = l.Call.Method.Sends() && l.Call.Method.Streams && x.Record.ID == ""
	j.bytes, j.since, j.zones = x.Agent.Bytes(), x.Sent, x.Agent.Zones(l.Side)
	j.grammar = grammar.Grammar{Lenient: l.Version != wire.V10, Turns: se.StreamConfig.Turns}
	return j
}

// goesOn has the judge look at what comes behind the beginning of a stream, of a task in a
// state.
func (j *judge) goesOn(state string) *judge {
	j.grammar.GoOn(state)
	j.since = time.Time{}
	return j
}

// follows has the judge look at a stream in the place of one of the audience's feed before.
// What is to be said of it goes into the same record.
func (j *judge) follows(a *subscriber) *judge {
	j.feed = a.feed
	if a.judge == nil { // another exchange has opened the first, and may be gone
		a.judge = j
	}
	j.said = a.judge.said
	return j
}

// look is a stream.Judge.
//
// It returns one entry, none for an event that is passed over (keep-alives of proxies, "[DONE]"
// of model servers), or an error that ends the source. The entry is marked Last where the agent
// may say nothing more of the task, and Rest where its stream may end here without being lost.
func (j *judge) look(event agentevents.Event) ([]stream.Entry, error) {
	what := forward.UtteranceOf(j.side.Binding, event)
	if what == forward.NoEvent {
		return j.skip()
	}
	seen, err := j.read(event.Data)
	if j.zones && err == nil && (seen.Seen != j.before || !j.timeless) && j.zone(&event) {
		seen, err = j.read(event.Data)
	}
	if what == forward.MaybeEvent && (err != nil || forward.ShowsNothing(j.method, *seen.Seen)) {
		return j.skip()
	}
	if err != nil {
		return nil, err
	}
	if j.side.Binding == wire.JSONRPC && !j.answers(*seen.Seen) {
		return nil, wire.Errorf(wire.BadAgentResponse, "the answer's id is not the call's")
	}
	e := stream.Entry{Name: event.Name, Data: event.Data, Seen: seen}
	if exchange.IsError(*seen.Seen) {
		e.Rest = true // whatever comes of the task, this stream has said that it ends
		j.kept[0] = e
		return j.kept[:], nil
	}
	if err := j.hold(seen, event.Data); err != nil {
		return nil, err
	}
	if err := j.order(*seen.Seen); err != nil {
		return nil, err
	}
	if err := j.remember(seen); err != nil {
		return nil, err
	}
	e.Last = j.grammar.Over()
	e.Rest = j.grammar.Rests() || seen.Seen.Kind == "message"
	j.kept[0] = e
	return j.kept[:], nil
}

// zone has the timestamps of an event in a zone, and reports whether that has changed it.
//
// Where an event names no timestamp, one that is like it names none either, and is not searched.
func (j *judge) zone(event *agentevents.Event) (changed bool) {
	if j.timeless = !bytes.Contains(event.Data, []byte("timestamp")); j.timeless {
		return false
	}
	if event.Data, changed = notifications.Zoned(event.Data); changed {
		j.said.zoned.Store(true)
	}
	return changed
}

// read reads an event.
//
// Series is the fast way: an event that differs from the one before only in a text is recognised
// by its bytes and not parsed anew, which is most of a stream of tokens.
func (j *judge) read(data []byte) (*intake.Judged, error) {
	var doc []byte
	var seen *wire.Answer
	var err error
	if j.side.Binding == wire.GRPC {
		doc, seen, err = j.series.ReadMessage(data)
	} else {
		seen, err = j.series.Read(data)
	}
	if err != nil {
		return nil, intake.Malformed(err)
	}
	if doc != nil || j.found == nil || j.found.Seen != seen {
		j.found = &intake.Judged{Doc: doc, Seen: seen}
	}
	return j.found, nil
}

// answers reports whether an event has the id of the call, or as an error none.
func (j *judge) answers(seen wire.Answer) bool { return forward.Answers(seen, j.ID) }

// order holds an event to the grammar of streams (threat A25).
//
// Polled tasks that wait for the user are not final, as the poll goes on. An event that breaks a
// rule which is only reported is admitted to the grammar all the same, so that those behind it
// are judged by it.
func (j *judge) order(seen wire.Answer) error {
	step := grammar.Step{Kind: seen.Kind, State: seen.State, Context: seen.ContextID}
	step.Final = seen.Final && seen.Kind == "statusUpdate" // what else 0.x has does not say so
	if j.watches && !taskstate.Terminal(seen.State) {
		step.Final = false // it is said of a task that waits, to which nobody has stopped looking
	}
	if len(seen.Tasks) > 0 {
		step.Task = seen.Tasks[0].ID
	}
	err := j.grammar.Next(step)
	if err == nil {
		return nil
	}
	if !j.looks() {
		j.grammar.Admit(step)
		return nil
	}
	if err := j.breach(err); err != nil {
		return err
	}
	j.grammar.Admit(step)
	return nil
}

// breach notes that a rule is broken, and refuses the event where it is enforced.
func (j *judge) breach(rule error) error {
	if rule == nil {
		return nil
	}
	j.note(rule)
	if !j.sessions.StreamConfig.Enforces(rule) {
		return nil
	}
	return wire.Errorf(wire.BadAgentResponse, "the agent's events are out of order").Because(rule)
}

// looks reports whether events are held to any rule.
func (j *judge) looks() bool { return j.sessions.StreamConfig.Reports() && j.method.Extension == "" }

// hold holds an event to what was said of artifacts. One that is like the event before, but
// for a text, says the same of the same.
func (j *judge) hold(found *intake.Judged, data []byte) error {
	seen, like := found.Seen, found.Seen == j.before
	j.before = seen
	switch {
	case !j.looks():
		return nil
	case seen.Kind == "task":
		j.chunks.task, j.chunks.whole = found.DocOf(data), true
		if len(data) > ownership.MostShown { // else it is looked at where it has to be
			j.chunks.learn()
		}
		return nil
	case seen.Kind != "artifactUpdate", like && !seen.Chunk.Last && !j.chunks.again:
		return nil
	}
	err := j.artifact(found, data)
	if errors.Is(err, stream.ErrAgain) {
		j.before = nil
		return err
	}
	return j.breach(err)
}

// remember has others know in which state the task is, and holds the first that the stream
// shows to what was shown before it.
func (j *judge) remember(found *intake.Judged) error {
	seen := found.Seen
	if seen.State == "" || seen.State == j.shown || len(seen.Tasks) != 1 || !j.looks() {
		return nil
	}
	g := ownership.Sighting{ShownKey: ownership.ShownKey{Agent: j.agent, Task: seen.Tasks[0].ID}, State: seen.State, Since: j.since}
	j.shown, j.since = seen.State, time.Time{}
	return j.breach(j.sessions.Contradiction(g))
}

// note keeps the first thing that was wrong.
//
// Only the first is kept for the record; all are counted in the metrics.
func (j *judge) note(err error) {
	r, _ := grammar.RuleOf(err)
	j.sessions.Telemetry.Metrics.Streams.Grammar(j.agent, r.Name)
	j.said.wrong.CompareAndSwap(nil, &err)
}

// tell has the record of an exchange say what was noted.
func (r *remarks) tell(x *exchange.Exchange) {
	x.Rec.Grammar, x.Rec.SkippedEvents = r.noted(), r.skipped.Load()
	if r.zoned.Load() {
		x.UsesQuirk(agents.ZonelessTimes)
	}
}

// noted is what was wrong; "" for nothing.
func (r *remarks) noted() string {
	if err := r.wrong.Load(); err != nil {
		return (*err).Error()
	}
	return ""
}

// skip passes over an event.
func (j *judge) skip() ([]stream.Entry, error) {
	j.said.skipped.Add(1)
	j.sessions.Telemetry.Metrics.Streams.Skipped(j.agent)
	return nil, nil
}
