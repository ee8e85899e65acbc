package demo

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
)

// weather answers by the first word of the message; see the package comment.
type weather struct {
	step time.Duration
	quit <-chan struct{}
}

const weatherHelp = "Say one of: hello, echo, forecast Oslo, alerts Oslo, watch, reject, fail."

// work names the words that make a task, nil for those that make a message.
func (w *weather) work(word string) func(*turn03) error {
	switch word {
	case "forecast":
		return (*turn03).forecast
	case "alerts":
		return (*turn03).alerts
	case "watch":
		return (*turn03).watch
	case "reject":
		return func(t *turn03) error { return t.status(a2a.TaskStateRejected, "The sky does not take orders.") }
	case "fail":
		return func(t *turn03) error { return t.status(a2a.TaskStateFailed, "The barometer broke.") }
	}
	return nil
}

// Execute implements a2asrv.AgentExecutor.
func (w *weather) Execute(ctx context.Context, rc *a2asrv.RequestContext, q eventqueue.Queue) error {
	t := &turn03{RequestContext: rc, ctx: ctx, agent: w, queue: q}
	if exts, ok := a2asrv.ExtensionsFrom(ctx); ok && exts.Active(&a2a.AgentExtension{URI: CostCentre}) {
		t.centre = costCentre(rc.Message.Metadata)
	}
	text := textOf03(rc.Message)
	if rc.StoredTask != nil {
		// The only task that waits for its caller is an alert without a place.
		t.argument = text
		return t.alerts()
	}
	word, rest := words(text)
	t.argument = rest
	work := w.work(word)
	if work == nil {
		return t.reply(word)
	}
	if err := q.Write(ctx, a2a.NewSubmittedTask(rc, rc.Message)); err != nil {
		return fmt.Errorf("submit task: %w", err)
	}
	return work(t)
}

// Cancel implements a2asrv.AgentExecutor.
func (w *weather) Cancel(ctx context.Context, rc *a2asrv.RequestContext, q eventqueue.Queue) error {
	t := &turn03{RequestContext: rc, ctx: ctx, agent: w, queue: q}
	return t.status(a2a.TaskStateCanceled, "Cancelled on request.")
}

// turn03 is one execution.
type turn03 struct {
	*a2asrv.RequestContext
	ctx      context.Context
	agent    *weather
	queue    eventqueue.Queue
	argument string
	centre   string // value of the CostCentre extension; "" when inactive
}

func (t *turn03) pause(steps int) error {
	if !pause(t.ctx, t.agent.quit, time.Duration(steps)*t.agent.step) {
		return errStopped
	}
	return nil
}

// send hands one event to the SDK's queue; it fails where the task has ended otherwise.
func (t *turn03) send(e a2a.Event) error {
	if err := t.queue.Write(t.ctx, e); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// say builds a message of the agent, marked with the extension when that is active.
func (t *turn03) say(parts ...a2a.Part) *a2a.Message {
	msg := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, parts...)
	if t.centre != "" {
		msg.SetMeta(CostCentre, t.centre)
		msg.Extensions = []string{CostCentre}
	}
	return msg
}

// status tells a state of the task, with a message.
func (t *turn03) status(state a2a.TaskState, text string) error {
	e := a2a.NewStatusUpdateEvent(t, state, t.say(a2a.TextPart{Text: text}))
	// 0.3 ends a stream by this flag, also when the task only waits for input.
	e.Final = state.Terminal() || state == a2a.TaskStateInputRequired
	return t.send(e)
}

// reply answers with a message and makes no task.
func (t *turn03) reply(word string) error {
	parts := []a2a.Part{a2a.TextPart{Text: weatherHelp}}
	switch word {
	case "hello":
		parts[0] = a2a.TextPart{Text: "Hello from weather."}
	case "echo":
		parts = t.Message.Parts
	}
	msg := t.say(parts...)
	msg.TaskID = "" // a message instead of a task belongs to none
	return t.send(msg)
}

// place is the argument, or a word for none.
func (t *turn03) place() string {
	if t.argument == "" {
		return "here"
	}
	return t.argument
}

// forecast streams one artifact in three chunks: append is false for the first, lastChunk is true for
// the last.
func (t *turn03) forecast() error {
	if err := t.status(a2a.TaskStateWorking, "Looking at the sky over "+t.place()+"."); err != nil {
		return err
	}
	id := a2a.NewArtifactID()
	for i, day := range []string{"Monday: rain\n", "Tuesday: sun\n", "Wednesday: both\n"} {
		if err := t.pause(1); err != nil {
			return err
		}
		e := a2a.NewArtifactUpdateEvent(t, id, a2a.TextPart{Text: day})
		e.Append, e.LastChunk = i > 0, i == 2
		e.Artifact.Name = "forecast"
		if err := t.send(e); err != nil {
			return err
		}
	}
	return t.status(a2a.TaskStateCompleted, "Take an umbrella.")
}

// alerts asks for a place where none was named; the task then waits in input-required.
func (t *turn03) alerts() error {
	if t.argument == "" {
		return t.status(a2a.TaskStateInputRequired, "For which place?")
	}
	data := map[string]any{"place": t.argument, "alerts": []any{"storm"}}
	e := a2a.NewArtifactEvent(t, a2a.DataPart{Data: data})
	e.LastChunk = true
	if err := t.send(e); err != nil {
		return err
	}
	return t.status(a2a.TaskStateCompleted, "One alert.")
}

// watch is long: made to be cancelled, and to be resubscribed to.
func (t *turn03) watch() error {
	n, err := strconv.Atoi(t.argument)
	if err != nil || n < 1 {
		n = 600
	}
	n = min(n, 100_000)
	for i := range n {
		if err := t.status(a2a.TaskStateWorking, fmt.Sprintf("Look %d of %d.", i+1, n)); err != nil {
			return err
		}
		if err := t.pause(10); err != nil {
			return err
		}
	}
	return t.status(a2a.TaskStateCompleted, "Nothing fell down.")
}
