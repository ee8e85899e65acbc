package demo

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// billing answers by the first word of the message; see the package comment.
type billing struct {
	step time.Duration   // between two events
	quit <-chan struct{} // closed when the agent stops
}

const billingHelp = "Say one of: hello, echo, summarize, refund INV-7, export, login, audit, count, " +
	"reject, fail."

// billingWork names the words that make a task.
func (b *billing) work(word string) func(*turn) {
	switch word {
	case "summarize":
		return (*turn).summarize
	case "refund":
		return (*turn).askRefund
	case "export":
		return (*turn).export
	case "login":
		return (*turn).login
	case "audit":
		return (*turn).audit
	case "count":
		return (*turn).count
	case "reject":
		return func(t *turn) { t.status(a2a.TaskStateRejected, "Billing does not do that.") }
	case "fail":
		return func(t *turn) { t.status(a2a.TaskStateFailed, "The ledger is out of ink.") }
	}
	return nil
}

// Execute implements a2asrv.AgentExecutor.
func (b *billing) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t := &turn{ExecutorContext: ec, ctx: ctx, agent: b, yield: yield}
		// Before the first event, as events carry the extension's metadata.
		t.activate()
		word, rest := words(textOf(ec.Message))
		// A message to a task that waits, for input or for a sign-in.
		if ec.StoredTask != nil {
			t.resume(word)
			t.abandon()
			return
		}
		asTask := word == "task"
		if asTask {
			word, rest = words(rest)
		}
		t.argument = rest
		work := b.work(word)
		if work == nil && !asTask {
			t.reply(word)
			return
		}
		// The first event of a task is the task itself: from then on the caller knows its id.
		t.send(a2a.NewSubmittedTask(ec, ec.Message))
		if work == nil {
			work = func(t *turn) { t.status(a2a.TaskStateCompleted, "Done: "+word) }
		}
		work(t)
		t.abandon()
	}
}

// Cancel implements a2asrv.AgentExecutor. The SDK ends the running execution
// when the state it writes turns out to be outdated.
func (b *billing) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		msg := a2a.NewMessageForTask(a2a.MessageRoleAgent, ec, a2a.NewTextPart("Cancelled on request."))
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, msg), nil)
	}
}

// turn is one execution. Once the SDK or the clock says stop, send reports
// false and so does everything built on it.
type turn struct {
	*a2asrv.ExecutorContext
	ctx      context.Context
	agent    *billing
	yield    func(a2a.Event, error) bool
	argument string
	centre   string // value of the CostCentre extension; "" when inactive
	stopped  bool   // no more events: the SDK, the caller or Close says so
	closing  bool   // it was Close
}

// activate takes note of the extension where the caller has asked for it (A2A-Extensions).
func (t *turn) activate() {
	exts, ok := a2asrv.ExtensionsFrom(t.ctx)
	if !ok {
		return
	}
	if lists(exts.RequestedURIs(), CostCentre) {
		exts.Activate(&a2a.AgentExtension{URI: CostCentre})
		t.centre = costCentre(t.Message.Metadata)
	}
}

// send hands one event to the SDK, unless it wants no more.
func (t *turn) send(e a2a.Event) bool {
	if t.stopped {
		return false
	}
	t.stopped = !t.yield(e, nil)
	return !t.stopped
}

// pause waits so many steps, and is false where the work is to stop.
func (t *turn) pause(steps int) bool {
	if t.stopped {
		return false
	}
	if !pause(t.ctx, t.agent.quit, time.Duration(steps)*t.agent.step) {
		t.stopped, t.closing = true, t.ctx.Err() == nil
	}
	return !t.stopped
}

// abandon ends a task that Close interrupted. Without an error here the SDK
// would wait for the task's last event, and the stream would stay open.
func (t *turn) abandon() {
	if t.closing {
		t.yield(nil, errStopped)
	}
}

// say builds a message of the agent, marked with the extension when active.
func (t *turn) say(parts ...*a2a.Part) *a2a.Message {
	msg := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, parts...)
	if t.centre != "" {
		msg.SetMeta(CostCentre, t.centre)
		msg.Extensions = []string{CostCentre}
	}
	return msg
}

// status tells a state of the task, with a message.
func (t *turn) status(state a2a.TaskState, text string) bool {
	return t.send(a2a.NewStatusUpdateEvent(t, state, t.say(a2a.NewTextPart(text))))
}

// reply answers with a message and makes no task.
func (t *turn) reply(word string) {
	// Any other word is answered by the list of words.
	parts := []*a2a.Part{a2a.NewTextPart(billingHelp)}
	switch word {
	case "hello":
		parts[0] = a2a.NewTextPart("Hello from billing.")
	case "echo":
		parts = slices.Clone(t.Message.Parts)
	}
	msg := t.say(parts...)
	msg.TaskID = "" // a message instead of a task belongs to none
	t.send(msg)
}

