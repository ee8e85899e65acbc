package callcmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// narrator shows a call as it goes. What it prints of others goes through verb.Printable: an
// agent's words may hold what a terminal obeys.
type narrator struct {
	out, err io.Writer
	json     bool
	agent    string // as the command line has it

	task, context string
	state, said   string          // the last state, and the words that came with it
	shown         map[string]bool // artifacts that were printed, by their ids
	open          bool            // the last line on out has no end yet
	answered      bool            // a message or a task has come
}

// Objects of A2A 1.0 (§4.1), as far as a person is shown them.
type (
	message struct {
		Parts     []part
		ContextID string
		TaskID    string
	}
	status struct {
		State   string
		Message *message
	}
	artifact struct {
		ArtifactID string
		Name       string
		Parts      []part
	}
	task struct {
		ID        string
		ContextID string
		Status    status
		Artifacts []artifact
	}
	event struct {
		Task         *task
		Message      *message
		StatusUpdate *struct {
			TaskID, ContextID string
			Status            status
		}
		ArtifactUpdate *struct {
			TaskID, ContextID string
			Artifact          artifact
			Append            bool
		}
	}
)

// result shows one answer or event of a send.
func (n *narrator) result(doc []byte) error {
	if n.json {
		return n.raw(doc)
	}
	return n.read(doc)
}

// raw prints a document for programs, one in a line, and keeps what the exit code depends on.
func (n *narrator) raw(doc []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, doc); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if _, err := fmt.Fprintln(n.out, line.String()); err != nil {
		return err
	}
	quiet := *n
	quiet.out, quiet.err, quiet.json = io.Discard, io.Discard, false
	err := quiet.read(doc)
	n.task, n.context, n.state, n.said, n.shown, n.answered = quiet.task, quiet.context, quiet.state, quiet.said, quiet.shown, quiet.answered
	return err
}

// read shows one answer or event of a send.
func (n *narrator) read(doc []byte) error {
	var e event
	if err := json.Unmarshal(doc, &e); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	n.answered = true
	switch {
	case e.Message != nil:
		n.context = e.Message.ContextID
		n.parts(e.Message.Parts)
		n.line()
	case e.Task != nil:
		n.whole(e.Task)
	case e.StatusUpdate != nil:
		n.begin(e.StatusUpdate.TaskID, e.StatusUpdate.ContextID)
		n.turn(e.StatusUpdate.Status)
	case e.ArtifactUpdate != nil:
		n.begin(e.ArtifactUpdate.TaskID, e.ArtifactUpdate.ContextID)
		n.piece(e.ArtifactUpdate.Artifact, e.ArtifactUpdate.Append)
	}
	return nil
}

// looked shows a task that was asked about again.
func (n *narrator) looked(doc []byte) error {
	var t task
	if err := json.Unmarshal(doc, &t); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	before := n.state
	if t.Status.State == before && len(t.Artifacts) == len(n.shown) {
		return nil
	}
	return n.result(fmt.Appendf(nil, `{"task":%s}`, doc))
}

// begin names the task, once.
func (n *narrator) begin(task, context string) {
	if n.task == "" && task != "" {
		n.note("task %s, context %s", task, context)
	}
	n.task, n.context = task, context
}

// whole shows a task: its artifacts that were not shown yet, and its state.
func (n *narrator) whole(t *task) {
	n.begin(t.ID, t.ContextID)
	for _, a := range t.Artifacts {
		if !n.shown[a.ArtifactID] {
			n.piece(a, false)
		}
	}
	n.turn(t.Status)
}

// turn shows a state. The words of one in which the task rests are an answer; those on the way
// are not.
func (n *narrator) turn(s status) {
	n.line()
	said := ""
	if s.Message != nil {
		said = textOf(s.Message.Parts)
	}
	if s.State == n.state && said == n.said {
		return
	}
	n.state, n.said = s.State, said
	switch {
	case !taskstate.Settled(s.State) && said != "":
		n.note("%s: %s", word(s.State), said)
	default:
		n.note("%s", word(s.State))
	}
	if !taskstate.Settled(s.State) || s.Message == nil || failed(s.State) {
		return
	}
	n.parts(s.Message.Parts)
	n.line()
}

// piece shows an artifact, or more of one.
func (n *narrator) piece(a artifact, more bool) {
	if n.shown == nil {
		n.shown = map[string]bool{}
	}
	if !more {
		n.line()
		n.note("artifact %s", cmp.Or(a.Name, a.ArtifactID))
	}
	n.shown[a.ArtifactID] = true
	n.parts(a.Parts)
}

// parts prints what an agent says.
func (n *narrator) parts(list []part) {
	for i := range list {
		p := &list[i]
		if p.Text == nil {
			n.line()
		}
		text := p.String()
		_, _ = io.WriteString(n.out, verb.Printable(text))
		if n.open = text != "" && !strings.HasSuffix(text, "\n"); p.Text == nil {
			n.line()
		}
	}
}

// line ends the line on out that has no end yet.
func (n *narrator) line() {
	if n.open {
		_, _ = fmt.Fprintln(n.out)
		n.open = false
	}
}

// note prints a line about the call.
func (n *narrator) note(format string, args ...any) {
	_, _ = fmt.Fprintln(n.err, verb.Printable(fmt.Sprintf(format, args...)))
}

// String is a part as a terminal shows it: its text, its data as JSON, or what file it is.
func (p *part) String() string {
	switch {
	case p.Text != nil:
		return *p.Text
	case len(p.Data) > 0:
		var indented bytes.Buffer
		if json.Indent(&indented, p.Data, "", "  ") == nil {
			return indented.String()
		}
		return string(p.Data)
	case p.URL != "":
		return strings.TrimSpace("file " + p.Filename + " at " + p.URL)
	}
	name := p.Filename
	if name == "" {
		name = "without a name"
	}
	return fmt.Sprintf("file %s, %s, %d bytes", name, verb.Cell(p.MediaType), len(p.Raw))
}

// textOf is the text of a message on one line.
func textOf(list []part) string {
	var texts []string
	for i := range list {
		if list[i].Text != nil {
			texts = append(texts, *list[i].Text)
		}
	}
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// word is a state as people say it: input-required.
func word(state string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-")
}

// failed reports whether a state is an end that is not the one that was hoped for.
func failed(state string) bool { return taskstate.Terminal(state) && state != "TASK_STATE_COMPLETED" }

// unsettled reports whether the agent goes on with the task.
func (n *narrator) unsettled() bool { return n.task != "" && !taskstate.Settled(n.state) }

// end is how the call ended: nil where the agent has done what it was asked for.
func (n *narrator) end() error {
	n.line()
	switch {
	case !n.answered:
		return verb.Failed(errors.New("the agent answered nothing"))
	case failed(n.state):
		said := n.said
		if said != "" {
			said = ": " + said
		}
		return verb.Failed(fmt.Errorf("the task is %s%s", word(n.state), said))
	case n.state == "TASK_STATE_INPUT_REQUIRED":
		return verb.Failed(fmt.Errorf("the task waits for an answer: a2a-gateway call %s --task %s '…'", n.agent, n.task))
	case n.state == "TASK_STATE_AUTH_REQUIRED":
		return verb.Failed(fmt.Errorf("the task waits for an authorization, as the agent says above; it then goes on by itself, or with: a2a-gateway call %s --task %s '…'", n.agent, n.task))
	}
	return nil
}
