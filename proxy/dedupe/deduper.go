// Package dedupe makes sending idempotent: it gives a repeated message the answer of the first.
// While that is on its way the second waits, afterwards it gets the answer that was kept.
//
// It wraps the last stage (forward) and is off unless an agent has a window (agents[].dedupe):
// A2A 1.0 lets an agent tell repetitions by messageId, and few do, while clients that lose the
// connection send again.
//
// A message goes by its sender, agent and messageId; its content goes by a digest of method,
// skill, extensions and params. For each there is one of these states, in the store that all
// replicas share:
//
//   - none: it is claimed (Values.Add, insert-only) and sent.
//   - claimed, and on its way in this process: it waits for the first, and gets its answer.
//   - claimed elsewhere, or as a stream: 503 with Retry-After: 1, "this message is being
//     processed".
//   - answered, the answer kept: the answer, with its own JSON-RPC id.
//   - answered, the answer not kept, or in another version or binding: DUPLICATE_MESSAGE, with the
//     id of the task to get.
//   - lost: the agent may have taken it and nobody knows: DUPLICATE_MESSAGE.
//   - another content under the same messageId: DUPLICATE_MESSAGE.
//
// The claim is written before the agent can see the message and taken back only where it is
// certain that the agent has not had it: no connection was got, or the agent refused it as too
// much. A crash leaves the claim, which is the safe side, since to pay twice is worse than to be
// asked to look.
package dedupe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"net/http/httptrace"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Deduper answers a message that comes again with what became of it the first time.
type Deduper struct {
	*record.Recorder
	*AnswerStore

	Repeats Repeats
}

// Repeats has what is known of messages that may come again. A message is claimed in the
// store before the agent can see it, so that among all replicas one sends it, and none
// does after a crash. Flights are those of this process, whose repetitions can wait.
type Repeats struct {
	mu      sync.Mutex
	Flights map[string]*Flight
}

// Flight is a message on its way to the agent and back.
type Flight struct {
	digest [sha256.Size]byte
	side   string // how its answer is said
	stream bool
	done   chan struct{} // closed when the rest is set
	result *processed    // what became of it
	err    error         // what its sender was told, where that is an error
}

// WithDedupe has a message forwarded unless it was before.
func (dd *Deduper) WithDedupe(forward record.Stage) record.Stage {
	return func(x *exchange.Exchange) error {
		if x.Agent.Dedupe.Window == 0 || x.Call.MessageID == "" || x.Request.Header.Get(cursors.ResumeHeader) != "" {
			return forward(x) // who comes back to a stream sends nothing again
		}
		if x.Call.Method.Sends() {
			return dd.dedupe(x, forward)
		}
		return forward(x)
	}
}

// dedupe makes x's call the one that is sent, or answers it by that one.
//
// The flight is entered in the map before the store is asked, so that of two at once in this
// process one asks. It is taken out before done is closed, so that whoever comes later finds the
// store and not a flight that has landed.
func (dd *Deduper) dedupe(x *exchange.Exchange, forward record.Stage) error {
	x.Stays = true // others wait for what becomes of it
	key, mine := messageKey(x), &Flight{digest: messageDigest(x), side: x.SaidTo(), stream: x.Call.Streaming, done: make(chan struct{})}
	dd.Repeats.mu.Lock()
	other := dd.Repeats.Flights[key]
	if other == nil {
		dd.Repeats.Flights[key] = mine
	}
	dd.Repeats.mu.Unlock()
	if other != nil {
		return dd.join(x, other, mine)
	}
	defer func() {
		dd.Repeats.mu.Lock()
		delete(dd.Repeats.Flights, key)
		dd.Repeats.mu.Unlock()
		close(mine.done)
	}()
	mine.err = errNobodySaid // a panic leaves it to those who wait
	known, err := dd.reserve(x, key, mine.digest)
	switch {
	case err != nil:
		err = exchange.RetryLater("1", "whether the message was sent before cannot be known at the moment").Because(err)
	case known != nil:
		mine.result, mine.err = known, nil
		return dd.repeat(x, known, mine)
	default:
		mine.result, err = dd.lead(x, key, mine, forward)
	}
	mine.err = dd.shareable(x, err)
	return err
}

// errNobodySaid is of a flight whose exchange ended without a word.
var errNobodySaid = errors.New("the call that this one waited for has failed")

// shareable is an error as several exchanges may have it.
//
// An error that says "ask the agent" in terms of the first exchange is turned into a refusal,
// because those who wait have sent nothing. Headers are cloned, as each exchange adds its own.
func (dd *Deduper) shareable(x *exchange.Exchange, err error) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		if err == nil || !x.Uncertain(err) {
			return err
		}
		e = dd.Refusal(x, err) // they have sent nothing themselves
	}
	again := *e
	again.Header = e.Header.Clone()
	return &again
}

