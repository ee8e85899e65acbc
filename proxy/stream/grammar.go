package stream

import "errors"

// What is wrong with a stream of an agent: each is one rule of its grammar. The texts
// stand in the audit record, so they are stable.
var (
	ErrFirst         = errors.New("stream does not begin with a task or a message")
	ErrSecondMessage = errors.New("second message in one stream")
	ErrMixed         = errors.New("message and task events in one stream")
	ErrAfterEnd      = errors.New("event after the end of the stream")
	ErrOtherTask     = errors.New("event of another task in the stream")
	ErrOtherContext  = errors.New("event of another context in the stream")
	ErrBackwards     = errors.New("task in another state after its end")
	ErrTurns         = errors.New("task waits for its user too often in one stream")
)

// Step is one event of an agent in plain words.
type Step struct {
	Kind    string // task, message, statusUpdate or artifactUpdate; "" for what is none of them
	State   string // TASK_STATE_…; "" for none
	Task    string // its id, "" where the event names none
	Context string // likewise
	Final   bool   // the agent says that nothing follows, as agents of 0.x can
}

// Grammar says of each event of a stream whether it may come next (A2A 1.0 §3.1.2,
// §3.1.6, §11.7). An agent that is not what it seems can slip turns into a
// conversation that its user never had; none of them fits into a legal stream.
//
//   - A stream is one message, or it begins with a task.
//   - All events are of the same task, where they name one, and of the same context where
//     they do not name the task.
//   - A terminal state ends it. Behind it the task may be shown once more, in the same
//     state, as §11.7 has it.
//   - A task may wait for its user (for input or to log in) so often and no more.
//
// Apart from terminal states being final, A2A lets any state follow any other, so
// SUBMITTED may come after WORKING: agents say so when work is queued again, or for
// the next turn of a conversation. A task in the middle is a snapshot; SDKs take it for
// one, and it must keep to the rules of an update. An agent that waits for its user may
// close the stream or leave it open, so that does not end it.
//
// An update that names the task may come in another context: agents of the Python SDK make
// up a new one for each message that names its task alone. Whose that context is the ledger
// says, as for any other id. It is bounded like turns are.
//
// Agents of 0.x were never told what their streams begin with or when a message may
// come. To Lenient theirs may begin with any event, a message may end a stream of
// updates, and the terminal state may be repeated once as an update: with Final, after
// it was said without. Final ends a stream in whatever state the task is.
//
// The zero value is at the beginning of a stream of 1.0.
type Grammar struct {
	Lenient bool
	Turns   int // how often a task may wait for its user in one stream; 0 is 100

	begun   bool
	message bool // a message was the end
	ended   bool
	again   bool // the task was shown once more after the end

	state, task, context string // the last that were said
	turns                int
	moves                int // from one context to another
}

const defaultTurns = 100

// Next takes the next event, or says by one of the errors above why it may not come.
// Then g is as it was, and the stream is to be ended. Events of no kind A2A knows pass
// until the end; so do errors, which end a stream outside of this grammar.
func (g *Grammar) Next(s Step) error {
	if s.Kind == "" {
		s.State, s.Final = "", false // whatever it says, it is not of a task in A2A's sense
	}
	if err := g.judge(s); err != nil {
		return err
	}
	if s.Kind != "" {
		g.begun = true
	}
	if g.isElsewhere(s) {
		g.moves++
	}
	g.task, g.context = either(g.task, s.Task), either(s.Context, g.context)
	g.again = g.ended
	if g.isTurn(s) {
		g.turns++
	}
	if s.State != "" {
		g.state = s.State
	}
	g.message = s.Kind == "message"
	g.ended = g.ended || g.message || settled(s.State) || g.Lenient && s.Final
	return nil
}

// Ended reports whether the stream has ended for good: no other source has anything to
// add to it, and nothing may follow but the task once more.
func (g *Grammar) Ended() bool { return g.ended }

// Resume begins again, with another source of the same task: what was said so far
// holds, but the source begins as a stream does.
func (g *Grammar) Resume() { g.begun = false }

func (g *Grammar) judge(s Step) error {
	message := s.Kind == "message"
	switch {
	case s.Task != "" && g.task != "" && s.Task != g.task:
		return ErrOtherTask
	case g.isElsewhere(s) && (s.Kind == "" || s.Task == "" || s.Task != g.task || g.moves >= g.most()):
		return ErrOtherContext
	case g.message && message:
		return ErrSecondMessage
	case g.message && s.Kind != "":
		return ErrMixed
	case g.ended:
		return g.afterwards(s)
	case s.Kind == "":
		return nil
	case message && g.begun && !g.Lenient:
		return ErrMixed
	case !g.begun && !message && s.Kind != "task" && !g.Lenient:
		return ErrFirst
	case g.isTurn(s) && g.turns >= g.most():
		return ErrTurns
	}
	return nil
}

// afterwards judges what comes behind the end.
func (g *Grammar) afterwards(s Step) error {
	repeats := s.Kind == "task" || s.Kind == "statusUpdate" && g.Lenient
	switch {
	case s.State != "" && s.State != g.state && settled(g.state):
		return ErrBackwards
	case repeats && s.State == g.state && !g.again:
		return nil
	}
	return ErrAfterEnd
}

// isElsewhere reports whether an event is of another context than the one before.
func (g *Grammar) isElsewhere(s Step) bool {
	return s.Context != "" && g.context != "" && s.Context != g.context
}

func (g *Grammar) most() int {
	if g.Turns > 0 {
		return g.Turns
	}
	return defaultTurns
}

// isTurn reports whether the task begins to wait for its user, or asks once more. A
// task that is shown again while it waits, as at the beginning of another source, has
// not asked again.
func (g *Grammar) isTurn(s Step) bool {
	waits := s.State == "TASK_STATE_INPUT_REQUIRED" || s.State == "TASK_STATE_AUTH_REQUIRED"
	return waits && (s.Kind != "task" || s.State != g.state)
}

// settled reports whether a task in this state has ended for good.
func settled(state string) bool {
	switch state {
	case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
		return true
	}
	return false
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
