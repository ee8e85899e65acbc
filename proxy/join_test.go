package proxy_test

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// shownOddly is a task with all that a careless copy of it would lose.
const shownOddly = `{ "task": {"x-new": {"n":1.0,"e":{},"l":[],"z":null}, "metadata": {}, "id" :"t","contextId":"c",` +
	`"status":{"state":"TASK_STATE_WORKING", "timestamp":"2026-01-02T03:04:05.000Z","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"\u0061"}],"metadata":{},"extensions":[]}},` +
	`"artifacts":[ {"artifactId":"a","parts":[{"text":"x"}],"metadata":{},"extensions":[]} , {"artifactId":"b","parts":[{"data":{"n":1.0}}]}],"history": [ ]} }`

// bystanders is an agent of one side whose streams show a task, and go on when told.
func bystanders(t *testing.T, agent wire.Side, shown []byte) (w *world, next chan []byte) {
	t.Helper()
	w = in(t, speaks(agent), tied, streaming())
	next = make(chan []byte)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		events := func(data []byte) {
			if agent.Binding == wire.GRPC {
				data = grpcframe.Append(nil, data)
			} else {
				if agent.Binding == wire.JSONRPC {
					data = slices.Concat([]byte(`{"result": `), data, []byte(`, "jsonrpc" :"2.0","id": `), r.rpc().ID, []byte("}"))
				}
				data = slices.Concat([]byte("data: "), data, []byte("\n\n"))
			}
			_, _ = rw.Write(data)
			if err := http.NewResponseController(rw).Flush(); err != nil && r.Context().Err() == nil {
				t.Error(err) // else the gateway wants no more of this stream
			}
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		if agent.Binding == wire.GRPC {
			rw.Header().Set("Content-Type", "application/grpc")
			defer rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
		events(shown)
		for {
			select {
			case data := <-next:
				if data == nil {
					return
				}
				events(data)
			case <-r.Context().Done():
				return
			}
		}
	})
	return w, next
}

// onlooker is a client's stream of which every byte counts.
type onlooker struct {
	t     *testing.T
	lines *bufio.Reader
	rpc   *grpcframe.Reader
}

// looksOn opens a stream as a side.
func (w *world) looksOn(t *testing.T, caller wire.Side, method string) *onlooker {
	t.Helper()
	m, a := methodOf(method), ask{method: method, task: "t"}
	if m.Subject == wire.OfMessage {
		a.task = ""
	}
	verb, target, body, client := "POST", "", a.params(caller), w.http
	header := []string{"A2A-Version: 1.0"}
	switch caller.Binding {
	case wire.GRPC:
		message, err := wire.RequestMessage(m, caller.Version, []byte(body))
		must(t, err)
		target, body, client = w.url+m.RPC(caller.Version), string(grpcframe.Append(nil, message)), w.h2()
		header = []string{"Te: trailers"}
	case wire.JSONRPC:
		body = rpcBody(method, body)
	default:
		if target = "/message:stream"; m.Subject != wire.OfMessage {
			target = "/tasks/t:subscribe"
		}
	}
	r := w.request("tied", verb, target, body, header...)
	if caller.Binding == wire.GRPC {
		r.Header.Set("Content-Type", "application/grpc")
	}
	resp, err := client.Do(r)
	must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &onlooker{t, bufio.NewReader(resp.Body), grpcframe.NewReader(resp.Body, 1<<20)}
}

// event is the next event, as it came.
func (o *onlooker) event(caller wire.Side) string {
	o.t.Helper()
	if caller.Binding == wire.GRPC {
		message, err := o.rpc.Next()
		must(o.t, err)
		return string(message)
	}
	for {
		line, err := o.lines.ReadString('\n')
		if err != nil {
			o.t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return data
		}
	}
}

