package session_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

func methods(w *proxytest.Gateway) []string {
	var all []string
	for _, r := range w.Agent.Take() {
		all = append(all, r.RPC().Method)
	}
	return all
}

// TestResume: a client that comes back with the id of the event it had last gets exactly
// what it missed, and then what comes, whichever call it comes back with; the agent
// notices nothing.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, back := range []struct{ method, params string }{
		{"SubscribeToTask", `{"id":"t"}`},
		{"SendStreamingMessage", proxytest.Message("")}, // as browsers do, which repeat their request
	} {
		w := proxytest.NewGateway(t, proxytest.WithStreams())
		k := w.StartWorker()
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		k.Say("a")
		l.Hears("task submitted ", "+a")
		l.Leave()
		k.Say("b")
		k.Become("WORKING")
		again := w.Listen("alice", back.method, back.params, "Last-Event-ID: "+l.Last)
		again.Hears("+b", "working")
		k.Say("c")
		k.Become("COMPLETED")
		again.Hears("+c", "completed", "")
		if got := methods(w); !slices.Equal(got, []string{"SendStreamingMessage"}) {
			t.Errorf("%s: the agent got %q", back.method, got)
		}
		// Who lost the end can still have it.
		late := w.Listen("alice", back.method, back.params, "Last-Event-ID: "+l.Last)
		late.Hears("+b", "working", "+c", "completed", "")
		// The record of the call that was left may be the last that is written.
		var r map[string]any
		proxytest.Eventually(t, "record of four events replayed, among three", func() bool {
			all := w.Audited("call")
			i := slices.IndexFunc(all, func(r map[string]any) bool { return fmt.Sprint(r["replayed"]) == "4" })
			if i >= 0 {
				r = all[i]
			}
			return i >= 0 && len(all) == 3
		})
		if r["resumed"] != true || r["gap"] != nil || r["task_id"] != "t" {
			t.Errorf("%s: recorded %v", back.method, r)
		}
	}
}

// TestResumeGap: what is not kept is said to be missing by showing the task as it is.
func TestResumeGap(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]bool{"goes on": false, "has ended": true} {
		w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.Buffer.Events = 2 }))
		k := w.StartWorker()
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		l.Hears("task submitted ")
		first := l.Last
		for _, text := range []string{"a", "b", "c", "d"} {
			k.Say(text)
			l.Hears("+" + text)
		}
		if end {
			k.Become("COMPLETED")
			l.Hears("completed", "")
		}
		l.Leave()
		again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first)
		if end {
			again.Hears("task completed abcd", "")
		} else {
			again.Hears("task submitted abcd")
			k.Say("e")
			again.Hears("+e")
			again.Leave()
		}
		if r := w.RecordWith("resumed"); r["gap"] != true {
			t.Errorf("%s: recorded %v", name, r)
		}
	}
}

// TestA05_LastEventID: an event id is good for whoever got it, and for that task.
func TestA05_LastEventID(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams())
	k := w.StartWorker()
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	k.Say("a")
	l.Hears("task submitted ", "+a")
	head, _, _ := strings.Cut(l.Last, ".")
	flipped := []byte(l.Last)
	flipped[len(head)/2] ^= 1
	w.Agent.Take()
	for name, c := range map[string]struct{ who, method, params, id string }{
		"somebody else's":         {"bob", "SendStreamingMessage", proxytest.Message(""), l.Last},
		"somebody else's, asked":  {"bob", "SubscribeToTask", `{"id":"t"}`, l.Last},
		"of another task":         {"alice", "SubscribeToTask", `{"id":"t2"}`, l.Last},
		"forged":                  {"alice", "SubscribeToTask", `{"id":"t"}`, string(flipped)},
		"cut":                     {"alice", "SubscribeToTask", `{"id":"t"}`, head[:len(head)-4] + ".1"},
		"without number":          {"alice", "SubscribeToTask", `{"id":"t"}`, head},
		"of number 0":             {"alice", "SubscribeToTask", `{"id":"t"}`, head + ".0"},
		"of no number":            {"alice", "SubscribeToTask", `{"id":"t"}`, head + ".x"},
		"of a number in two ways": {"alice", "SubscribeToTask", `{"id":"t"}`, head + ".01"},
		"the agent's own":         {"alice", "SubscribeToTask", `{"id":"t"}`, "5f0c9f9e-0000-4000-8000-000000000000"},
		"endless":                 {"alice", "SubscribeToTask", `{"id":"t"}`, strings.Repeat("A", 5000) + ".1"},
	} {
		got := w.Listen(c.who, c.method, c.params, "Last-Event-ID: "+c.id)
		want := []string{"error -32602", ""}
		if c.who == "bob" && c.method == "SubscribeToTask" || c.params == `{"id":"t2"}` {
			want[0] = "error -32001" // the task is not theirs: that comes first
		}
		for _, e := range want {
			if event := got.Next(); event != e {
				t.Errorf("%s: %q, want %q", name, event, e)
			}
		}
		w.Agent.Silent(t, name)
	}
}

