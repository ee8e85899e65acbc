package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// The limits that evil agents run into, small where waiting for them takes time.
const (
	evilServer = `  limits: {answer: 1MiB, event: 1MiB}
  timeouts: {stream: 1s, heartbeat: 500ms}`
	evilStreams = `streams: {resubscribe: 0, lifetime: 2s, linger: 1s}`
	evilMemory  = 160 << 10 // KiB; the gateway alone takes about 50 MiB
)

// What evil agents begin with.
const (
	evilJSON   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	evilEvents = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	evilTask   = `{"id":"%TASK%","contextId":"of-%TASK%","status":{"state":"TASK_STATE_WORKING"}}`
	evilDone   = `{"statusUpdate":{"taskId":"%TASK%","contextId":"of-%TASK%","status":{"state":"TASK_STATE_COMPLETED"}}}`
	evilUpdate = `{"statusUpdate":{"taskId":"%TASK%","contextId":"of-%TASK%","status":{"state":"TASK_STATE_WORKING","message":` +
		`{"messageId":"u","role":"ROLE_AGENT","parts":[{"text":"%TEXT%"}]}}}}`
	evilMessage = `{"message":{"messageId":"re","role":"ROLE_AGENT","parts":[{"text":"%TEXT%"}]}}`
)

// fill puts the call's id into a result, and a task's made of it.
func fill(r *gatewaytest.Recorded, text, result string) string {
	return strings.NewReplacer("%TASK%", "task-"+strings.Trim(r.ID(), `"`), "%TEXT%", text).Replace(
		`{"jsonrpc":"2.0","id":` + r.ID() + `,"result":` + result + `}`)
}

// event is an event of a stream.
func event(r *gatewaytest.Recorded, text, result string) string {
	return "data: " + fill(r, text, result) + "\n\n"
}

// sized is a JSON answer of the length it has.
func sized(body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", evilJSON, len(body), body)
}

// says writes what a function makes of a request, and keeps the connection or not.
func says(keep bool, text func(r *gatewaytest.Recorded) string) gatewaytest.Reply {
	return func(_ context.Context, conn net.Conn, r *gatewaytest.Recorded) bool {
		_, err := io.WriteString(conn, text(r))
		return err == nil && keep
	}
}

// pours writes a beginning and then the same again and again, as often and with such
// pauses, until nobody takes it any more.
func pours(begin func(r *gatewaytest.Recorded) string, again string, times int, pause time.Duration, end string) gatewaytest.Reply {
	return func(ctx context.Context, conn net.Conn, r *gatewaytest.Recorded) bool {
		_, err := io.WriteString(conn, begin(r))
		for n := 0; err == nil && n < times && ctx.Err() == nil; n++ {
			_, err = io.WriteString(conn, again)
			time.Sleep(pause)
		}
		if err == nil {
			_, _ = io.WriteString(conn, end)
		}
		return false
	}
}

// opens begins an event stream with a task.
func opens(r *gatewaytest.Recorded) string {
	return evilEvents + event(r, "", `{"task":`+evilTask+`}`)
}

// space is 64 MiB of white space, packed.
var space = sync.OnceValue(func() string {
	return packed(strings.Repeat(" ", 64<<20))
})

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// bomb is an answer behind much white space, packed.
func bomb(r *gatewaytest.Recorded) string {
	body := space() + packed(fill(r, "bomb", evilMessage))
	return fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", evilJSON, len(body), body)
}

// evil is something that an agent may do, and what the client is to be told.
type evil struct {
	name    string
	streams bool
	long    string // in the request, where it is to be long
	does    gatewaytest.Reply
	status  int
	says    string // in the answer
	not     string // not in it
}

