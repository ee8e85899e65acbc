package proxytest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Worker is an agent of A2A 1.0 over JSON-RPC that works on one task, as the test says.
type Worker struct {
	testing.TB
	mu      sync.Mutex
	state   string
	chunks  []string // of its artifact
	streams map[chan string]struct{}
	Deaf    bool // it has no SubscribeToTask
	gone    bool // whoever asks is cut off
	Sloppy  bool // its streams of sends do not begin with the task
	HangsUp bool // behind the first event
}

// StartWorker has the gateway's agent be a worker.
func (w *Gateway) StartWorker() *Worker {
	k := &Worker{TB: w.TB, state: "TASK_STATE_SUBMITTED", streams: map[chan string]struct{}{}}
	w.Agent.Answers(k.serve)
	return k
}

func (k *Worker) serve(rw http.ResponseWriter, r *Request) {
	k.mu.Lock()
	if k.gone {
		k.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	id, method := r.RPC().ID, r.RPC().Method
	switch {
	case method == "GetTask":
		doc := k.task()
		k.mu.Unlock()
		Respond(rw, r, doc)
		return
	case method == "SubscribeToTask" && (k.Deaf || k.over()):
		k.mu.Unlock()
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32004,\"message\":\"no\"}}\n\n", id)
		return
	}
	events := make(chan string, 1000)
	if !k.Sloppy || method == "SubscribeToTask" {
		events <- `{"task":` + k.task() + `}`
	}
	if k.HangsUp {
		events <- ""
	} else {
		k.streams[events] = struct{}{}
	}
	k.mu.Unlock()
	rw.Header().Set("Content-Type", "text/event-stream")
	Flush(rw)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			if e == "" { // the connection breaks
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(rw, EventOf(r, e))
			Flush(rw)
		case <-r.Context().Done():
			k.mu.Lock()
			delete(k.streams, events)
			k.mu.Unlock()
			return
		}
	}
}

// task is the task as it is.
func (k *Worker) task() string {
	artifacts := ""
	if len(k.chunks) > 0 {
		artifacts = `,"artifacts":[{"artifactId":"a","parts":[` + strings.Join(k.chunks, ",") + `]}]`
	}
	return `{"id":"t","contextId":"c","status":{"state":"` + k.state + `"}` + artifacts + `}`
}

func (k *Worker) over() bool { return strings.HasSuffix(k.state, "COMPLETED") }

// Say adds a chunk to the artifact.
func (k *Worker) Say(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	part := `{"text":"` + text + `"}`
	more := len(k.chunks) > 0
	k.chunks = append(k.chunks, part)
	k.tell(fmt.Sprintf(`{"artifactUpdate":{"taskId":"t","contextId":"c","append":%v,"artifact":{"artifactId":"a","parts":[%s]}}}`, more, part))
}

// Become changes the state.
func (k *Worker) Become(state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = "TASK_STATE_" + state
	k.tell(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"` + k.state + `"}}}`)
	if !k.over() {
		return
	}
	for s := range k.streams {
		close(s)
		delete(k.streams, s)
	}
}

func (k *Worker) tell(event string) {
	for s := range k.streams {
		s <- event
	}
}

// Breaks cuts all streams off.
func (k *Worker) Breaks() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for s := range k.streams {
		s <- ""
		delete(k.streams, s)
	}
}

// Leaves has the agent be away, or come back.
func (k *Worker) Leaves(gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = gone
}

// Watched is how many streams are open.
func (k *Worker) Watched() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.streams)
}
