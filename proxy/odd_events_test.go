package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestOddEvents: what is no event of A2A's is passed over and counted, in every version and
// binding that has Server-Sent Events; what is one under another name is passed on; and what
// may have been one is not lost without an error.
func TestOddEvents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		odd     string // ID is the call's, RESULT another event's document
		passes  int    // events, of the two around it and it
		skipped float64
		reason  string // of an error in its place
	}{
		"empty data":                      {"data:\n\n", 2, 1, ""},
		"empty data and a space":          {"data: \n\n", 2, 1, ""},
		"blank data":                      {"data:   \ndata:\n\n", 2, 1, ""},
		"what ends other streams":         {"data: [DONE]\n\n", 2, 1, ""},
		"the same under a name":           {"event: done\ndata: [DONE] \n\n", 2, 1, ""},
		"more than that":                  {"data: [DONE] 1\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
		"no data":                         {"event: ping\n\nid: 7\n\n: x\n\nretry: 1\n\n", 2, 0, ""},
		"a ping without data":             {"event: ping\ndata:\n\n", 2, 1, ""},
		"a message without data":          {"event: message\ndata:\n\n", 2, 1, ""},
		"pings with data":                 {"event: ping\ndata: {}\n\nevent: keepalive\ndata: 2026-11-26\n\nevent: x\ndata: {\"t\":1}\n\n", 2, 3, ""},
		"a ping with an empty result":     {"event: ping\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\n\n", 2, 1, ""},
		"an event called message":         {"event: message\ndata: RESULT\n\n", 3, 0, ""},
		"an event under its own name":     {"event: task_status\ndata: RESULT\n\n", 3, 0, ""},
		"an error without data":           {"event: error\ndata:\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
		"an error without a document":     {"event: error\ndata: boom\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
		"a message without a document":    {"event: message\ndata: boom\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
		"no document":                     {"data: boom\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
		"somebody else's under a name":    {"event: ping\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":TASK}\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
		"a member twice, in what is read": {"event: message\ndata: {\"a\":1,\"a\":1}\n\n", 1, 0, "INVALID_AGENT_RESPONSE"},
	} {
		for _, s := range []wire.Side{rpc10, rest10, rpc03, rest03} {
			if s.Binding != wire.JSONRPC && strings.Contains(tt.odd, "jsonrpc") {
				continue
			}
			t.Run(name+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				w := in(t, speaks(s))
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					rw.Header().Set("Content-Type", "text/event-stream")
					task := taskIn(s, "t", "c", "working", "")
					result := statusIn(s, "t", "c", "working", "")
					if s != rpc03 {
						task = `{"task":` + task + `}`
					}
					r.event(rw, task)
					odd := strings.NewReplacer("ID", string(r.rpc().ID), "RESULT", documentOf(r, result), "TASK", task).Replace(tt.odd)
					_, _ = io.WriteString(rw, odd)
					r.event(rw, statusIn(s, "t", "c", "completed", ""))
				})
				got := w.speak("alice", w.base, s, ask{method: wire.SendStreamingMessage})
				if len(got.docs) != tt.passes || (got.err != nil) != (tt.reason != "") {
					t.Errorf("got %d documents and %v: %s", len(got.docs), got.err, got.body)
				}
				record := w.ended(1)
				skipped, _ := record["skipped_events"].(float64)
				if reason, _ := record["reason"].(string); reason != tt.reason || skipped != tt.skipped {
					t.Errorf("recorded %v", record)
				}
			})
		}
	}
}

// documentOf is a result as its call's binding has it.
func documentOf(r *record, result string) string {
	if r.side().Binding == wire.JSONRPC {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.rpc().ID, result)
	}
	return result
}

// TestLastEvent: an event counts although the agent's stream ends without the blank line
// behind it, if it is whole; of what is not, the client hears that the stream broke off.
func TestLastEvent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cut   func(event string) string // of the last event, which ends in a blank line
		whole bool
	}{
		"no blank line":         {func(e string) string { return e[:len(e)-1] }, true},
		"no line end":           {func(e string) string { return e[:len(e)-2] }, true},
		"a CR":                  {func(e string) string { return e[:len(e)-2] + "\r" }, true},
		"a name behind it":      {func(e string) string { return e[:len(e)-1] + "id: 7" }, true},
		"in two lines":          {func(e string) string { return strings.Replace(e[:len(e)-2], `,"`, ",\ndata: \"", 1) }, true},
		"without its last byte": {func(e string) string { return e[:len(e)-3] }, false},
		"in its middle":         {func(e string) string { return e[:len(e)/2] }, false},
		"before its data":       {func(string) string { return "id: 7\n" }, false},
		"in a name":             {func(string) string { return "dat" }, false},
		"a text":                {func(string) string { return "data: \"text\"" }, false},
	} {
		for _, s := range []wire.Side{rpc10, rest10, rpc03} {
			t.Run(name+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				w := in(t, speaks(s))
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					rw.Header().Set("Content-Type", "text/event-stream")
					task := taskIn(s, "t", "c", "working", "")
					if s != rpc03 {
						task = `{"task":` + task + `}`
					}
					r.event(rw, task)
					_, _ = io.WriteString(rw, tt.cut("data: "+documentOf(r, statusIn(s, "t", "c", "completed", ""))+"\n\n"))
				})
				got := w.speak("alice", w.base, s, ask{method: wire.SendStreamingMessage})
				want := 1
				if tt.whole {
					want = 2
				}
				if len(got.docs) != want || (got.err == nil) != tt.whole {
					t.Errorf("got %d documents and %v: %s", len(got.docs), got.err, got.body)
				}
				if end := w.ended(1)["end"]; (end == "agent finished") != tt.whole {
					t.Errorf("it ended with %v", end)
				}
			})
		}
	}
}

