package gatewaytest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Outage is what an owner goes through while a gateway cannot tell whose a task is.
type Outage struct {
	owner *robber
	th    Theft
	task  a2a.TaskID
}

// Before has the owner make a task, as long as all is well.
func (th Theft) Before(t *testing.T) *Outage {
	t.Helper()
	o := &Outage{owner: th.open(t, th.Owner), th: th}
	o.task = o.owner.makes(t)
	return o
}

// During fails the test where anything that concerns tasks is not answered with 503, or
// UNAVAILABLE over gRPC, within the time, once in three times at least. What names a task
// must not reach the agent; of what a new message makes the caller hears nothing.
func (o *Outage) During(t *testing.T, within time.Duration) {
	t.Helper()
	known, before := attempts(), o.th.Requests()
	for _, method := range o.th.Methods {
		for _, way := range known[method] {
			if !way.sends || !o.th.Caller.unable(way.name) {
				o.refused(t, method, way, within)
			}
		}
	}
	if n := o.th.Requests() - before; n != 0 {
		t.Errorf("the agent got %d requests", n)
	}
	o.refused(t, "SendMessage", attempt{"new task", true, false, func(ctx context.Context, c Client, _ a2a.TaskID) error {
		_, err := c.SendMessage(ctx, request("task"))
		return err
	}}, within)
}

func (o *Outage) refused(t *testing.T, method string, way attempt, within time.Duration) {
	t.Helper()
	var heard string
	var err error
	for range 3 {
		if heard, err = o.asks(t, way, within); unavailable(heard) {
			return
		}
	}
	t.Errorf("%s by %s: %v\n%s", method, way.name, err, heard)
}

func (o *Outage) asks(t *testing.T, way attempt, within time.Duration) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	err := way.try(ctx, o.owner.Client, o.task)
	return o.owner.ear.take(), err
}

// unavailable reads HTTP's status, or 14 of gRPC's.
func unavailable(heard string) bool {
	return strings.HasPrefix(heard, "503 ") || strings.HasPrefix(heard, `"\b\x0e`)
}

// After fails the test where the owner has not got the task back within the time.
func (o *Outage) After(t *testing.T, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := o.owner.GetTask(ctx, &a2a.GetTaskRequest{ID: o.task})
		if err == nil {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the owner does not get the task: %v", err)
		}
	}
	o.owner.makes(t)
}