// resume continues a task that waits for the caller.
func (t *turn) resume(word string) {
	switch word {
	case "yes":
		t.status(a2a.TaskStateWorking, "Refunding.")
		t.pause(1)
		t.send(a2a.NewArtifactEvent(t, a2a.NewTextPart("Refund RF-1 issued.")))
		t.status(a2a.TaskStateCompleted, "Refunded.")
	case "no":
		t.status(a2a.TaskStateRejected, "Nothing was refunded.")
	default:
		t.status(a2a.TaskStateInputRequired, "Please answer yes or no.")
	}
}

// askRefund leaves the task in input-required: the same task goes on in resume.
func (t *turn) askRefund() {
	invoice := t.argument
	if invoice == "" {
		invoice = "the last invoice"
	}
	t.status(a2a.TaskStateInputRequired, "Refund "+invoice+"? Answer yes or no.")
}

// login waits for a sign-in that happens outside the protocol: the execution
// goes on by itself, as A2A 1.0 §7.6.1 describes.
func (t *turn) login() {
	t.status(a2a.TaskStateAuthRequired, "Sign in at https://billing.example/login.")
	t.pause(20)
	t.status(a2a.TaskStateCompleted, "Signed in.")
}

// summarize is a usual task; its events are in the package comment.
func (t *turn) summarize() {
	t.status(a2a.TaskStateWorking, "Reading invoices.")
	t.pause(1)
	t.chunks("INV-6 open 120.00\n", "INV-7 open 80.50\n", "INV-8 paid 44.00\n")
	t.status(a2a.TaskStateWorking, "Adding up.")
	t.pause(1)
	sums := map[string]any{"currency": "EUR", "open": 200.5, "count": 3}
	total := a2a.NewArtifactEvent(t, a2a.NewDataPart(sums))
	total.Artifact.Name = "total"
	total.LastChunk = true
	t.send(total)
	t.status(a2a.TaskStateCompleted, "3 invoices, 200.50 EUR open.")
}

// chunks streams one text artifact piece by piece.
func (t *turn) chunks(texts ...string) {
	var id a2a.ArtifactID
	for i, text := range texts {
		var e *a2a.TaskArtifactUpdateEvent
		// The first event makes the artifact, the others append to it by its id.
		if i == 0 {
			e = a2a.NewArtifactEvent(t, a2a.NewTextPart(text))
			e.Artifact.Name = "report"
			id = e.Artifact.ID
		} else {
			e = a2a.NewArtifactUpdateEvent(t, id, a2a.NewTextPart(text))
		}
		e.LastChunk = i == len(texts)-1
		if !t.send(e) || !t.pause(1) {
			return
		}
	}
}

// export makes a file of both kinds: bytes in the artifact, and a URL to fetch them from.
func (t *turn) export() {
	csv := a2a.NewRawPart([]byte("invoice,amount\nINV-6,120.00\nINV-7,80.50\n"))
	csv.Filename, csv.MediaType = "invoices.csv", "text/csv"
	link := a2a.NewFileURLPart("https://billing.example/files/invoices.pdf", "application/pdf")
	link.Filename = "invoices.pdf"
	t.status(a2a.TaskStateWorking, "Exporting.")
	t.send(a2a.NewArtifactEvent(t, csv, link))
	t.status(a2a.TaskStateCompleted, "Exported.")
}

// audit is long: a status update every ten steps, until somebody cancels it.
func (t *turn) audit() {
	n := t.number(600)
	for i := range n {
		if !t.status(a2a.TaskStateWorking, fmt.Sprintf("Page %d of %d.", i+1, n)) || !t.pause(10) {
			return
		}
	}
	t.status(a2a.TaskStateCompleted, "The ledger is sound.")
}

// count makes as many chunks of one artifact as it is told, for tests of long streams.
func (t *turn) count() {
	texts := make([]string, t.number(10))
	for i := range texts {
		texts[i] = strconv.Itoa(i+1) + "\n"
	}
	t.status(a2a.TaskStateWorking, "Counting.")
	t.chunks(texts...)
	t.status(a2a.TaskStateCompleted, "Counted.")
}

// number reads the argument, or gives the default; at most 100000.
func (t *turn) number(otherwise int) int {
	// The bound keeps a demo that strangers reach from working for days.
	n, err := strconv.Atoi(t.argument)
	if err != nil || n < 1 {
		return otherwise
	}
	return min(n, 100_000)
}

// textOf joins the text parts of a message.
func textOf(m *a2a.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if text := p.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}
