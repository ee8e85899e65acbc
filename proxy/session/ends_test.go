package session_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// TestEarlyEnd: what an agent before 1.0 says between the end of a task and the end of its
// stream reaches its clients: those of its own version as it is, those of 1.0 before the
// end of the task.
func TestEarlyEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		says string
		want []string // of a client of 1.0
	}{
		{"TsAF", []string{"task working ", "+x", "completed", ""}},
		{"TsA", []string{"task working ", "+x", "completed", ""}},
		{"Ts", []string{"task working ", "completed", ""}},
		{"t", []string{"task completed x", ""}},
		{"sAF", []string{"task submitted ", "+x", "completed", ""}},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithStreams())
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { proxytest.SayV03(rw, r, tt.says) })
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		l.Hears(tt.want...)
		r := w.RecordWith("end")
		if r["end"] != "agent finished" || r["grammar"] != nil || r["dropped_events"] != nil || r["regained"] != nil || r["task_state"] != "TASK_STATE_COMPLETED" {
			t.Errorf("%s: recorded %v", tt.says, r)
		}
		old := w.Do("alice", "POST", "", proxytest.RPCBody("message/stream", `{"message":{"kind":"message","role":"user","messageId":"n","parts":[]}}`))
		var want strings.Builder
		for _, letter := range tt.says {
			want.WriteString("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" + proxytest.EventsV03[letter] + "}\n\n")
		}
		if got := proxytest.Unnumbered(old.Body); got != want.String() {
			t.Errorf("%s, to 0.3: %s", tt.says, got)
		}
	}
}

// TestEarlyEndBreaks: an agent that breaks off between the two is asked for what is missing,
// and the client that comes back meanwhile is still told the state.
func TestEarlyEndBreaks(t *testing.T) {
	testenv.Long(t, "the gateway waits before it asks an agent again")
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithStreams())
	goOn := make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		switch r.RPC().Method {
		case "message/stream":
			proxytest.SayV03(rw, r, "TsA")
			proxytest.Must(w, http.NewResponseController(rw).Flush())
			<-goOn
			panic(http.ErrAbortHandler)
		case "tasks/get":
			proxytest.Respond(rw, r, `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[`+
				`{"artifactId":"a","parts":[{"kind":"text","text":"x"}]},{"artifactId":"b","parts":[{"kind":"text","text":"y"}]}]}`)
		default:
			_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"ended"}}`, r.RPC().ID)
		}
	})
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task working ", "+x")
	again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	close(goOn)
	l.Hears("+y", "completed", "")
	again.Hears("+y", "completed", "")
}

// TestMessagesInBetween: a message of the task's does not end a stream, in no version.
func TestMessagesInBetween(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"MTAF", "TMAF", "TMMAF", "MM", "TAFM"} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithStreams())
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { proxytest.SayV03(rw, r, says) })
		for _, call := range []struct{ method, version string }{{"message/stream", "0.3"}, {"SendStreamingMessage", "1.0"}} {
			got := w.Do("alice", "POST", "", proxytest.RPCBody(call.method, strings.Replace(proxytest.Message(""), "ROLE_USER", map[string]string{"0.3": "user", "1.0": "ROLE_USER"}[call.version], 1)), "A2A-Version: "+call.version)
			seen := proxytest.EventsIn(got.Body)
			if len(seen) != len(says) {
				t.Errorf("%s to %s: %d events: %s", says, call.version, len(seen), got.Body)
			}
			for i, e := range seen {
				if strings.Contains(e, "messageId") != (says[i] == 'M') {
					t.Errorf("%s to %s, event %d: %s", says, call.version, i+1, e)
				}
			}
		}
	}
}

// TestStopsAloud: where a stream is not passed on to its end, the client is told so, and the
// record has the rule and what was dropped.
func TestStopsAloud(t *testing.T) {
	t.Parallel()
	const (
		task  = `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
		done  = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`
		work  = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
		other = `{"statusUpdate":{"taskId":"u","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
		where = `{"artifactUpdate":{"contextId":"d","artifact":{"artifactId":"a","parts":[]}}}`
		art   = `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`
		said  = `{"message":{"messageId":"x","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`
		bad   = `{"statusUpdate":{"taskId":7}}`
	)
	large := `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"` + strings.Repeat("x", 4000) + `"}]}}}`
	for name, tt := range map[string]struct {
		events  []string
		rule    error
		strict  int // events that pass where the configuration is strict; where it is not, all do or none more
		always  bool
		dropped int // events, where it stops
	}{
		"first":          {[]string{work, done}, grammar.ErrFirst, 0, false, 2},
		"second message": {[]string{said, said, said}, grammar.ErrSecondMessage, 1, false, 2},
		"mixed":          {[]string{task, said, art, done}, grammar.ErrMixed, 1, false, 3},
		"after end":      {[]string{task, done, art}, grammar.ErrAfterEnd, 2, false, 1},
		"backwards":      {[]string{task, done, work, done}, grammar.ErrBackwards, 2, false, 2},
		"other task":     {[]string{task, other, art, done}, grammar.ErrOtherTask, 1, true, 3},
		"other context":  {[]string{task, where, done}, grammar.ErrOtherContext, 1, true, 2},
		"malformed":      {[]string{task, bad, art}, nil, 1, true, 2},
		"too large":      {[]string{task, large, art, done}, nil, 1, true, 3},
		"once more":      {[]string{task, done, strings.Replace(task, "WORKING", "COMPLETED", 1)}, nil, 3, false, 0},
	} {
		for _, grammar := range []string{"enforce", "strict"} {
			for _, rest := range []bool{false, true} {
				w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.Grammar = grammar }), func(s *proxytest.Setup) { s.Server.Limits.Event = 2000 })
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					rw.Header().Set("Content-Type", "text/event-stream")
					for _, e := range tt.events {
						if rest {
							_, _ = io.WriteString(rw, "data: "+e+"\n\n")
						} else {
							_, _ = io.WriteString(rw, proxytest.EventOf(r, e))
						}
					}
				})
				path, body := "", proxytest.RPCBody("SendStreamingMessage", proxytest.Message(""))
				if rest {
					path, body = "/message:stream", proxytest.Message("")
				}
				seen := proxytest.EventsIn(w.Do("alice", "POST", path, body, "A2A-Version: 1.0").Body)
				stops := tt.dropped > 0 && (tt.always || grammar == "strict")
				want, errs := len(tt.events), 0
				if stops {
					want, errs = tt.strict, 1
				}
				about := fmt.Sprintf("%s, %s, REST %v", name, grammar, rest)
				failed := len(seen) > 0 && strings.Contains(seen[len(seen)-1], "INVALID_AGENT_RESPONSE")
				if len(seen) != want+errs || failed != stops {
					t.Errorf("%s: %q", about, seen)
				}
				r := w.RecordWith("events")
				rule := any(nil)
				if tt.rule != nil {
					rule = tt.rule.Error()
				}
				dropped := any(nil)
				if stops {
					dropped = float64(tt.dropped)
				}
				if r["grammar"] != rule || r["dropped_events"] != dropped || (r["dropped_bytes"] != nil) != stops || r["dropped_more"] != nil || stops == (r["end"] == "agent finished") {
					t.Errorf("%s: recorded %v", about, r)
				}
				if counted := w.Metric("stream_events_dropped_total"); stops && counted != fmt.Sprint(tt.dropped) || !stops && counted != "" {
					t.Errorf("%s: counted %q", about, counted)
				}
				if counted := w.Metric("stream_grammar_violations_total"); (tt.rule != nil) != (counted != "") {
					t.Errorf("%s: violations %q", about, counted)
				}
			}
		}
	}
}

