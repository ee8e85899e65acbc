package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Theft is a caller who goes for another's task by every operation.
type Theft struct {
	Caller Flavour // what the clients of both speak
	Base   string  // of the agent behind the gateway
	// Owner and Thief are their credentials.
	Owner, Thief http.Header
	// Methods are the operations of the caller's version, by their names in 1.0. One
	// that nothing is known about fails the test.
	Methods []string
	// Lacks are those of them that the agent's version does not have.
	Lacks []string
	// Requests tells how many requests the agent has received.
	Requests func() int64
	// Between, when set, is called once tasks are made, and gives what Base is from
	// then on: of a gateway that was started again, or of another one.
	Between func() string
}

// attempt is a way to name a task; it gives what the client made of the answer.
type attempt struct {
	name  string
	sends bool // a message
	ends  bool // the task, so that its answer is waited for
	try   func(ctx context.Context, c Client, task a2a.TaskID) error
}

// attempts are all ways to name a task, by operation. Those of a caller's tasks and of
// the agent name none.
func attempts() map[string][]attempt {
	config := func(task a2a.TaskID) *a2a.PushConfig {
		return &a2a.PushConfig{TaskID: task, ID: "c", URL: "https://hooks.example/thief"}
	}
	return map[string][]attempt{
		"SendMessage": {
			{"task", true, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
				_, err := c.SendMessage(ctx, about(task))
				return err
			}},
			{"reference", true, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
				_, err := c.SendMessage(ctx, referring(task))
				return err
			}},
		},
		"SendStreamingMessage": {
			{"task", true, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
				return first(c.SendStreamingMessage(ctx, about(task)))
			}},
			{"reference", true, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
				return first(c.SendStreamingMessage(ctx, referring(task)))
			}},
		},
		"GetTask": {{"task", false, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
			_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: task})
			return err
		}}},
		"CancelTask": {{"task", false, true, func(ctx context.Context, c Client, task a2a.TaskID) error {
			_, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task})
			return err
		}}},
		"SubscribeToTask": {{"task", false, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
			return first(c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task}))
		}}},
		"CreateTaskPushNotificationConfig": {{"task", false, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
			_, err := c.CreateTaskPushConfig(ctx, config(task))
			return err
		}}},
		"GetTaskPushNotificationConfig": {{"task", false, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
			_, err := c.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: task, ID: "c"})
			return err
		}}},
		"ListTaskPushNotificationConfigs": {{"task", false, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
			_, err := c.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: task})
			return err
		}}},
		"DeleteTaskPushNotificationConfig": {{"task", false, false, func(ctx context.Context, c Client, task a2a.TaskID) error {
			return c.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: task, ID: "c"})
		}}},
		"ListTasks":            {}, // see Theft.lists
		"GetExtendedAgentCard": {},
	}
}

// about is a message of a task, and referring one that only mentions it.
func about(task a2a.TaskID) *a2a.SendMessageRequest {
	r := request("task")
	r.Message.TaskID = task
	return r
}

func referring(task a2a.TaskID) *a2a.SendMessageRequest {
	r := request("task")
	r.Message.ReferenceTasks = []a2a.TaskID{task}
	return r
}

// first reads one event of a stream and leaves.
func first(events iter.Seq2[a2a.Event, error]) error {
	for _, err := range events {
		return err
	}
	return errors.New("the stream had no events")
}

// Run has the owner make a task, the thief go for it, and the owner go on. It fails
// the test where the thief gets anything else than for a task that is not there, in
// any byte, where the agent hears of it, or where the owner is hindered.
func (th Theft) Run(t *testing.T) {
	t.Helper()
	owner, thief := th.open(t, th.Owner), th.open(t, th.Thief)
	task := owner.makes(t)
	// The thief has a task too: not only strangers are told nothing.
	thief.makes(t)
	if th.Between != nil {
		th.Base = th.Between()
		owner, thief = th.open(t, th.Owner), th.open(t, th.Thief)
	}
	th.tries(t, thief, task)
	th.lists(t, thief, task)
	th.goesOn(t, owner, task)
}

// robber is one of the two, with all it is answered.
type robber struct {
	Client

	ear *ear
}

func (th Theft) open(t *testing.T, header http.Header) *robber {
	t.Helper()
	ear := &ear{tape: newTape(t, header, nil)}
	client, _ := Dial(t, th.Caller.sdk(), &http.Client{Transport: ear}, th.Base, th.Caller.Version, th.Caller.Binding)
	ear.take()
	return &robber{client, ear}
}