// TestHalfSurrogates: half of a surrogate pair in a text passes as it is between sides that
// speak alike, in events, answers and calls, and is U+FFFD where the text is retold.
func TestHalfSurrogates(t *testing.T) {
	t.Parallel()
	const half, mended = `nice \ud83d`, "nice \uFFFD"
	for _, agent := range []wire.Side{rpc10, rest10, rpc03, rest03} {
		for _, caller := range sides {
			if caller == rpc01 {
				continue // whose tasks have ids before they begin
			}
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				t.Run(fmt.Sprintf("%s to %s %s", caller, agent, method), func(t *testing.T) {
					t.Parallel()
					w := in(t, speaks(agent), tied)
					w.agent.answers(func(rw http.ResponseWriter, r *record) {
						task := taskIn(agent, "t", "c", "completed", `,"metadata":{"n":"`+half+`"}`)
						if agent != rpc03 {
							task = `{"task":` + task + `}`
						}
						r.say(rw, task)
					})
					got := w.speak("tied", w.base, caller, ask{method: method, inPart: `,"metadata":{"n":"` + half + `"}`})
					if len(got.docs) == 0 || got.err != nil {
						t.Fatalf("got %v: %s", got.err, got.body)
					}
					asked, heard := string(w.agent.one(t).body), strings.Join(got.docs, "")
					if caller == agent {
						if !strings.Contains(asked, half) || !strings.Contains(heard, half) {
							t.Errorf("it changed: asked %s, heard %s", asked, heard)
						}
						return
					}
					for _, text := range []string{asked, heard} {
						text = strings.ReplaceAll(strings.ReplaceAll(text, `\ufffd`, "\uFFFD"), `\uFFFD`, "\uFFFD")
						if strings.Contains(text, `\ud83d`) || !strings.Contains(text, mended) {
							t.Errorf("retold as %s", text)
						}
					}
				})
			}
		}
	}
}

// TestHalfSurrogatesInIDs: by ids, tasks are told apart, and two that parsers read as one
// must not be. They are refused, in calls, answers and events.
func TestHalfSurrogatesInIDs(t *testing.T) {
	t.Parallel()
	for _, member := range []string{
		`"id":"\ud83d","contextId":"c"`, `"id":"t","contextId":"\ud83d"`, `"id":"t","contextId":"c","\ud83d":1`,
		`"id":"t","contextId":"c","artifacts":[{"artifactId":"\ude00","parts":[]}]`,
		`"id":"t","contextId":"c","history":[{"messageId":"\ude00","role":"ROLE_AGENT","parts":[]}]`,
	} {
		w := build(t)
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			r.say(rw, `{"task":{`+member+`,"status":{"state":"TASK_STATE_COMPLETED"}}}`)
		})
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			if got := w.call("alice", method, message("")); !strings.Contains(got.body, "INVALID_AGENT_RESPONSE") {
				t.Errorf("%s %s: %d %s", method, member, got.status, got.body)
			}
		}
	}
}

// TestHalfSurrogatesJudged: a rule that looks into a message reads U+FFFD, and the agent is
// sent what the rule has read: what an agent that drops half a pair would make of it is not
// what the caller can have it do.
func TestHalfSurrogatesJudged(t *testing.T) {
	t.Parallel()
	w := considering(t, `agent == "rec" && message.parts.exists(p, p.text == "secret" || p.text == "nice \uFFFD")`)
	say := func(text string) answer {
		return w.call("carol", wire.SendMessage, `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"`+text+`"}]}}`)
	}
	for _, denied := range []string{`nice \ud83d`, `nice \ufffd`, `secret`} {
		if got := say(denied); !strings.Contains(got.body, "UNAUTHORIZED") {
			t.Errorf("%s: %d %s", denied, got.status, got.body)
		}
		w.agent.silent(t, denied)
	}
	if got := say(`sec\ud83dret \ud83d\ude00`); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if seen := string(w.agent.one(t).body); !strings.Contains(seen, `sec\ufffdret \ud83d\ude00`) {
		t.Errorf("the agent got %s", seen)
	}
}

// TestHalfSurrogatesShared: all clients of a stream get the same bytes, and one that joins
// gets the task with U+FFFD.
func TestHalfSurrogatesShared(t *testing.T) {
	t.Parallel()
	w := build(t, streaming())
	k := w.works()
	first := w.listen("alice", "SendStreamingMessage", message(""))
	first.hears("task submitted ")
	second := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first.last)
	k.say(`nice \ud83d`)
	data := func(l *listener) string {
		for {
			line, err := l.in.ReadString('\n')
			must(t, err)
			if strings.HasPrefix(line, "data: ") {
				return line
			}
		}
	}
	for _, l := range []*listener{first, second} {
		if got := data(l); !strings.Contains(got, `"text":"nice \ud83d"`) {
			t.Errorf("a client got %s", got)
		}
	}
	joined := w.listen("alice", "SubscribeToTask", `{"id":"t"}`)
	joined.hears("task submitted nice \uFFFD")
	k.say(`\ude00 day`)
	for _, l := range []*listener{first, second, joined} {
		if got := data(l); !strings.Contains(got, `"text":"\ude00 day"`) {
			t.Errorf("a client got %s", got)
		}
	}
}
