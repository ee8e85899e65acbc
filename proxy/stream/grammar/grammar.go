// Package grammar holds the streams of agents to the rules of A2A (1.0 §3.1.2, §3.1.6, §11.7):
// what they begin with, what may follow, and what ends them. It knows events in plain words
// (Step) and nothing of their bytes.
//
// A Grammar judges one stream. Rule lists the rules with their names for metrics, and which of
// them end a stream unless the configuration says otherwise.
package grammar

// Step is one event of an agent in plain words.
type Step struct {
	Kind    string // task, message, statusUpdate or artifactUpdate; "" for what is none of them
	State   string // TASK_STATE_…; "" for none
	Task    string // its id, "" where the event names none
	Context string // likewise
	Final   bool   // the agent says that nothing follows, as agents of 0.x can
}

// Grammar says of each event of a stream which rule of A2A it breaks, if any (A2A 1.0
// §3.1.2, §3.1.6, §11.7). What becomes of an event that breaks one is for the
// configuration to say; see Config.Enforces.
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
// come. To Lenient theirs may begin with any event, and messages may stand anywhere. What
// ends their streams is Final, in whatever state the task is: agents on the JavaScript SDK
// say that a task has completed before they send its artifacts. Behind Final the terminal
// state may be repeated once as an update.
//
// The zero value is at the beginning of a stream of 1.0.
type Grammar struct {
	Lenient bool
	Turns   int // how often a task may wait for its user in one stream; 0 is 100

	begun   bool
	message bool // it began with a message
	updates bool // a task or an update has come
	ended   bool
	again   bool // the task was shown once more after the end

	state, task, context string // the last that were said
	turns                int
	moves                int // from one context to another
}

// DefaultTurns is Grammar.Turns where it is not set.
const DefaultTurns = 100

// Next takes the next event, or says by one of the errors above why it may not come.
// Then g is as it was; Admit takes the event all the same. Events of no kind A2A knows pass
// until the end; so do errors, which end a stream outside of this grammar.
func (g *Grammar) Next(s Step) error {
	if err := g.judge(s.sound()); err != nil {
		return err
	}
	g.Admit(s)
	return nil
}

// sound is the step without what means nothing in a message, or in an event of no kind that
// A2A knows.
func (s Step) sound() Step {
	if s.Kind == "" || s.Kind == "message" {
		s.State, s.Final = "", false
	}
	return s
}

// Admit takes an event that may break a rule and is passed on. What follows it is judged by
// what it says, but the task of a stream stays the one that it was of first.
func (g *Grammar) Admit(s Step) {
	s = s.sound()
	g.message = g.message || !g.begun && s.Kind == "message"
	g.begun = g.begun || s.Kind != ""
	g.updates = g.updates || s.Kind != "" && s.Kind != "message"
	if g.isElsewhere(s) {
		g.moves++
	}
	g.task, g.context = either(g.task, s.Task), either(s.Context, g.context)
	g.again = g.ended
	if g.isTurn(s) {
		g.turns++
	}
	g.state = either(s.State, g.state)
	switch {
	case g.Lenient:
		g.ended = g.ended || s.Final
	case s.State != "":
		g.ended = settled(s.State)
	}
}

// GoOn has g be behind the beginning of a stream, of a task in a state: the events of another
// source go on where those of the one before ended. A terminal state of 1.0 is left to the
// event that shows it, as what was missed before it comes first.
func (g *Grammar) GoOn(state string) {
	g.begun = true
	if g.Lenient || !settled(state) {
		g.state = state
	}
}

// Over reports whether the task has ended for good and the agent has said that its stream
// ends with it: nothing may follow but the task once more.
func (g *Grammar) Over() bool { return g.ended && settled(g.state) }

// Rests reports whether the agent's stream may end where it is, without being lost: the task
// has ended or waits for its user, or the agent has said that nothing follows.
func (g *Grammar) Rests() bool { return g.ended || settled(g.state) || waits(g.state) }

func (g *Grammar) judge(s Step) error {
	message := s.Kind == "message"
	switch {
	case s.Task != "" && g.task != "" && s.Task != g.task:
		return ErrOtherTask
	case g.isElsewhere(s) && (s.Kind == "" || s.Task == "" || s.Task != g.task || g.moves >= g.most()):
		return ErrOtherContext
	case g.isTurn(s) && g.turns >= g.most():
		return errTurns
	case s.State != "" && s.State != g.state && settled(g.state):
		return ErrBackwards
	case g.ended:
		return g.afterwards(s)
	case s.Kind == "" || g.Lenient:
		return nil
	case message && g.updates:
		return ErrMixed
	case message && g.message:
		return ErrSecondMessage
	case !message && g.message && !g.updates:
		return ErrMixed
	case !message && !g.begun && s.Kind != "task":
		return ErrFirst
	}
	return nil
}

// afterwards judges what comes behind the end.
func (g *Grammar) afterwards(s Step) error {
	repeats := s.Kind == "task" || s.Kind == "statusUpdate" && g.Lenient
	if repeats && s.State == g.state && !g.again {
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
	return DefaultTurns
}

// isTurn reports whether the task begins to wait for its user, or asks once more. A
// task that is shown again while it waits, as at the beginning of another source, has
// not asked again.
func (g *Grammar) isTurn(s Step) bool {
	return waits(s.State) && (s.Kind != "task" || s.State != g.state)
}

// waits reports whether a task in this state waits for its user.
func waits(state string) bool {
	return state == "TASK_STATE_INPUT_REQUIRED" || state == "TASK_STATE_AUTH_REQUIRED"
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
