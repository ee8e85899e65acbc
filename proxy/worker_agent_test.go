package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// worker is an agent of A2A 1.0 over JSON-RPC that works on one task, as the test says.
type worker struct {
	testing.TB
	mu      sync.Mutex
	state   string
	chunks  []string // of its artifact
	streams map[chan string]struct{}
	deaf    bool // it has no SubscribeToTask
	gone    bool // whoever asks is cut off
	sloppy  bool // its streams of sends do not begin with the task
	hangsUp bool // behind the first event
}

// works has the world's agent be a worker.
func (w *world) works() *worker {
	k := &worker{TB: w.TB, state: "TASK_STATE_SUBMITTED", streams: map[chan string]struct{}{}}
	w.agent.answers(k.serve)
	return k
}

func (k *worker) serve(rw http.ResponseWriter, r *record) {
	k.mu.Lock()
	if k.gone {
		k.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	id, method := r.rpc().ID, r.rpc().Method
	switch {
	case method == "GetTask":
		doc := k.task()
		k.mu.Unlock()
		reply(rw, r, doc)
		return
	case method == "SubscribeToTask" && (k.deaf || k.over()):
		k.mu.Unlock()
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32004,\"message\":\"no\"}}\n\n", id)
		return
	}
	events := make(chan string, 1000)
	if !k.sloppy || method == "SubscribeToTask" {
		events <- `{"task":` + k.task() + `}`
	}
	if k.hangsUp {
		events <- ""
	} else {
		k.streams[events] = struct{}{}
	}
	k.mu.Unlock()
	rw.Header().Set("Content-Type", "text/event-stream")
	flush(rw)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			if e == "" { // the connection breaks
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(rw, eventOf(r, e))
			flush(rw)
		case <-r.Context().Done():
			k.mu.Lock()
			delete(k.streams, events)
			k.mu.Unlock()
			return
		}
	}
}

// task is the task as it is.
func (k *worker) task() string {
	artifacts := ""
	if len(k.chunks) > 0 {
		artifacts = `,"artifacts":[{"artifactId":"a","parts":[` + strings.Join(k.chunks, ",") + `]}]`
	}
	return `{"id":"t","contextId":"c","status":{"state":"` + k.state + `"}` + artifacts + `}`
}

func (k *worker) over() bool { return strings.HasSuffix(k.state, "COMPLETED") }

// say adds a chunk to the artifact.
func (k *worker) say(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	part := `{"text":"` + text + `"}`
	more := len(k.chunks) > 0
	k.chunks = append(k.chunks, part)
	k.tell(fmt.Sprintf(`{"artifactUpdate":{"taskId":"t","contextId":"c","append":%v,"artifact":{"artifactId":"a","parts":[%s]}}}`, more, part))
}

// become changes the state.
func (k *worker) become(state string) {
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

func (k *worker) tell(event string) {
	for s := range k.streams {
		s <- event
	}
}

// breaks cuts all streams off.
func (k *worker) breaks() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for s := range k.streams {
		s <- ""
		delete(k.streams, s)
	}
}

// leaves has the agent be away, or come back.
func (k *worker) leaves(gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = gone
}

// watched is how many streams are open.
func (k *worker) watched() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.streams)
}