// TestForgets: who comes back and gets a stream of the agent's own, whose events have no ids,
// is told to forget the id it came with. With that it would be given once more what it has had.
func TestForgets(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.Buffer.Events, c.Buffer.Snapshot = 4, 1<<10 }))
	k := w.StartWorker()
	first := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	k.Become("WORKING")
	first.Hears("task submitted ", "working")
	away := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`)
	away.Hears("task working ")
	text := strings.Repeat("a", 300)
	k.Say("a")
	first.Hears("+a")
	away.Hears("+a")
	away.Leave()
	for range 8 {
		k.Say(text)
		first.Hears("+" + text)
	}
	back := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+away.Last)
	back.Last = away.Last
	back.Hears("task working a" + strings.Repeat(text, 8))
	if back.Last != "" {
		t.Errorf("it goes on with the id %q", back.Last)
	}
	k.Say("b")
	back.Hears("+b")
	first.Hears("+b")
	other := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`)
	other.Last = "unchanged"
	other.Hears("task working a" + strings.Repeat(text, 8) + "b")
	if other.Last != "unchanged" {
		t.Errorf("who came with no id has been given %q", other.Last)
	}
}

// TestJoinFull: without room for the task as it is, whoever subscribes is told which limit
// it is, and those who listen already notice nothing.
func TestJoinFull(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
		c.Buffer.Bytes, c.Buffer.Total, c.Buffer.Snapshot = 1<<10, 8<<10, 1<<20
	}))
	k := w.StartWorker()
	first := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	k.Become("WORKING")
	first.Hears("task submitted ", "working")
	early := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`)
	early.Hears("task working ")
	text := strings.Repeat("a", 700)
	for range 20 {
		k.Say(text)
		first.Hears("+" + text)
		early.Hears("+" + text)
	}
	refused := w.Call("alice", "SubscribeToTask", `{"id":"t"}`)
	proxytest.WantStatus(t, "without room", refused, 503)
	if body := refused.Body; !strings.Contains(body, "streams.buffer.total") || refused.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", refused.Header, body)
	}
	k.Become("COMPLETED")
	first.Hears("completed", "")
	early.Hears("completed", "")
}

// TestJoin: who subscribes to a task that somebody is listening to gets the task as it
// is, and shares the agent's stream.
func TestJoin(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams())
	k := w.StartWorker()
	first := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	k.Become("WORKING")
	k.Say("a")
	first.Hears("task submitted ", "working", "+a")
	var others []*proxytest.Listener
	for range 5 {
		l := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`)
		l.Hears("task working a")
		others = append(others, l)
	}
	first.Leave() // the stream is everybody's
	k.Say("b")
	for _, l := range others {
		l.Hears("+b")
	}
	others[0].Leave()
	k.Say("c")
	back := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+others[0].Last)
	back.Hears("+c")
	k.Become("COMPLETED")
	for _, l := range others[1:] {
		l.Hears("+c", "completed", "")
	}
	back.Hears("completed", "")
	if got := methods(w); !slices.Equal(got, []string{"SendStreamingMessage"}) {
		t.Errorf("the agent got %q", got)
	}
}

// TestRegain: the agent's connection breaks in the middle of a task, and its clients do
// not notice: what they missed is found by comparing the task with what they have had.
func TestRegain(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"subscribed to again": false, "watched": true} {
		w := proxytest.NewGateway(t, proxytest.WithStreams())
		k := w.StartWorker()
		k.Deaf = deaf
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		k.Become("WORKING")
		k.Say("a")
		l.Hears("task submitted ", "working", "+a")
		other := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`)
		other.Hears("task working a")
		k.Leaves(true)
		k.Breaks()
		k.Say("b")
		k.Say("c")
		time.Sleep(300 * time.Millisecond) // the agent is away for a while
		k.Leaves(false)
		for _, l := range []*proxytest.Listener{l, other} {
			l.Hears("+bc")
		}
		k.Become("COMPLETED")
		for _, l := range []*proxytest.Listener{l, other} {
			l.Hears("completed", "")
		}
		again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
		again.Hears("")
		if r := w.RecordWith("regained"); fmt.Sprint(r["regained"]) != "1" {
			t.Errorf("%s: recorded %v", name, r)
		}
	}
}

// TestRegainEndless: an agent that does not come back is waited for so long and no longer.
func TestRegainEndless(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
		window := quantity.Duration(500 * time.Millisecond)
		c.Resubscribe = &window
	}))
	k := w.StartWorker()
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task submitted ")
	k.Leaves(true)
	k.Breaks()
	l.Hears("error -32006", "")
	if r := w.RecordWith("end"); r["end"] != "agent connection broke" {
		t.Errorf("recorded %v", r)
	}
}

// TestRegainFlapping: an agent that shows the task and hangs up, again and again, is asked
// for so long as none of it brings anything new. Clients are shown nothing twice.
func TestRegainFlapping(t *testing.T) {
	t.Parallel()
	for name, sloppy := range map[string]bool{"the task first": false, "an update first": true} {
		w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
			window := quantity.Duration(time.Second)
			c.Resubscribe = &window
		}))
		k := w.StartWorker()
		k.Sloppy = sloppy
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		k.Become("WORKING")
		if !sloppy {
			l.Hears("task submitted ")
		}
		l.Hears("working")
		k.HangsUp = true
		k.Breaks()
		if sloppy {
			l.Hears("task working ") // what it is was not known before
		}
		l.Hears("error -32006", "")
		if n := len(methods(w)); n > 20 {
			t.Errorf("%s: the agent was asked %d times", name, n)
		}
	}
}

// TestRegainRepeated: an agent that shows the beginning of a task at every subscription, and
// hangs up, is asked less and less often, although each chunk may be a new one.
func TestRegainRepeated(t *testing.T) {
	testenv.Long(t, "an agent's questions are counted for three seconds")
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithStreams())
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		r.Event(rw, `{"task":`+proxytest.TaskIn(proxytest.RPC10, "t", "c", "working", "")+`}`)
		r.Event(rw, `{"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[{"text":"so "}]}}}`)
	})
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task working ", "+so ")
	time.Sleep(3 * time.Second)
	l.Leave()
	if n := len(methods(w)); n < 3 || n > 10 {
		t.Errorf("the agent was asked %d times in three seconds", n)
	}
}

