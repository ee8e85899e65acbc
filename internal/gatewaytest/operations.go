package gatewaytest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Operation is one conversation of a client with an agent.
type Operation struct {
	Name  string
	Push  bool // needs push configurations to pass
	List  bool // protocol 1.0 only
	ticks bool // its task says the same thing until cancelled: only what is new counts
	run   func(*session)
}

// Operations are the conversations of the differential test.
func Operations() []Operation {
	return []Operation{
		{Name: "message reply", run: func(s *session) { s.send("message") }},
		{Name: "task reply", run: func(s *session) { s.send("task") }},
		{Name: "failed task", run: func(s *session) { s.send("fail") }},
		{Name: "rejected task", run: func(s *session) { s.send("reject") }},
		{Name: "stream to completion", run: func(s *session) { s.stream("stream") }},
		{Name: "stream of one message", run: func(s *session) { s.stream("message") }},
		{Name: "input required and continue", run: (*session).inputRequired},
		{Name: "stream input required and continue", run: (*session).streamInputRequired},
		{Name: "auth required", run: (*session).authRequired},
		{Name: "return immediately", run: (*session).returnImmediately},
		{Name: "cancel a stream", ticks: true, run: (*session).cancelStream},
		{Name: "cancel an ended task", run: func(s *session) { s.cancel(s.send("task")) }},
		{Name: "get with history lengths", run: (*session).history},
		{Name: "list", List: true, run: (*session).list},
		{Name: "subscribe to a running task", ticks: true, run: (*session).subscribe},
		{Name: "subscribe to an ended task", run: (*session).subscribeEnded},
		{Name: "message to an ended task", run: func(s *session) { s.resume(s.send("task"), "more") }},
		{Name: "push configurations", Push: true, run: (*session).push},
		{Name: "extended card", run: (*session).extendedCard},
		{Name: "unknown task", run: (*session).unknownTask},
		{Name: "data part", run: (*session).dataPart},
		{Name: "data array part", run: func(s *session) { s.send("message", a2a.NewDataPart([]any{"an", "array", 3.0})) }},
		{Name: "data null part", run: func(s *session) { s.send("message", a2a.NewDataPart(nil)) }},
		{Name: "file parts", run: (*session).fileParts},
		{Name: "one megabyte", run: (*session).megabyte},
		{Name: "client hangs up", ticks: true, run: (*session).hangUp},
		{Name: "agent hangs up", run: (*session).broken},
		{Name: "metadata", run: (*session).metadata},
	}
}

func (s *session) inputRequired() { s.resume(s.send("input"), "this") }

func (s *session) streamInputRequired() {
	id := s.stream("input")
	s.resume(id, "this")
	s.get(id, nil)
}

func (s *session) authRequired() {
	id := s.send("auth")
	s.get(id, nil)
	s.cancel(id)
}

func (s *session) returnImmediately() {
	r := request("auth")
	r.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	result, err := s.client.SendMessage(s.ctx, r)
	if err != nil {
		s.note("send", nil, err)
		return
	}
	// Which state it is in already is a matter of luck.
	s.lines = append(s.lines, fmt.Sprintf("send: %T", result))
	s.tape.drop(1)
	s.cancel(task(result))
}

// once reacts to the first working event only.
func once(react func(a2a.TaskID)) func(a2a.Event) {
	done := false
	return func(e a2a.Event) {
		if !done && working(e) {
			done = true
			react(task(e))
		}
	}
}

func working(e a2a.Event) bool {
	update, ok := e.(*a2a.TaskStatusUpdateEvent)
	return ok && update.Status.State == a2a.TaskStateWorking
}

func (s *session) cancelStream() {
	s.events("stream", s.client.SendStreamingMessage(s.ctx, request("tick")), once(s.cancel))
}

func (s *session) subscribe() {
	s.events("stream", s.client.SendStreamingMessage(s.ctx, request("tick")), once(func(id a2a.TaskID) {
		s.subscribeTo(id, once(s.cancel))
	}))
}

// hangUp leaves a stream; the task goes on.
func (s *session) hangUp() {
	ctx, leave := context.WithCancel(s.ctx)
	defer leave()
	var id a2a.TaskID
	for event, err := range s.client.SendStreamingMessage(ctx, request("tick")) {
		if err != nil {
			s.note("stream", nil, err)
			return
		}
		if id = task(event); working(event) {
			break
		}
	}
	leave()
	s.tape.take() // of the stream, which ends anywhere
	s.get(id, nil)
	s.cancel(id)
}