// TestJoinVerbatim: who joins the stream of a task that no event has changed is shown it
// in the agent's own bytes, as everybody before; of one that has changed, what has not.
func TestJoinVerbatim(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, grpc10} {
		shown, change := []byte(shownOddly), []byte(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{}}}`)
		if agent == grpc10 {
			shown, change = messageOf(t, shown), messageOf(t, change)
			shown = protowire.AppendVarint(protowire.AppendTag(shown, 200, protowire.VarintType), 7) // that nobody knows
		}
		for _, caller := range []wire.Side{rpc10, rest10, grpc10} {
			w, next := bystanders(t, agent, shown)
			first := w.looksOn(t, caller, wire.SendStreamingMessage)
			want := first.event(caller)
			if agent == caller && !strings.Contains(want, string(shown)) {
				t.Errorf("%s: the first client got %q", agent, want)
			}
			second := w.looksOn(t, caller, wire.SubscribeToTask)
			if got := second.event(caller); got != want {
				t.Errorf("%s to %s: who joined got\n%q, others\n%q", caller, agent, got, want)
			}
			next <- change
			if a, b := first.event(caller), second.event(caller); a != b {
				t.Errorf("%s to %s: %q and %q", caller, agent, a, b)
			}
			late := w.looksOn(t, caller, wire.SubscribeToTask).event(caller)
			if caller == agent && caller != grpc10 {
				for _, kept := range []string{
					`{"x-new": {"n":1.0,"e":{},"l":[],"z":null}, "metadata": {}, "id" :"t","contextId":"c",`,
					`"artifacts":[ {"artifactId":"a","parts":[{"text":"x"}],"metadata":{},"extensions":[]} , {"artifactId":"b","parts":[{"data":{"n":1.0}}]}]`,
					`"history": [{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"\u0061"}],"metadata":{},"extensions":[]}]`,
				} {
					if !strings.Contains(late, kept) {
						t.Errorf("%s: %s has lost %s", agent, late, kept)
					}
				}
			}
			if got := w.methods(); len(got) != 1 { // before its stream ends early, after which another is asked for
				t.Errorf("the agent got %q", got)
			}
			close(next)
		}
	}
}

// TestJoinWithoutID: an agent may leave out an id that is null, as serializers do. Who joins
// the stream of that call by one with another id is given its own.
func TestJoinWithoutID(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied, streaming())
	next := make(chan string)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for event := `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`; ; {
			_, _ = rw.Write([]byte(`data: { "jsonrpc":"2.0","result":` + event + "}\n\n"))
			must(t, http.NewResponseController(rw).Flush())
			select {
			case event = <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	open := func(method, id, params string) *onlooker {
		body := `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
		resp, err := w.http.Do(w.request("tied", "POST", "", body, "A2A-Version: 1.0"))
		must(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return &onlooker{t: t, lines: bufio.NewReader(resp.Body)}
	}
	ids := []string{"null", "7", `"b"`}
	clients := []*onlooker{open(wire.SendStreamingMessage, ids[0], message(""))}
	first := clients[0].event(rpc10)
	for _, id := range ids[1:] {
		clients = append(clients, open(wire.SubscribeToTask, id, `{"id":"t"}`))
	}
	for i, c := range clients {
		event := first
		if i > 0 {
			event = c.event(rpc10)
		}
		if !strings.HasPrefix(event, `{"id":`+ids[i]+`, "jsonrpc"`) {
			t.Errorf("the first event to %s is %s", ids[i], event)
		}
	}
	next <- `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	for i, c := range clients {
		if event := c.event(rpc10); !strings.HasPrefix(event, `{"id":`+ids[i]+`, "jsonrpc"`) {
			t.Errorf("the next event to %s is %s", ids[i], event)
		}
	}
	if got := w.methods(); len(got) != 1 {
		t.Errorf("the agent got %q", got)
	}
}

// messageOf is a StreamResponse as gRPC has it.
func messageOf(t *testing.T, doc []byte) []byte {
	t.Helper()
	known := strings.ReplaceAll(string(doc), `"x-new": {"n":1.0,"e":{},"l":[],"z":null}, `, "")
	message, err := wire.ResponseMessage(methodOf(wire.SubscribeToTask), wire.V10, []byte(known))
	must(t, err)
	return message
}