func evils() []evil {
	begin := func(text string) func(*gatewaytest.Recorded) string {
		return func(*gatewaytest.Recorded) string { return text }
	}
	const forever = 1 << 30
	const bad, late = "INVALID_AGENT_RESPONSE", "AGENT_TIMEOUT"
	return []evil{
		{name: "two responses", does: says(true, func(r *gatewaytest.Recorded) string {
			return sized(fill(r, "first", evilMessage)) + sized(fill(r, "stray", evilMessage))
		}), status: 200, says: "first", not: "stray"},
		{name: "no length", does: says(false, func(r *gatewaytest.Recorded) string {
			return evilJSON + "\r\n" + fill(r, "no length", evilMessage)
		}), status: 200, says: "no length"},
		{name: "no length and no end", does: pours(begin(evilJSON+"\r\n"), " ", forever, 100*time.Millisecond, ""), status: 504, says: late},
		{name: "another id", does: gatewaytest.WrongID(`{"message":{"messageId":"re","role":"ROLE_AGENT","parts":[]}}`), status: 502, says: bad},
		{name: "a byte a second", does: pours(begin(evilJSON+"Content-Length: 1000\r\n\r\n{"), " ", forever, time.Second, ""), status: 504, says: late},
		{name: "a byte of the head a second", does: pours(begin("HTTP"), "/", forever, time.Second, ""), status: 504, says: late},
		{name: "headers without end", does: pours(begin(evilJSON), "X-Field: "+strings.Repeat("x", 1000)+"\r\n", forever, 0, ""), status: 502},
		{name: "1000 early hints", does: pours(begin(""), "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 1000, 0, sized("{}")), status: 502},
		{name: "gzip bomb", does: says(true, bomb), status: 502, says: bad, not: "bomb"},
		{name: "100 MB", does: pours(begin(evilJSON+"\r\n"), strings.Repeat(" ", 1<<20), 100, 0, ""), status: 502, says: "server.limits.answer"},
		{name: "invalid UTF-8", does: says(true, func(r *gatewaytest.Recorded) string {
			return sized(fill(r, "\xff\xfe", evilMessage))
		}), status: 502, says: bad},
		{name: "a line of 100 MB", streams: true, does: pours(func(r *gatewaytest.Recorded) string { return opens(r) + "data: " },
			strings.Repeat("x", 1<<20), 100, 0, "\n\n"), status: 200, says: "limits.event"},
		{name: "a line without end", streams: true, does: pours(func(r *gatewaytest.Recorded) string { return opens(r) + `data: {"` },
			"x", forever, 100*time.Millisecond, ""), status: 200, says: late},
		{name: "comments without end", streams: true, does: pours(opens, ": still here\n\n", forever, time.Millisecond, ""), status: 200, says: "again"},
		{name: "comments in a flood", streams: true, does: pours(opens, strings.Repeat(": still here\n", 1000), forever, 0, ""), status: 200, says: "again"},
		{name: "a comment of 100 MB", streams: true, does: pours(func(r *gatewaytest.Recorded) string { return opens(r) + ":" },
			strings.Repeat("x", 1<<20), 100, 0, "\n\n"), status: 200, says: "limits.event"},
		{name: "an event after the last", streams: true, does: says(false, func(r *gatewaytest.Recorded) string {
			return opens(r) + event(r, "", evilDone) + event(r, "belated", evilUpdate)
		}), status: 200, says: "belated"}, // and on record
		{name: "invalid UTF-8 in an event", streams: true, does: says(false, func(r *gatewaytest.Recorded) string {
			return opens(r) + event(r, "\xff\xfe", evilUpdate) + event(r, "", evilDone)
		}), status: 200, says: "error", not: "\xff"},
		{name: "another id in an event", streams: true, does: says(false, func(r *gatewaytest.Recorded) string {
			return opens(r) + strings.Replace(event(r, "foreign", evilUpdate), r.ID(), `"another"`, 1) + event(r, "", evilDone)
		}), status: 200, says: "error", not: "foreign"},
	}
}

// TestL19_EvilAgents has an agent do what it should not. Each time the client is told so
// in time, the gateway's memory stays as it was, more or less, and the next call gets its
// own answer.
func TestL19_EvilAgents(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.NewRecorder(t, "1.0")
	p := serveFleet(t, evilServer, evilStreams, fmt.Sprintf(`{id: evil, card: %q, answerTimeout: 1s}`, agent.CardURL))
	c := p.caller("evil")
	good := says(true, func(r *gatewaytest.Recorded) string { return sized(fill(r, "good "+r.ID()[1:5], evilMessage)) })
	agent.Script(good)
	eventually(t, "the agent is there", 10*time.Second, func() bool { return c.send("0000").status == http.StatusOK })
	base := p.rss()
	space() // takes a while
	for n, e := range evils() {
		t.Run(e.name, func(t *testing.T) {
			agent.Script(e.does)
			e.call(t, p, c, fmt.Sprintf("evil%d", n), base)
			agent.Script(good)
			for k := range 3 {
				id := fmt.Sprintf("%02d%02d", n, k)
				if a := c.send(id); a.status != http.StatusOK || !strings.Contains(a.body, "good "+id) {
					t.Errorf("the next call: %d %.300s %v", a.status, a.body, a.err)
				}
			}
		})
	}
}

// call makes a call and judges what comes of it; the gateway took base KiB before.
func (e evil) call(t *testing.T, p *place, c *caller, id string, base int) {
	t.Helper()
	watched := p.watch()
	method := "SendMessage"
	if e.streams {
		method = "SendStreamingMessage"
	}
	a := c.call(method, id, fmt.Sprintf(message, id+e.long))
	most := watched()
	t.Logf("%d after %v, %d MiB more at most: %s", a.status, a.took.Round(time.Millisecond), (most-base)>>10, tail(a.body))
	if e.status == 0 && (a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout) {
		e.status = a.status
	}
	if a.err != nil || a.status != e.status || !strings.Contains(a.body, e.says) || e.not != "" && strings.Contains(a.body, e.not) {
		t.Errorf("%d %.500s %v, want %d with %q, without %q", a.status, a.body, a.err, e.status, e.says, e.not)
	}
	if a.took > 5*time.Second {
		t.Errorf("told after %v", a.took)
	}
	if most > evilMemory {
		t.Errorf("the gateway takes %d KiB", most)
	}
}

// tail is the end of a text, where streams say what became of them.
func tail(text string) string { return strings.Join(strings.Fields(text[max(0, len(text)-300):]), " ") }

// watch measures the memory of the process until the function it returns is called,
// which says the most it was.
func (p *place) watch() func() int {
	var most atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(20 * time.Millisecond); ; {
			most.Store(max(most.Load(), int64(p.rss())))
			select {
			case <-tick:
			case <-stop:
				return
			}
		}
	}()
	return func() int {
		close(stop)
		<-done
		return int(most.Load())
	}
}
