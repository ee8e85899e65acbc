package openstreams_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// mortal is a ledger that forgets what was not used for a while, by a clock of its own.
type mortal struct {
	state.Ledger // for what is not asked here

	mu      sync.Mutex
	now     int
	records map[ledgerName]*known
}

// ledgerName is what a record goes by.
type ledgerName struct {
	agent string
	kind  state.Kind
	id    string
}

// known is a record, and when it was used last.
type known struct {
	record state.Record
	used   int
}

// kept is how long a record lives.
const kept = 4

func (f *mortal) passes(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += n
}

// find is what is known, and a use of it.
func (f *mortal) find(agent string, k state.Kind, id string) (state.Record, bool) {
	r := f.records[ledgerName{agent, k, id}]
	if r == nil || f.now-r.used > kept {
		return state.Record{}, false
	}
	r.used = f.now
	return r.record, true
}

func (f *mortal) Lookup(_ context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.find(agent, k, id)
	return r, ok, nil
}

func (f *mortal) Claim(_ context.Context, r state.Record) (state.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if stands, ok := f.find(r.Agent, r.Kind, r.ID); ok {
		return stands, nil
	}
	f.records[ledgerName{r.Agent, r.Kind, r.ID}] = &known{r, f.now}
	return r, nil
}

func (f *mortal) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	found := make([]state.Record, len(refs))
	for i, ref := range refs {
		found[i], _, _ = f.Lookup(ctx, agent, ref.Kind, ref.ID)
	}
	return found, nil
}

func (f *mortal) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	stand := make([]state.Record, len(rs))
	for i, r := range rs {
		stand[i], _ = f.Claim(ctx, r)
	}
	return stand, nil
}

// lasting is a gateway whose state forgets, before an agent whose task t in context c goes on
// for as long as it is held: as a stream, and as the answer to whatever goes on with it.
func lasting(t *testing.T) (w *proxytest.Gateway, pass func(), held chan struct{}, end func()) {
	t.Helper()
	f := &mortal{records: map[ledgerName]*known{}}
	streams := &openstreams.Streams{Retention: time.Minute}
	w = proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Streams, s.Store = streams, f })
	held, ended := make(chan struct{}, 4), make(chan struct{})
	const task = `{"jsonrpc":"2.0","id":7,"result":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		switch body := string(r.Content); {
		case strings.Contains(body, "SendStreamingMessage"):
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, proxytest.EventOf(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`))
			proxytest.Flush(rw)
			held <- struct{}{}
			select {
			case <-ended:
			case <-r.Context().Done():
			}
		case strings.Contains(body, "SendMessage") && strings.Contains(body, `"taskId"`):
			held <- struct{}{}
			<-ended
			fallthrough
		case strings.Contains(body, "SendMessage"):
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, strings.Replace(task, `"result":`, `"result":{"task":`, 1)+"}")
		default:
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, task)
		}
	})
	pass = func() {
		t.Helper()
		for range 5 { // longer than records are kept, in steps that are shorter
			f.passes(kept - 1)
			proxytest.Must(t, streams.Renew(t.Context(), w.Proxy))
		}
	}
	return w, pass, held, sync.OnceFunc(func() { close(ended) })
}

// owns reports whether a caller may read the task, and go on in its context.
func owns(w *proxytest.Gateway, who string) (task, group bool) {
	w.Helper()
	task = !strings.Contains(w.Call(who, "GetTask", `{"id":"t"}`).Body, "error")
	return task, inContext(w, who)
}

// inContext reports whether the agent gets the context of a caller's message as it is.
func inContext(w *proxytest.Gateway, who string) bool {
	w.Helper()
	w.Agent.Take()
	got := w.Call(who, "SendMessage", proxytest.Message(`,"contextId":"c"`))
	seen := w.Agent.Take()
	if len(seen) != 1 {
		w.Fatalf("%s sends into the context: the agent saw %d requests, the answer is %s", who, len(seen), got.Body)
	}
	return seen[0].Call().ContextID == "c"
}

// TestUseKeepsRecords: while a stream of a task is open, or a call on it waits, the task and its
// context are the caller's and nobody else's, for however long nothing is said.
func TestUseKeepsRecords(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *proxytest.Gateway) (done func()){
		"stream": func(w *proxytest.Gateway) func() {
			l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
			w.ReadEvent(l.In)
			return l.Leave
		},
		"waiting call": func(w *proxytest.Gateway) func() {
			w.Call("alice", "SendMessage", proxytest.Message(""))
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				w.Call("alice", "SendMessage", proxytest.Message(`,"taskId":"t"`))
			}()
			return func() { <-answered }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, pass, held, end := lasting(t)
			defer end()
			done := begin(w)
			<-held
			pass()
			for who, want := range map[string]bool{"alice": true, "bob": false} {
				if task, group := owns(w, who); task != want || group != want {
					t.Errorf("%s has the task: %t, the context: %t", who, task, group)
				}
			}
			end()
			done()
		})
	}
}

// TestUnusedRecordsGo: what nobody uses any more is forgotten as before.
func TestUnusedRecordsGo(t *testing.T) {
	t.Parallel()
	w, pass, held, end := lasting(t)
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	w.ReadEvent(l.In)
	<-held
	end()
	_, err := io.Copy(io.Discard, l.In)
	proxytest.Must(t, err)
	proxytest.Eventually(t, "the end of the stream", func() bool { return len(w.Audited("call")) == 1 })
	pass()
	if task, group := owns(w, "alice"); task || group {
		t.Errorf("alice has the task: %t, the context: %t", task, group)
	}
}