// broken streams until the agent loses the connection; the task goes on.
func (s *session) broken() {
	id := s.stream("break")
	s.tape.take() // of the stream: how it broke is told by the error
	s.get(id, nil)
	s.cancel(id)
}

func (s *session) history() {
	id := s.send("input")
	s.resume(id, "this")
	zero, one := 0, 1
	s.get(id, &zero)
	s.get(id, &one)
	s.get(id, nil)
}

func (s *session) list() {
	s.send("task")
	for _, r := range []*a2a.ListTasksRequest{
		{}, {PageSize: 2}, {IncludeArtifacts: true, PageSize: 1}, {Status: a2a.TaskStateRejected}, {PageSize: 1000},
	} {
		result, err := s.client.ListTasks(s.ctx, r)
		if err != nil {
			s.note("list", nil, err)
			continue
		}
		// A page token may be the agent's or the gateway's own.
		s.lines = append(s.lines, fmt.Sprintf("list: %d of %d, more: %t",
			len(result.Tasks), result.TotalSize, result.NextPageToken != ""))
		s.note("list", result.Tasks, nil)
		s.tape.drop(1)
	}
}

func (s *session) push() {
	id := s.send("task")
	for _, name := range []string{"c1", "c2"} {
		config, err := s.client.CreateTaskPushConfig(s.ctx, &a2a.PushConfig{
			TaskID: id, ID: name, URL: "https://hooks.example/a2a", Token: "token-" + name,
		})
		s.note("create", config, err)
	}
	config, err := s.client.GetTaskPushConfig(s.ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: "c1"})
	s.note("get", config, err)
	err = s.client.DeleteTaskPushConfig(s.ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: id, ID: "c1"})
	s.note("delete", nil, err)
	configs, err := s.client.ListTaskPushConfigs(s.ctx, &a2a.ListTaskPushConfigRequest{TaskID: id})
	s.note("list", configs, err)
	_, err = s.client.GetTaskPushConfig(s.ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: "c1"})
	s.note("get deleted", nil, err)
}

// extendedCard compares what a gateway leaves alone in a card; addresses and
// security are its own.
func (s *session) extendedCard() {
	card, err := s.client.GetExtendedAgentCard(s.ctx, &a2a.GetExtendedAgentCardRequest{})
	s.tape.take()
	if err != nil {
		s.note("extended card", nil, err)
		return
	}
	var skills []string
	for _, skill := range card.Skills {
		skills = append(skills, skill.ID)
	}
	s.note("extended card", []any{card.Name, card.Description, card.Version, skills}, nil)
}

func (s *session) unknownTask() {
	const id = "0a0a0a0a-0000-7000-8000-000000000000"
	s.get(id, nil)
	s.cancel(id)
	s.subscribeTo(id, nil)
	s.resume(id, "hello?")
}

func (s *session) dataPart() {
	s.send("message",
		a2a.NewDataPart(map[string]any{"n": 1.25, "deep": map[string]any{"a": []any{nil, true, "ü"}}}))
}

func (s *session) fileParts() {
	raw := a2a.NewRawPart([]byte{0xff, 0xfe, 0, 1, 2})
	raw.Filename, raw.MediaType = "a.bin", "application/octet-stream"
	link := a2a.NewFileURLPart("https://files.example/b.pdf?x=1&y=2", "application/pdf")
	link.Filename = "b.pdf"
	s.send("message", raw, link)
}

// megabyteText is a bit more than a megabyte that no id looks like. Every line of a
// conversation is searched for it. Under the race detector, which looks at each byte that is copied, it is
// a bit more than the 64 KiB that buffers and windows on the way hold.
var megabyteText = sync.OnceValue(func() string {
	pieces := 1 << 16
	if sampled {
		pieces = 1 << 12
	}
	return strings.Repeat("zyxw vuts rqpo nm", pieces)
})

func (s *session) megabyte() { s.send("message", a2a.NewTextPart(megabyteText())) }

func (s *session) metadata() {
	r := request("task")
	r.Metadata = map[string]any{"https://example.com/ext/v1/key": "request"}
	r.Message.Metadata = map[string]any{"https://example.com/ext/v1/key": []any{"message", 1.0}}
	s.sendRequest(r)
}