// TestLeftOpen: an agent that never closes the stream of a task that has ended does not keep
// its client, and the record does not say that it has.
func TestLeftOpen(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.CloseWait = quantity.Duration(300 * time.Millisecond) }))
	var gone atomic.Bool
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, proxytest.EventOf(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`))
		proxytest.Must(w, http.NewResponseController(rw).Flush())
		<-r.Context().Done()
		gone.Store(true)
	})
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task completed ", "")
	if r := w.RecordWith("end"); r["end"] != "agent left the stream open" || r["dropped_events"] != nil {
		t.Errorf("recorded %v", r)
	}
	proxytest.Eventually(t, "the agent's stream is closed", gone.Load)
}

// TestRegainedIsHeard: what is wrong with the stream that has come in the place of another is
// in the record as what is wrong with the first would be.
func TestRegainedIsHeard(t *testing.T) {
	t.Parallel()
	const chunk = `{"artifactUpdate":{"taskId":"t","contextId":"c","lastChunk":true,"artifact":{"artifactId":"a","parts":[{"text":"%s"}]}}}`
	w := proxytest.NewGateway(t, proxytest.WithStreams())
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, proxytest.EventOf(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`))
		if r.RPC().Method == "SendStreamingMessage" {
			_, _ = io.WriteString(rw, "event: ping\ndata: {}\n\n")
			proxytest.Must(w, http.NewResponseController(rw).Flush())
			panic(http.ErrAbortHandler)
		}
		for _, e := range []string{
			fmt.Sprintf(chunk, "x"), fmt.Sprintf(chunk, "y"),
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		} {
			_, _ = io.WriteString(rw, "event: ping\ndata: {}\n\n"+proxytest.EventOf(r, e))
		}
	})
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task working ", "+x", "+y", "completed", "")
	r := w.RecordWith("end")
	if r["regained"] != 1.0 || r["grammar"] != grammar.ErrAltered.Error() || r["skipped_events"] != 4.0 {
		t.Errorf("recorded %v", r)
	}
}