// join waits for the same message, which another exchange of this process sends.
func (dd *Deduper) join(x *exchange.Exchange, f, mine *Flight) error {
	x.Rec.Deduplicated = true
	switch {
	case f.digest != mine.digest:
		return otherContent(x)
	case f.stream || f.side != mine.side:
		return inProgress()
	}
	select {
	case <-x.Ctx.Done():
		return context.Cause(x.Ctx)
	case <-f.done:
	}
	if f.err != nil {
		return dd.shareable(x, f.err)
	}
	return dd.repeat(x, f.result, mine)
}

// lead sends the message and keeps what became of it.
//
// httptrace tells whether a connection was got at all, which is the line between "certainly not
// taken" and "perhaps taken". The answer is copied while it is written; its size is bounded when
// it is kept.
func (dd *Deduper) lead(x *exchange.Exchange, key string, mine *Flight, forward record.Stage) (*processed, error) {
	if !mine.stream {
		// Who gives up and sends it again finds the answer.
		x.Ctx = context.WithoutCancel(x.Ctx)
	}
	var reached atomic.Bool
	x.Ctx = httptrace.WithClientTrace(x.Ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }})
	before := x.Writer.Header().Clone()
	if !mine.stream {
		x.Writer.Copy = new(bytes.Buffer)
	}
	result := &processed{Digest: mine.digest[:], Lost: true}
	settled := false
	defer func() {
		if !settled { // a panic: nobody knows
			dd.keep(x, key, result)
		}
	}()
	err := forward(x)
	settled = true
	if err != nil && !mayHaveTaken(x, err, reached.Load()) {
		dd.forget(x, key)
		return nil, err
	}
	result.Task = taskShown(x)
	if result.Lost = err != nil && result.Task == ""; err == nil && !mine.stream {
		result.answered(x, mine.side, before)
	}
	if err == nil && refused(x.Rec.Reason) && !x.Begun() {
		dd.forget(x, key) // only who waits for it gets the same
		return result, nil
	}
	dd.keep(x, key, result)
	return result, err
}

// refused reports whether an agent that gives this reason has not taken the message: it is
// asked too much, or wants to be paid or a shorter one first.
func refused(reason string) bool {
	switch reason {
	case wire.PaymentRequired.Reason, wire.TooLarge.Reason, wire.RateLimited.Reason:
		return true
	}
	return false
}

// mayHaveTaken reports whether the agent may have taken the message.
//
// It errs toward yes. No is certain only before a connection, at the gateway's own refusals
// before sending, and for statuses with which an agent says that it did nothing.
func mayHaveTaken(x *exchange.Exchange, err error, reached bool) bool {
	var e *wire.Error
	var away *upstream.Unavailable
	said := errors.As(err, &e)
	switch {
	case x.Sent.IsZero(), !reached, errors.Is(err, upstream.ErrBusy), errors.As(err, &away), upstream.NoConnection(err):
		return false
	case x.Rec.UpstreamStatus != 0:
		return !said || !refused(e.Reason) || !errors.Is(err, exchange.ErrAgentSaid) || x.Begun()
	case said: // before it was sent: its credentials were not to be had
		return e.Reason == wire.AgentTimeout.Reason || e.Reason == wire.BadAgentResponse.Reason
	}
	return true
}

// taskShown is the task that the answer showed, as the caller calls it.
func taskShown(x *exchange.Exchange) string {
	if x.Task.Agent != "" && x.Task.Agent == x.Rec.TaskID {
		return x.Task.Caller
	}
	return x.Rec.TaskID
}

// messageKey is whose message it is, to which agent, and how it is called. Whose stands in
// front, as owners share the memory.
func messageKey(x *exchange.Exchange) string {
	who, sum := sha256.Sum256([]byte(x.Principal.Key())), sha256.New()
	addPart(sum, x.Principal.Key())
	addPart(sum, x.Agent.ID)
	addPart(sum, x.Call.MessageID)
	return hex.EncodeToString(who[:16]) + "/" + hex.EncodeToString(sum.Sum(nil))
}

// messageDigest is the content: all that the agent makes of the message depends on. The
// binding, the version and the JSON-RPC id are no part of it.
func messageDigest(x *exchange.Exchange) [sha256.Size]byte {
	sum := sha256.New()
	addPart(sum, x.Call.Method.Name)
	addPart(sum, x.Skill)
	for _, uri := range slices.Sorted(slices.Values(x.Terms.Send)) {
		addPart(sum, uri)
	}
	addPart(sum, "")
	sum.Write(x.Call.Params)
	return [sha256.Size]byte(sum.Sum(nil))
}

// addPart adds s so that no choice of parts looks like another.
func addPart(sum hash.Hash, s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	sum.Write(n[:])
	sum.Write([]byte(s))
}

func inProgress() *wire.Error { return exchange.RetryLater("1", "this message is being processed") }

func otherContent(x *exchange.Exchange) *wire.Error {
	e := wire.Errorf(wire.Duplicate, "the messageId was used before for another content")
	e.Meta = map[string]string{"messageId": x.Call.MessageID}
	return e
}
