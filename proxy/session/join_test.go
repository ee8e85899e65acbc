package session_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// shownOddly is a task with all that a careless copy of it would lose.
const shownOddly = `{ "task": {"x-new": {"n":1.0,"e":{},"l":[],"z":null}, "metadata": {}, "id" :"t","contextId":"c",` +
	`"status":{"state":"TASK_STATE_WORKING", "timestamp":"2026-01-02T03:04:05.000Z","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"\u0061"}],"metadata":{},"extensions":[]}},` +
	`"artifacts":[ {"artifactId":"a","parts":[{"text":"x"}],"metadata":{},"extensions":[]} , {"artifactId":"b","parts":[{"data":{"n":1.0}}]}],"history": [ ]} }`

// onlooker is a client's stream of which every byte counts.
type onlooker struct {
	t     *testing.T
	lines *bufio.Reader
	rpc   *grpcframe.Reader
}

// looksOn opens a stream as a side.
func looksOn(w *proxytest.Gateway, t *testing.T, caller wire.Side, method string) *onlooker {
	t.Helper()
	m, a := proxytest.MethodOf(method), proxytest.Ask{Method: method, Task: "t"}
	if m.Subject == wire.OfMessage {
		a.Task = ""
	}
	verb, target, body, client := "POST", "", a.Params(caller), w.Client
	header := []string{"A2A-Version: 1.0"}
	switch caller.Binding {
	case wire.GRPC:
		message, err := wire.RequestMessage(m, caller.Version, []byte(body))
		proxytest.Must(t, err)
		target, body, client = w.URL+m.RPC(caller.Version), string(grpcframe.Append(nil, message)), w.H2()
		header = []string{"Te: trailers"}
	case wire.JSONRPC:
		body = proxytest.RPCBody(method, body)
	default:
		if target = "/message:stream"; m.Subject != wire.OfMessage {
			target = "/tasks/t:subscribe"
		}
	}
	r := w.Request("tied", verb, target, body, header...)
	if caller.Binding == wire.GRPC {
		r.Header.Set("Content-Type", "application/grpc")
	}
	resp, err := client.Do(r)
	proxytest.Must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &onlooker{t, bufio.NewReader(resp.Body), grpcframe.NewReader(resp.Body, 1<<20)}
}

// event is the next event, as it came.
func (o *onlooker) event(caller wire.Side) string {
	o.t.Helper()
	if caller.Binding == wire.GRPC {
		message, err := o.rpc.Next()
		proxytest.Must(o.t, err)
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
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		shown, change := []byte(shownOddly), []byte(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{}}}`)
		if agent == proxytest.GRPC10 {
			shown, change = messageOf(t, shown), messageOf(t, change)
			shown = protowire.AppendVarint(protowire.AppendTag(shown, 200, protowire.VarintType), 7) // that nobody knows
		}
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			w, next := proxytest.Bystanders(t, agent, shown)
			first := looksOn(w, t, caller, wire.SendStreamingMessage)
			want := first.event(caller)
			if agent == caller && !strings.Contains(want, string(shown)) {
				t.Errorf("%s: the first client got %q", agent, want)
			}
			second := looksOn(w, t, caller, wire.SubscribeToTask)
			if got := second.event(caller); got != want {
				t.Errorf("%s to %s: who joined got\n%q, others\n%q", caller, agent, got, want)
			}
			next <- change
			if a, b := first.event(caller), second.event(caller); a != b {
				t.Errorf("%s to %s: %q and %q", caller, agent, a, b)
			}
			late := looksOn(w, t, caller, wire.SubscribeToTask).event(caller)
			if caller == agent && caller != proxytest.GRPC10 {
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
			if got := methods(w); len(got) != 1 { // before its stream ends early, after which another is asked for
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, proxytest.WithStreams())
	next := make(chan string)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for event := `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`; ; {
			_, _ = rw.Write([]byte(`data: { "jsonrpc":"2.0","result":` + event + "}\n\n"))
			proxytest.Must(t, http.NewResponseController(rw).Flush())
			select {
			case event = <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	open := func(method, id, params string) *onlooker {
		body := `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
		resp, err := w.Client.Do(w.Request("tied", "POST", "", body, "A2A-Version: 1.0"))
		proxytest.Must(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return &onlooker{t: t, lines: bufio.NewReader(resp.Body)}
	}
	ids := []string{"null", "7", `"b"`}
	clients := []*onlooker{open(wire.SendStreamingMessage, ids[0], proxytest.Message(""))}
	first := clients[0].event(proxytest.RPC10)
	for _, id := range ids[1:] {
		clients = append(clients, open(wire.SubscribeToTask, id, `{"id":"t"}`))
	}
	for i, c := range clients {
		event := first
		if i > 0 {
			event = c.event(proxytest.RPC10)
		}
		if !strings.HasPrefix(event, `{"id":`+ids[i]+`, "jsonrpc"`) {
			t.Errorf("the first event to %s is %s", ids[i], event)
		}
	}
	next <- `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	for i, c := range clients {
		if event := c.event(proxytest.RPC10); !strings.HasPrefix(event, `{"id":`+ids[i]+`, "jsonrpc"`) {
			t.Errorf("the next event to %s is %s", ids[i], event)
		}
	}
	if got := methods(w); len(got) != 1 {
		t.Errorf("the agent got %q", got)
	}
}

// messageOf is a StreamResponse as gRPC has it.
func messageOf(t *testing.T, doc []byte) []byte {
	t.Helper()
	known := strings.ReplaceAll(string(doc), `"x-new": {"n":1.0,"e":{},"l":[],"z":null}, `, "")
	message, err := wire.ResponseMessage(proxytest.MethodOf(wire.SubscribeToTask), wire.V10, []byte(known))
	proxytest.Must(t, err)
	return message
}