// TestGrammarOnRecord: a stream that begins with an update is passed on, and stands in the
// record; where the configuration is strict it ends.
func TestGrammarOnRecord(t *testing.T) {
	t.Parallel()
	for word, strict := range map[string]bool{"enforce": false, "strict": true} {
		w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.Grammar = word }))
		k := w.StartWorker()
		k.Sloppy = true
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		k.Become("COMPLETED")
		if strict {
			l.Hears("error -32006", "")
			continue
		}
		l.Hears("completed", "")
		if r := w.RecordWith("grammar"); r["grammar"] != grammar.ErrFirst.Error() {
			t.Errorf("recorded %v", r)
		}
	}
}

// TestLinger: the agent's stream is read on when its client has gone, and ended when
// nobody comes back.
func TestLinger(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
		linger := quantity.Duration(200 * time.Millisecond)
		c.Linger = &linger
	}))
	k := w.StartWorker()
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task submitted ")
	l.Leave()
	proxytest.Eventually(t, "end of the agent's stream", func() bool { return k.Watched() == 0 })
	k.Say("a") // nobody reads it
	again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	again.Hears("+a") // it was found out by asking
	k.Become("COMPLETED")
	again.Hears("completed", "")
}

// TestStreamsPerPrincipal: one caller's streams leave room for others'.
func TestStreamsPerPrincipal(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
		two := 2
		c.PerPrincipal = &two
	}), func(s *proxytest.Setup) { s.Server.Limits = server.Limits{} })
	w.StartWorker()
	for range 2 {
		w.Listen("alice", "SendStreamingMessage", proxytest.Message("")).Hears("task submitted ")
	}
	w.Agent.Take()
	third := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
	if third.Status != http.StatusServiceUnavailable || !strings.Contains(third.Body, "streams.perPrincipal") {
		t.Errorf("%d %s", third.Status, third.Body)
	}
	w.Agent.Silent(t, "a stream too many")
}

// TestStreamLifetime: a stream that has lasted long enough ends with an event that says
// to come back, and loses nothing.
func TestStreamLifetime(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
		life := quantity.Duration(3 * time.Second)
		c.Lifetime = &life
	}))
	k := w.StartWorker()
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task submitted ", "error -32603", "")
	k.Say("a")
	again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	again.Hears("+a")
	if r := w.RecordWith("end"); r["end"] != "stream lifetime over" {
		t.Errorf("recorded %v", r)
	}
}

// TestStreamEnded: a stream that an operator ends says to come back and loses nothing; those
// of others do not notice.
func TestStreamEnded(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := proxytest.NewGateway(t, proxytest.WithStreams(), func(s *proxytest.Setup) { s.Streams = streams })
	k := w.StartWorker()
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task submitted ")
	other := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	k.Say("a")
	l.Hears("+a")
	other.Hears("+a")
	open := streams.List()
	slices.SortFunc(open, func(a, b openstreams.Status) int { return a.Began.Compare(b.Began) })
	if len(open) != 2 || open[0].Method != "SendStreamingMessage" || open[0].Task != "t" || open[1].Task != "t" || open[0].Principal != "alice" {
		t.Fatalf("open: %+v", open)
	}
	if streams.End("another") || !streams.End(open[0].ID) {
		t.Error("what is open is not ended, or what is not is")
	}
	l.Hears("error -32603", "")
	if streams.End(open[0].ID) {
		t.Error("ended twice")
	}
	k.Say("b")
	other.Hears("+b")
	again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	again.Hears("+b")
	if r := w.RecordWith("end"); r["end"] != "ended by an operator" {
		t.Errorf("recorded %v", r)
	}
}
