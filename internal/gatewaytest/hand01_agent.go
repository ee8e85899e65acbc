package gatewaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// serve01 is an agent of 0.1.
func serve01(at string, ex *Executor) service {
	now := card10(at, "0.1", a2a.TransportProtocolJSONRPC, ex)
	card := map[string]any{
		"name": now.Name, "description": now.Description, "version": now.Version, "url": at, "skills": now.Skills,
		"capabilities":   map[string]bool{"streaming": true, "pushNotifications": true, "stateTransitionHistory": false},
		"authentication": map[string]any{"schemes": []string{"Bearer"}},
	}
	return service{
		rpc: &agent01{ex: ex, jobs: map[string]*job01{}},
		card: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(card)
		}),
	}
}

// agent01 keeps tasks under the ids that clients choose.
type agent01 struct {
	ex *Executor

	mu   sync.Mutex // guards jobs and everything in them
	jobs map[string]*job01
}

// job01 is a task and what is to be told of it.
type job01 struct {
	task    *a2a.Task
	push    *push01
	events  []event01     // since the task began
	changed chan struct{} // closed and replaced with every event
	running bool
	stop    context.CancelFunc
}

// ServeHTTP implements http.Handler.
func (a *agent01) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call request01
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		answer01(w, nil, nil, &error01{-32700, "Invalid JSON payload"})
		return
	}
	serve, ok := map[string]func(http.ResponseWriter, *http.Request, *request01) (any, *error01){
		"tasks/send": a.send, "tasks/sendSubscribe": a.sendSubscribe, "tasks/get": a.get,
		"tasks/cancel": a.cancel, "tasks/resubscribe": a.resubscribe,
		"tasks/pushNotification/set": a.setPush, "tasks/pushNotification/get": a.getPush,
	}[call.Method]
	if !ok {
		answer01(w, call.ID, nil, &error01{-32601, "Method not found"})
		return
	}
	if result, e := serve(w, r, &call); result != nil || e != nil {
		answer01(w, call.ID, result, e)
	}
}

// begin starts an execution: of a new task, or of one that waits. It gives the
// job and how many events it had before.
func (a *agent01) begin(p *params01) (*job01, int, *error01) {
	if p.ID == "" || p.Message == nil {
		return nil, 0, &error01{-32602, "id and message are required"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	j := a.jobs[p.ID]
	switch {
	case j == nil:
		j = &job01{changed: make(chan struct{})}
		a.jobs[p.ID] = j
	case j.running:
		return nil, 0, &error01{-32603, "execution already in progress"}
	case j.task.Status.State.Terminal():
		return nil, 0, &error01{-32602, "the task has ended"}
	}
	ec := &a2asrv.ExecutorContext{
		Message: fromMessage01(p.Message), StoredTask: j.task, Metadata: p.Metadata,
		TaskID: a2a.TaskID(p.ID), ContextID: p.SessionID,
	}
	if j.task != nil {
		ec.ContextID = j.task.ContextID
		j.task.History = append(j.task.History, ec.Message)
	} else if ec.ContextID == "" {
		ec.ContextID = a2a.NewContextID()
	}
	ctx, stop := context.WithCancel(context.Background())
	j.running, j.stop = true, stop
	go func() {
		defer stop()
		a.run(ctx, j, ec)
	}()
	return j, len(j.events), nil
}

func (a *agent01) run(ctx context.Context, j *job01, ec *a2asrv.ExecutorContext) {
	for e, err := range a.ex.Execute(ctx, ec) {
		if err != nil {
			break // the agent stops
		}
		a.mu.Lock()
		j.apply(ec, e)
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	j.running = false
	j.tell()
}

// apply puts an event into the task, and into the words of 0.1. Nothing follows
// the end of a task.
func (j *job01) apply(ec *a2asrv.ExecutorContext, e a2a.Event) {
	if j.task != nil && j.task.Status.State.Terminal() {
		return
	}
	switch e := e.(type) {
	case *a2a.Task:
		j.task = e
	case *a2a.Message: // 0.1 answers with tasks only
		j.task = a2a.NewSubmittedTask(ec, ec.Message)
		j.task.Status = a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, e).Status
	case *a2a.TaskStatusUpdateEvent:
		if said := j.task.Status.Message; said != nil {
			j.task.History = append(j.task.History, said)
		}
		j.task.Status = e.Status
	case *a2a.TaskArtifactUpdateEvent:
		j.artifact(e)
		return
	}
	status := toStatus01(j.task.Status)
	j.events = append(j.events, event01{
		ID: string(j.task.ID), Status: &status, Final: j.task.Status.State.Terminal() || status.State == "input-required",
	})
	j.tell()
}

func (j *job01) artifact(e *a2a.TaskArtifactUpdateEvent) {
	if n := len(j.task.Artifacts); e.Append {
		last := j.task.Artifacts[n-1]
		last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], e.Artifact.Parts...)
	} else {
		whole := *e.Artifact
		j.task.Artifacts = append(j.task.Artifacts, &whole)
	}
	told := toArtifact01(e.Artifact, j.task.Artifacts)
	told.Append, told.LastChunk = e.Append, e.LastChunk
	j.events = append(j.events, event01{ID: string(j.task.ID), Artifact: told})
	j.tell()
}

