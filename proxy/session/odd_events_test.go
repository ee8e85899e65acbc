package session_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
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
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03} {
			if s.Binding != wire.JSONRPC && strings.Contains(tt.odd, "jsonrpc") {
				continue
			}
			t.Run(name+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(s))
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					rw.Header().Set("Content-Type", "text/event-stream")
					task := proxytest.TaskIn(s, "t", "c", "working", "")
					result := proxytest.StatusIn(s, "t", "c", "working", "")
					if s != proxytest.RPC03 {
						task = `{"task":` + task + `}`
					}
					r.Event(rw, task)
					odd := strings.NewReplacer("ID", string(r.RPC().ID), "RESULT", documentOf(r, result), "TASK", task).Replace(tt.odd)
					_, _ = io.WriteString(rw, odd)
					r.Event(rw, proxytest.StatusIn(s, "t", "c", "completed", ""))
				})
				got := w.Speak("alice", w.Base, s, proxytest.Ask{Method: wire.SendStreamingMessage})
				if len(got.Docs) != tt.passes || (got.Err != nil) != (tt.reason != "") {
					t.Errorf("got %d documents and %v: %s", len(got.Docs), got.Err, got.Body)
				}
				record := w.RecordOf(1)
				skipped, _ := record["skipped_events"].(float64)
				if reason, _ := record["reason"].(string); reason != tt.reason || skipped != tt.skipped {
					t.Errorf("recorded %v", record)
				}
			})
		}
	}
}

// documentOf is a result as its call's binding has it.
func documentOf(r *proxytest.Request, result string) string {
	if r.Side().Binding == wire.JSONRPC {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, result)
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
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03} {
			t.Run(name+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(s))
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					rw.Header().Set("Content-Type", "text/event-stream")
					task := proxytest.TaskIn(s, "t", "c", "working", "")
					if s != proxytest.RPC03 {
						task = `{"task":` + task + `}`
					}
					r.Event(rw, task)
					_, _ = io.WriteString(rw, tt.cut("data: "+documentOf(r, proxytest.StatusIn(s, "t", "c", "completed", ""))+"\n\n"))
				})
				got := w.Speak("alice", w.Base, s, proxytest.Ask{Method: wire.SendStreamingMessage})
				want := 1
				if tt.whole {
					want = 2
				}
				if len(got.Docs) != want || (got.Err == nil) != tt.whole {
					t.Errorf("got %d documents and %v: %s", len(got.Docs), got.Err, got.Body)
				}
				if end := w.RecordOf(1)["end"]; (end == "agent finished") != tt.whole {
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
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03} {
		for _, caller := range proxytest.Sides {
			if caller == proxytest.RPC01 {
				continue // whose tasks have ids before they begin
			}
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				t.Run(fmt.Sprintf("%s to %s %s", caller, agent, method), func(t *testing.T) {
					t.Parallel()
					w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
					w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
						task := proxytest.TaskIn(agent, "t", "c", "completed", `,"metadata":{"n":"`+half+`"}`)
						if agent != proxytest.RPC03 {
							task = `{"task":` + task + `}`
						}
						r.Say(rw, task)
					})
					got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: method, InPart: `,"metadata":{"n":"` + half + `"}`})
					if len(got.Docs) == 0 || got.Err != nil {
						t.Fatalf("got %v: %s", got.Err, got.Body)
					}
					asked, heard := string(w.Agent.One(t).Content), strings.Join(got.Docs, "")
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
		w := proxytest.NewGateway(t)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, `{"task":{`+member+`,"status":{"state":"TASK_STATE_COMPLETED"}}}`)
		})
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			if got := w.Call("alice", method, proxytest.Message("")); !strings.Contains(got.Body, "INVALID_AGENT_RESPONSE") {
				t.Errorf("%s %s: %d %s", method, member, got.Status, got.Body)
			}
		}
	}
}

// TestHalfSurrogatesJudged: a rule that looks into a message reads U+FFFD, and the agent is
// sent what the rule has read: what an agent that drops half a pair would make of it is not
// what the caller can have it do.
func TestHalfSurrogatesJudged(t *testing.T) {
	t.Parallel()
	w := proxytest.NewDenyingGateway(t, `agent == "rec" && message.parts.exists(p, p.text == "secret" || p.text == "nice \uFFFD")`)
	say := func(text string) proxytest.Response {
		return w.Call("carol", wire.SendMessage, `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"`+text+`"}]}}`)
	}
	for _, denied := range []string{`nice \ud83d`, `nice \ufffd`, `secret`} {
		if got := say(denied); !strings.Contains(got.Body, "UNAUTHORIZED") {
			t.Errorf("%s: %d %s", denied, got.Status, got.Body)
		}
		w.Agent.Silent(t, denied)
	}
	if got := say(`sec\ud83dret \ud83d\ude00`); got.Status != http.StatusOK {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if seen := string(w.Agent.One(t).Content); !strings.Contains(seen, `sec\ufffdret \ud83d\ude00`) {
		t.Errorf("the agent got %s", seen)
	}
}

// TestHalfSurrogatesShared: all clients of a stream get the same bytes, and one that joins
// gets the task with U+FFFD.
func TestHalfSurrogatesShared(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams())
	k := w.StartWorker()
	first := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	first.Hears("task submitted ")
	second := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first.Last)
	k.Say(`nice \ud83d`)
	data := func(l *proxytest.Listener) string {
		for {
			line, err := l.In.ReadString('\n')
			proxytest.Must(t, err)
			if strings.HasPrefix(line, "data: ") {
				return line
			}
		}
	}
	for _, l := range []*proxytest.Listener{first, second} {
		if got := data(l); !strings.Contains(got, `"text":"nice \ud83d"`) {
			t.Errorf("a client got %s", got)
		}
	}
	joined := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`)
	joined.Hears("task submitted nice \uFFFD")
	k.Say(`\ude00 day`)
	for _, l := range []*proxytest.Listener{first, second, joined} {
		if got := data(l); !strings.Contains(got, `"text":"\ude00 day"`) {
			t.Errorf("a client got %s", got)
		}
	}
}
