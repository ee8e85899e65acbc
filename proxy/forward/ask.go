package forward

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// AskAboutTask puts a question about a task to the agent. The answer must be about it, and
// show nothing of other callers'.
//
// The ids in the answer are recorded as the caller's before anybody sees it, as those of any
// answer are. An answer about another task than was asked for is refused.
func (fw *Forwarder) AskAboutTask(ctx context.Context, x *exchange.Exchange, c *wire.Call) (*exchange.UpstreamCall, []byte, wire.Answer, error) {
	l, doc, seen, err := fw.AskAgent(ctx, x, c)
	if err == nil && (len(seen.Tasks) != 1 || seen.Tasks[0].ID != c.TaskID) {
		err = wire.Errorf(wire.BadAgentResponse, "the agent answered about another task")
	}
	if err == nil {
		_, err = fw.ClaimIDs(x, l.Served.Instance, seen)
	}
	if err == nil {
		x.Tally(seen)
	}
	return l, doc, seen, err
}

// AskAgent puts a question to the agent and returns its answer, in the agent's words,
// and how it would be retold as a 1.0 document. It may be used by several
// goroutines: it changes nothing of the exchange.
func (fw *Forwarder) AskAgent(ctx context.Context, x *exchange.Exchange, c *wire.Call) (*exchange.UpstreamCall, []byte, wire.Answer, error) {
	l, err := x.Asking(c)
	if err != nil {
		return nil, nil, wire.Answer{}, err
	}
	return fw.SendQuestion(ctx, x, l)
}

// SendQuestion sends such an upstream call and returns its answer, as AskAgent does.
//
// Its errors are the agent's (AgentError), what keeps the call from the agent, and
// INVALID_AGENT_RESPONSE.
func (fw *Forwarder) SendQuestion(ctx context.Context, x *exchange.Exchange, l *exchange.UpstreamCall) (*exchange.UpstreamCall, []byte, wire.Answer, error) {
	l, resp, err := fw.SendUpstream(ctx, x, l)
	if err != nil {
		return nil, nil, wire.Answer{}, Broken(ctx, err)
	}
	defer resp.Body.Close() // nothing is left to do with the answer
	defer l.Trail.End(resp.StatusCode, nil)
	if e := Unreadable(resp); e != nil {
		return nil, nil, wire.Answer{}, e
	}
	a, err := fw.Receive(x, l, resp, new(buffers.Buffer)) // not pooled: the document goes further up
	switch {
	case err != nil:
		return nil, nil, wire.Answer{}, err
	case a.Failed != nil:
		return nil, nil, wire.Answer{}, AgentError(a.Failed)
	}
	jsonscan.MendHere(a.Doc) // nobody gets it as it came, and what was judged are pieces of it
	switch {
	case exchange.IsError(a.Seen):
		return nil, nil, wire.Answer{}, AgentError(a.AgentError(l, resp, a.Doc))
	case l.Binding == wire.JSONRPC && !a.Seen.Answers(l.Call.ID):
		return nil, nil, wire.Answer{}, wire.Errorf(wire.BadAgentResponse, "the answer's id is not the call's")
	}
	return l, a.Doc, a.Seen, nil
}

// How often a task is looked at that a caller waits for: soon at first, because
// most tasks are short.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// awaitSettled waits, on behalf of a caller who asked to, for the end of a task whose
// agent could not be asked to: the answer to a send becomes that to the get which
// found the task settled. It is done when the caller has got another answer.
//
// The pause doubles from 50 ms to 2 s. The call's own timeout ends it, with AGENT_TIMEOUT; the
// task goes on, and the caller can get it.
func (fw *Forwarder) awaitSettled(
	ctx context.Context, x *exchange.Exchange, seen wire.Answer, doc []byte,
) (_ []byte, done bool, _ error) {
	if len(seen.Tasks) != 1 {
		return doc, false, nil
	}
	for pause := firstLook; !taskstate.Settled(seen.State); pause = min(2*pause, lastLook) {
		select {
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case <-time.After(pause):
		}
		var err error
		var l *exchange.UpstreamCall
		if l, doc, seen, err = fw.AskAboutTask(ctx, x, intake.Question(intake.GetTask, seen.Tasks[0].ID, x.Upstream.Retell.History)); err != nil {
			return nil, false, err
		}
		if err := fw.Witness(x, l, seen, doc); err != nil {
			return nil, false, err
		}
	}
	fw.StateOf(x, seen.State)
	d, err := fw.ReadDemand(x, seen, doc)
	if err == nil {
		doc, err = fw.GovernAnswer(x, seen, doc)
	}
	if err == nil {
		doc, err = fw.RestoreIDs(x, &seen, doc)
	}
	if err != nil {
		return nil, false, err
	}
	return fw.handleAuthRequired(ctx, x, d, doc)
}