// tell wakes whoever follows the job.
func (j *job01) tell() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// follow hands out the events from the n-th on, until one is final, each returns
// false or nothing more can come.
func (a *agent01) follow(ctx context.Context, j *job01, n int, each func(event01) bool) {
	for {
		a.mu.Lock()
		events, running, changed := j.events[n:], j.running, j.changed
		a.mu.Unlock()
		for _, e := range events {
			if !each(e) || e.Final {
				return
			}
		}
		n += len(events)
		if !running && len(events) == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (a *agent01) send(_ http.ResponseWriter, r *http.Request, call *request01) (any, *error01) {
	j, n, e := a.begin(&call.Params)
	if e != nil {
		return nil, e
	}
	a.follow(r.Context(), j, n, func(event01) bool { return true })
	return a.get(nil, r, call)
}

// find gives the job of a call, locked.
func (a *agent01) find(call *request01) (*job01, func(), *error01) {
	a.mu.Lock()
	if j := a.jobs[call.Params.ID]; j != nil && j.task != nil {
		return j, a.mu.Unlock, nil
	}
	a.mu.Unlock()
	return nil, nil, &error01{-32001, "Task not found"}
}

func (a *agent01) get(_ http.ResponseWriter, _ *http.Request, call *request01) (any, *error01) {
	j, unlock, e := a.find(call)
	if e != nil {
		return nil, e
	}
	defer unlock()
	return toTask01(j.task, call.Params.HistoryLength), nil
}

func (a *agent01) cancel(_ http.ResponseWriter, r *http.Request, call *request01) (any, *error01) {
	j, unlock, e := a.find(call)
	if e != nil {
		return nil, e
	}
	defer unlock()
	if j.task.Status.State.Terminal() {
		return nil, &error01{-32002, "Task cannot be canceled"}
	}
	ec := &a2asrv.ExecutorContext{StoredTask: j.task, TaskID: j.task.ID, ContextID: j.task.ContextID}
	for e := range a.ex.Cancel(r.Context(), ec) {
		j.apply(ec, e)
	}
	j.stop()
	return toTask01(j.task, nil), nil
}

func (a *agent01) sendSubscribe(w http.ResponseWriter, r *http.Request, call *request01) (any, *error01) {
	j, n, e := a.begin(&call.Params)
	if e != nil {
		return nil, e
	}
	a.tellAll(w, r, call, j, n)
	return nil, nil
}

// resubscribe begins with how things are.
func (a *agent01) resubscribe(w http.ResponseWriter, r *http.Request, call *request01) (any, *error01) {
	j, unlock, e := a.find(call)
	if e != nil {
		return nil, e
	}
	n, ended := len(j.events)-1, j.task.Status.State.Terminal()
	unlock()
	if ended {
		return nil, &error01{-32001, "the task has ended"}
	}
	a.tellAll(w, r, call, j, n)
	return nil, nil
}

func (a *agent01) tellAll(w http.ResponseWriter, r *http.Request, call *request01, j *job01, n int) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	a.follow(r.Context(), j, n, func(e event01) bool {
		text, _ := json.Marshal(written01(call.ID, e, nil)) // of our own types only
		_, err := fmt.Fprintf(w, "data: %s\n\n", text)
		return err == nil && control.Flush() == nil
	})
}

func (a *agent01) setPush(_ http.ResponseWriter, _ *http.Request, call *request01) (any, *error01) {
	j, unlock, e := a.find(call)
	if e != nil {
		return nil, e
	}
	defer unlock()
	j.push = call.Params.Push
	return &call.Params, nil
}

func (a *agent01) getPush(_ http.ResponseWriter, _ *http.Request, call *request01) (any, *error01) {
	j, unlock, e := a.find(call)
	if e != nil {
		return nil, e
	}
	defer unlock()
	return &params01{ID: call.Params.ID, Push: j.push}, nil
}