// makes begins a task that waits until it is cancelled.
func (r *robber) makes(t *testing.T) a2a.TaskID {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	result, err := r.SendMessage(ctx, request("auth"))
	if err != nil {
		t.Fatalf("make a task: %v", err)
	}
	r.ear.take()
	return task(result)
}

// tries goes for a task by every operation.
func (th Theft) tries(t *testing.T, thief *robber, task a2a.TaskID) {
	t.Helper()
	known := attempts()
	for _, method := range th.Methods {
		ways, ok := known[method]
		if !ok {
			t.Errorf("nothing is known about the operation %s", method)
		}
		for _, way := range ways {
			if way.sends && th.Caller.unable(way.name) {
				continue
			}
			before := th.Requests()
			foreign, err := thief.robs(t, way, task)
			if !told(err, foreign) {
				t.Errorf("%s by %s of another's task: %v\n%s", method, way.name, err, foreign)
			}
			absent, _ := thief.robs(t, way, a2a.NewTaskID())
			if foreign != absent {
				t.Errorf("%s by %s:\nof another's task: %s\nof none: %s", method, way.name, foreign, absent)
			}
			if n := th.Requests() - before; n != 0 {
				t.Errorf("%s by %s: the agent got %d requests", method, way.name, n)
			}
		}
	}
}

func (r *robber) robs(t *testing.T, way attempt, task a2a.TaskID) (heard string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = way.try(ctx, r.Client, task)
	return r.ear.take(), err
}

// told reports whether an answer says that there is no such task, in words that its
// client may have lost; over gRPC in 0.3 they are a status only, 5.
func told(err error, heard string) bool {
	return err != nil && (errors.Is(err, a2a.ErrTaskNotFound) || strings.Contains(heard, "TASK_NOT_FOUND") ||
		strings.Contains(heard, "-32001") || strings.HasPrefix(heard, `"\b\x05`))
}

// unable reports whether a client cannot send what names a task that way. In 0.1 a
// message makes the task that it names, one of the caller's own; nor has it
// references, and the client of 0.3 over HTTP drops them.
func (f Flavour) unable(way string) bool {
	return speaks(f.Version, "0.1") ||
		speaks(f.Version, "0.3") && f.Binding == a2a.TransportProtocolHTTPJSON && way == "reference"
}

// lists asks for the tasks of the thief, among which the owner's is not.
func (th Theft) lists(t *testing.T, thief *robber, task a2a.TaskID) {
	t.Helper()
	list, err := thief.ListTasks(t.Context(), &a2a.ListTasksRequest{})
	heard := thief.ear.take()
	if strings.Contains(heard, string(task)) {
		t.Errorf("the list of another has the task: %s", heard)
	}
	if err == nil && list.TotalSize < len(list.Tasks) {
		t.Errorf("the list is of %d tasks and says %d", len(list.Tasks), list.TotalSize)
	}
}

// goesOn has the owner do all that the thief tried, the cancelling last.
func (th Theft) goesOn(t *testing.T, owner *robber, task a2a.TaskID) {
	t.Helper()
	known := attempts()
	do := func(method string) {
		t.Helper()
		for _, way := range known[method] {
			if way.sends && th.Caller.unable(way.name) || slices.Contains(th.Lacks, method) {
				continue
			}
			if err := th.reaches(t, owner, way, task); err != nil {
				t.Errorf("%s by %s of the owner: %v", method, way.name, err)
			}
		}
	}
	if configs, err := owner.ListTaskPushConfigs(t.Context(), &a2a.ListTaskPushConfigRequest{TaskID: task}); err == nil && len(configs) > 0 {
		t.Errorf("the owner's task has the thief's webhook %s", configs[0].URL)
	}
	for _, method := range th.Methods {
		if method != "CancelTask" {
			do(method)
		}
	}
	do("CancelTask")
	got, err := owner.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task})
	if err != nil || got.ID != task {
		t.Errorf("the owner gets %v, %v", got, err)
	}
}

// reaches does something in the owner's name until the agent hears of it: to some of it
// agents give no answer while a task waits.
func (th Theft) reaches(t *testing.T, owner *robber, way attempt, task a2a.TaskID) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	before := th.Requests()
	done := make(chan error, 1)
	go func() { done <- way.try(ctx, owner.Client, task) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if th.Requests() > before {
				return nil
			}
			return fmt.Errorf("it did not reach the agent: %w", err)
		case <-tick.C:
			if th.Requests() > before && !way.ends {
				cancel()
			}
		}
	}
}
