package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// said03 are events of a 0.3 agent by one letter: T and t are a task that works and one that
// has completed, S, s and F a status update that works, has completed, and has completed
// finally, A an artifact, M a message.
var said03 = map[rune]string{
	'T': `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`,
	't': `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}]}`,
	'S': `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}`,
	's': `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":false}`,
	'F': `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`,
	'A': `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}}`,
	'M': `{"kind":"message","messageId":"m","role":"agent","taskId":"t","contextId":"c","parts":[]}`,
}

// says03 streams events of said03.
func says03(rw http.ResponseWriter, r *record, letters string) {
	rw.Header().Set("Content-Type", "text/event-stream")
	for _, letter := range letters {
		_, _ = io.WriteString(rw, eventOf(r, said03[letter]))
	}
}

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
		w := in(t, speaks(rpc03), streaming())
		w.agent.answers(func(rw http.ResponseWriter, r *record) { says03(rw, r, tt.says) })
		l := w.listen("alice", "SendStreamingMessage", message(""))
		l.hears(tt.want...)
		r := w.found("end")
		if r["end"] != "agent finished" || r["grammar"] != nil || r["dropped_events"] != nil || r["regained"] != nil || r["task_state"] != "TASK_STATE_COMPLETED" {
			t.Errorf("%s: recorded %v", tt.says, r)
		}
		old := w.do("alice", "POST", "", rpcBody("message/stream", `{"message":{"kind":"message","role":"user","messageId":"n","parts":[]}}`))
		var want strings.Builder
		for _, letter := range tt.says {
			want.WriteString("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" + said03[letter] + "}\n\n")
		}
		if got := unnumbered(old.body); got != want.String() {
			t.Errorf("%s, to 0.3: %s", tt.says, got)
		}
	}
}

// TestEarlyEndBreaks: an agent that breaks off between the two is asked for what is missing,
// and the client that comes back meanwhile is still told the state.
func TestEarlyEndBreaks(t *testing.T) {
	testenv.Long(t, "the gateway waits before it asks an agent again")
	t.Parallel()
	w := in(t, speaks(rpc03), streaming())
	goOn := make(chan struct{})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		switch r.rpc().Method {
		case "message/stream":
			says03(rw, r, "TsA")
			must(w, http.NewResponseController(rw).Flush())
			<-goOn
			panic(http.ErrAbortHandler)
		case "tasks/get":
			reply(rw, r, `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[`+
				`{"artifactId":"a","parts":[{"kind":"text","text":"x"}]},{"artifactId":"b","parts":[{"kind":"text","text":"y"}]}]}`)
		default:
			_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"ended"}}`, r.rpc().ID)
		}
	})
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task working ", "+x")
	again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	close(goOn)
	l.hears("+y", "completed", "")
	again.hears("+y", "completed", "")
}

// TestMessagesInBetween: a message of the task's does not end a stream, in no version.
func TestMessagesInBetween(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"MTAF", "TMAF", "TMMAF", "MM", "TAFM"} {
		w := in(t, speaks(rpc03), streaming())
		w.agent.answers(func(rw http.ResponseWriter, r *record) { says03(rw, r, says) })
		for _, call := range []struct{ method, version string }{{"message/stream", "0.3"}, {"SendStreamingMessage", "1.0"}} {
			got := w.do("alice", "POST", "", rpcBody(call.method, strings.Replace(message(""), "ROLE_USER", map[string]string{"0.3": "user", "1.0": "ROLE_USER"}[call.version], 1)), "A2A-Version: "+call.version)
			seen := events(got.body)
			if len(seen) != len(says) {
				t.Errorf("%s to %s: %d events: %s", says, call.version, len(seen), got.body)
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
				w := build(t, streaming(func(c *stream.Config) { c.Grammar = grammar }), func(s *setup) { s.server.Limits.Event = 2000 })
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					rw.Header().Set("Content-Type", "text/event-stream")
					for _, e := range tt.events {
						if rest {
							_, _ = io.WriteString(rw, "data: "+e+"\n\n")
						} else {
							_, _ = io.WriteString(rw, eventOf(r, e))
						}
					}
				})
				path, body := "", rpcBody("SendStreamingMessage", message(""))
				if rest {
					path, body = "/message:stream", message("")
				}
				seen := events(w.do("alice", "POST", path, body, "A2A-Version: 1.0").body)
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
				r := w.found("events")
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
				if counted := w.metric("stream_events_dropped_total"); stops && counted != fmt.Sprint(tt.dropped) || !stops && counted != "" {
					t.Errorf("%s: counted %q", about, counted)
				}
				if counted := w.metric("stream_grammar_violations_total"); (tt.rule != nil) != (counted != "") {
					t.Errorf("%s: violations %q", about, counted)
				}
			}
		}
	}
}

// metric is the value of the first series of a metric; "" for none.
func (w *world) metric(name string) string {
	w.Helper()
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(w.tel.Registry, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if rest, ok := strings.CutPrefix(line, "a2a_gateway_"+name+"{"); ok {
			_, value, _ := strings.Cut(rest, "} ")
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// TestLeftOpen: an agent that never closes the stream of a task that has ended does not keep
// its client, and the record does not say that it has.
func TestLeftOpen(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) { c.CloseWait = secret.Duration(300 * time.Millisecond) }))
	var gone atomic.Bool
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, eventOf(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`))
		must(w, http.NewResponseController(rw).Flush())
		<-r.Context().Done()
		gone.Store(true)
	})
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task completed ", "")
	if r := w.found("end"); r["end"] != "agent left the stream open" || r["dropped_events"] != nil {
		t.Errorf("recorded %v", r)
	}
	eventually(t, "the agent's stream is closed", gone.Load)
}

// TestRegainedIsHeard: what is wrong with the stream that has come in the place of another is
// in the record as what is wrong with the first would be.
func TestRegainedIsHeard(t *testing.T) {
	t.Parallel()
	const chunk = `{"artifactUpdate":{"taskId":"t","contextId":"c","lastChunk":true,"artifact":{"artifactId":"a","parts":[{"text":"%s"}]}}}`
	w := build(t, streaming())
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, eventOf(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`))
		if r.rpc().Method == "SendStreamingMessage" {
			_, _ = io.WriteString(rw, "event: ping\ndata: {}\n\n")
			must(w, http.NewResponseController(rw).Flush())
			panic(http.ErrAbortHandler)
		}
		for _, e := range []string{
			fmt.Sprintf(chunk, "x"), fmt.Sprintf(chunk, "y"),
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		} {
			_, _ = io.WriteString(rw, "event: ping\ndata: {}\n\n"+eventOf(r, e))
		}
	})
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task working ", "+x", "+y", "completed", "")
	r := w.found("end")
	if r["regained"] != 1.0 || r["grammar"] != grammar.ErrAltered.Error() || r["skipped_events"] != 4.0 {
		t.Errorf("recorded %v", r)
	}
}
