package proxy_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// listener is a client's open stream.
type listener struct {
	*world
	resp *http.Response
	in   *bufio.Reader
	last string // id of the event it had last
}

// listen opens a stream with a call of version 1.0.
func (w *world) listen(who, method, params string, header ...string) *listener {
	w.Helper()
	resp, err := w.http.Do(w.request(who, "POST", "", rpcBody(method, params), append(header, "A2A-Version: 1.0")...))
	must(w, err)
	l := &listener{world: w, resp: resp, in: bufio.NewReader(resp.Body)}
	w.Cleanup(l.leave)
	return l
}

// leave breaks the client's connection.
func (l *listener) leave() { _ = l.resp.Body.Close() }

// next is the next event in short: the state, the text of chunks, or the reason of an
// error; "" at the end of the stream.
func (l *listener) next() string {
	l.Helper()
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return ""
		}
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "id:"); ok {
			l.last = strings.TrimPrefix(id, " ")
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return short(l, data)
		}
	}
}

func short(t *listener, data string) string {
	t.Helper()
	type status struct {
		State string `json:"state"`
	}
	type artifact struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	var e struct {
		Result struct {
			Task *struct {
				Status    status     `json:"status"`
				Artifacts []artifact `json:"artifacts"`
			} `json:"task"`
			Status *struct {
				Status status `json:"status"`
			} `json:"statusUpdate"`
			Artifact *struct {
				Artifact artifact `json:"artifact"`
			} `json:"artifactUpdate"`
		} `json:"result"`
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	must(t, json.Unmarshal([]byte(data), &e))
	text := func(as ...artifact) (s string) {
		for _, a := range as {
			for _, p := range a.Parts {
				s += p.Text
			}
		}
		return s
	}
	state := func(s status) string { return strings.ToLower(strings.TrimPrefix(s.State, "TASK_STATE_")) }
	switch r := e.Result; {
	case e.Error != nil:
		return fmt.Sprintf("error %d", e.Error.Code)
	case r.Task != nil:
		return "task " + state(r.Task.Status) + " " + text(r.Task.Artifacts...)
	case r.Status != nil:
		return state(r.Status.Status)
	case r.Artifact != nil:
		return "+" + text(r.Artifact.Artifact)
	}
	return data
}

// hears reads events until all of want have come.
func (l *listener) hears(want ...string) {
	l.Helper()
	for i, w := range want {
		if got := l.next(); got != w {
			l.Fatalf("event %d is %q, want %q of %q; %v", i+1, got, w, want, l.audited("call"))
		}
	}
}

// streaming lets a world keep what its streams bring.
func streaming(change ...func(*stream.Config)) func(*setup) {
	return func(s *setup) {
		linger, again := secret.Duration(30*time.Second), secret.Duration(10*time.Second)
		s.stream = stream.Config{Linger: &linger, Resubscribe: &again, Grammar: "enforce", Poll: secret.Duration(100 * time.Millisecond)}
		for _, c := range change {
			c(&s.stream)
		}
	}
}

func (w *world) methods() []string {
	var all []string
	for _, r := range w.agent.take() {
		all = append(all, r.rpc().Method)
	}
	return all
}

// found waits for the record of a call that has something.
func (w *world) found(member string) (found map[string]any) {
	w.Helper()
	eventually(w, "record with "+member, func() bool {
		for _, r := range w.audited("call") {
			if r[member] != nil {
				found = r
			}
		}
		return found != nil
	})
	return found
}

// TestResume: a client that comes back with the id of the event it had last gets exactly
// what it missed, and then what comes, whichever call it comes back with; the agent
// notices nothing.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, back := range []struct{ method, params string }{
		{"SubscribeToTask", `{"id":"t"}`},
		{"SendStreamingMessage", message("")}, // as browsers do, which repeat their request
	} {
		w := build(t, streaming())
		k := w.works()
		l := w.listen("alice", "SendStreamingMessage", message(""))
		k.say("a")
		l.hears("task submitted ", "+a")
		l.leave()
		k.say("b")
		k.become("WORKING")
		again := w.listen("alice", back.method, back.params, "Last-Event-ID: "+l.last)
		again.hears("+b", "working")
		k.say("c")
		k.become("COMPLETED")
		again.hears("+c", "completed", "")
		if got := w.methods(); !slices.Equal(got, []string{"SendStreamingMessage"}) {
			t.Errorf("%s: the agent got %q", back.method, got)
		}
		// Who lost the end can still have it.
		late := w.listen("alice", back.method, back.params, "Last-Event-ID: "+l.last)
		late.hears("+b", "working", "+c", "completed", "")
		// The record of the call that was left may be the last that is written.
		var r map[string]any
		eventually(t, "record of four events replayed, among three", func() bool {
			all := w.audited("call")
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
		w := build(t, streaming(func(c *stream.Config) { c.Buffer.Events = 2 }))
		k := w.works()
		l := w.listen("alice", "SendStreamingMessage", message(""))
		l.hears("task submitted ")
		first := l.last
		for _, text := range []string{"a", "b", "c", "d"} {
			k.say(text)
			l.hears("+" + text)
		}
		if end {
			k.become("COMPLETED")
			l.hears("completed", "")
		}
		l.leave()
		again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first)
		if end {
			again.hears("task completed abcd", "")
		} else {
			again.hears("task submitted abcd")
			k.say("e")
			again.hears("+e")
			again.leave()
		}
		if r := w.found("resumed"); r["gap"] != true {
			t.Errorf("%s: recorded %v", name, r)
		}
	}
}

// TestA05_LastEventID: an event id is good for whoever got it, and for that task.
func TestA05_LastEventID(t *testing.T) {
	t.Parallel()
	w := build(t, streaming())
	k := w.works()
	l := w.listen("alice", "SendStreamingMessage", message(""))
	k.say("a")
	l.hears("task submitted ", "+a")
	head, _, _ := strings.Cut(l.last, ".")
	flipped := []byte(l.last)
	flipped[len(head)/2] ^= 1
	w.agent.take()
	for name, c := range map[string]struct{ who, method, params, id string }{
		"somebody else's":         {"bob", "SendStreamingMessage", message(""), l.last},
		"somebody else's, asked":  {"bob", "SubscribeToTask", `{"id":"t"}`, l.last},
		"of another task":         {"alice", "SubscribeToTask", `{"id":"t2"}`, l.last},
		"forged":                  {"alice", "SubscribeToTask", `{"id":"t"}`, string(flipped)},
		"cut":                     {"alice", "SubscribeToTask", `{"id":"t"}`, head[:len(head)-4] + ".1"},
		"without number":          {"alice", "SubscribeToTask", `{"id":"t"}`, head},
		"of number 0":             {"alice", "SubscribeToTask", `{"id":"t"}`, head + ".0"},
		"of no number":            {"alice", "SubscribeToTask", `{"id":"t"}`, head + ".x"},
		"of a number in two ways": {"alice", "SubscribeToTask", `{"id":"t"}`, head + ".01"},
		"the agent's own":         {"alice", "SubscribeToTask", `{"id":"t"}`, "5f0c9f9e-0000-4000-8000-000000000000"},
		"endless":                 {"alice", "SubscribeToTask", `{"id":"t"}`, strings.Repeat("A", 5000) + ".1"},
	} {
		got := w.listen(c.who, c.method, c.params, "Last-Event-ID: "+c.id)
		want := []string{"error -32602", ""}
		if c.who == "bob" && c.method == "SubscribeToTask" || c.params == `{"id":"t2"}` {
			want[0] = "error -32001" // the task is not theirs: that comes first
		}
		for _, e := range want {
			if event := got.next(); event != e {
				t.Errorf("%s: %q, want %q", name, event, e)
			}
		}
		w.agent.silent(t, name)
	}
}

// TestForgets: who comes back and gets a stream of the agent's own, whose events have no ids,
// is told to forget the id it came with. With that it would be given once more what it has had.
func TestForgets(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) { c.Buffer.Events, c.Buffer.Snapshot = 4, 1<<10 }))
	k := w.works()
	first := w.listen("alice", "SendStreamingMessage", message(""))
	k.become("WORKING")
	first.hears("task submitted ", "working")
	away := w.listen("alice", "SubscribeToTask", `{"id":"t"}`)
	away.hears("task working ")
	text := strings.Repeat("a", 300)
	k.say("a")
	first.hears("+a")
	away.hears("+a")
	away.leave()
	for range 8 {
		k.say(text)
		first.hears("+" + text)
	}
	back := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+away.last)
	back.last = away.last
	back.hears("task working a" + strings.Repeat(text, 8))
	if back.last != "" {
		t.Errorf("it goes on with the id %q", back.last)
	}
	k.say("b")
	back.hears("+b")
	first.hears("+b")
	other := w.listen("alice", "SubscribeToTask", `{"id":"t"}`)
	other.last = "unchanged"
	other.hears("task working a" + strings.Repeat(text, 8) + "b")
	if other.last != "unchanged" {
		t.Errorf("who came with no id has been given %q", other.last)
	}
}

// TestJoinFull: without room for the task as it is, whoever subscribes is told which limit
// it is, and those who listen already notice nothing.
func TestJoinFull(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) {
		c.Buffer.Bytes, c.Buffer.Total, c.Buffer.Snapshot = 1<<10, 8<<10, 1<<20
	}))
	k := w.works()
	first := w.listen("alice", "SendStreamingMessage", message(""))
	k.become("WORKING")
	first.hears("task submitted ", "working")
	early := w.listen("alice", "SubscribeToTask", `{"id":"t"}`)
	early.hears("task working ")
	text := strings.Repeat("a", 700)
	for range 20 {
		k.say(text)
		first.hears("+" + text)
		early.hears("+" + text)
	}
	refused := w.call("alice", "SubscribeToTask", `{"id":"t"}`)
	wantStatus(t, "without room", refused, 503)
	if body := refused.body; !strings.Contains(body, "streams.buffer.total") || refused.header.Get("Retry-After") == "" {
		t.Errorf("%v %s", refused.header, body)
	}
	k.become("COMPLETED")
	first.hears("completed", "")
	early.hears("completed", "")
}

// TestJoin: who subscribes to a task that somebody is listening to gets the task as it
// is, and shares the agent's stream.
func TestJoin(t *testing.T) {
	t.Parallel()
	w := build(t, streaming())
	k := w.works()
	first := w.listen("alice", "SendStreamingMessage", message(""))
	k.become("WORKING")
	k.say("a")
	first.hears("task submitted ", "working", "+a")
	var others []*listener
	for range 5 {
		l := w.listen("alice", "SubscribeToTask", `{"id":"t"}`)
		l.hears("task working a")
		others = append(others, l)
	}
	first.leave() // the stream is everybody's
	k.say("b")
	for _, l := range others {
		l.hears("+b")
	}
	others[0].leave()
	k.say("c")
	back := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+others[0].last)
	back.hears("+c")
	k.become("COMPLETED")
	for _, l := range others[1:] {
		l.hears("+c", "completed", "")
	}
	back.hears("completed", "")
	if got := w.methods(); !slices.Equal(got, []string{"SendStreamingMessage"}) {
		t.Errorf("the agent got %q", got)
	}
}

// TestRegain: the agent's connection breaks in the middle of a task, and its clients do
// not notice: what they missed is found by comparing the task with what they have had.
func TestRegain(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"subscribed to again": false, "watched": true} {
		w := build(t, streaming())
		k := w.works()
		k.deaf = deaf
		l := w.listen("alice", "SendStreamingMessage", message(""))
		k.become("WORKING")
		k.say("a")
		l.hears("task submitted ", "working", "+a")
		other := w.listen("alice", "SubscribeToTask", `{"id":"t"}`)
		other.hears("task working a")
		k.leaves(true)
		k.breaks()
		k.say("b")
		k.say("c")
		time.Sleep(300 * time.Millisecond) // the agent is away for a while
		k.leaves(false)
		for _, l := range []*listener{l, other} {
			l.hears("+bc")
		}
		k.become("COMPLETED")
		for _, l := range []*listener{l, other} {
			l.hears("completed", "")
		}
		again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
		again.hears("")
		if r := w.found("regained"); fmt.Sprint(r["regained"]) != "1" {
			t.Errorf("%s: recorded %v", name, r)
		}
	}
}

// TestRegainEndless: an agent that does not come back is waited for so long and no longer.
func TestRegainEndless(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) {
		window := secret.Duration(500 * time.Millisecond)
		c.Resubscribe = &window
	}))
	k := w.works()
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task submitted ")
	k.leaves(true)
	k.breaks()
	l.hears("error -32006", "")
	if r := w.found("end"); r["end"] != "agent connection broke" {
		t.Errorf("recorded %v", r)
	}
}

// TestRegainFlapping: an agent that shows the task and hangs up, again and again, is asked
// for so long as none of it brings anything new. Clients are shown nothing twice.
func TestRegainFlapping(t *testing.T) {
	t.Parallel()
	for name, sloppy := range map[string]bool{"the task first": false, "an update first": true} {
		w := build(t, streaming(func(c *stream.Config) {
			window := secret.Duration(time.Second)
			c.Resubscribe = &window
		}))
		k := w.works()
		k.sloppy = sloppy
		l := w.listen("alice", "SendStreamingMessage", message(""))
		k.become("WORKING")
		if !sloppy {
			l.hears("task submitted ")
		}
		l.hears("working")
		k.hangsUp = true
		k.breaks()
		if sloppy {
			l.hears("task working ") // what it is was not known before
		}
		l.hears("error -32006", "")
		if n := len(w.methods()); n > 20 {
			t.Errorf("%s: the agent was asked %d times", name, n)
		}
	}
}

// TestRegainRepeated: an agent that shows the beginning of a task at every subscription, and
// hangs up, is asked less and less often, although each chunk may be a new one.
func TestRegainRepeated(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), streaming())
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		r.event(rw, `{"task":`+taskIn(rpc10, "t", "c", "working", "")+`}`)
		r.event(rw, `{"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[{"text":"so "}]}}}`)
	})
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task working ", "+so ")
	time.Sleep(3 * time.Second)
	l.leave()
	if n := len(w.methods()); n < 3 || n > 10 {
		t.Errorf("the agent was asked %d times in three seconds", n)
	}
}

// TestGrammarOnRecord: a stream that begins with an update is passed on, and stands in the
// record; where the configuration is strict it ends.
func TestGrammarOnRecord(t *testing.T) {
	t.Parallel()
	for word, strict := range map[string]bool{"enforce": false, "strict": true} {
		w := build(t, streaming(func(c *stream.Config) { c.Grammar = word }))
		k := w.works()
		k.sloppy = true
		l := w.listen("alice", "SendStreamingMessage", message(""))
		k.become("COMPLETED")
		if strict {
			l.hears("error -32006", "")
			continue
		}
		l.hears("completed", "")
		if r := w.found("grammar"); r["grammar"] != grammar.ErrFirst.Error() {
			t.Errorf("recorded %v", r)
		}
	}
}

// TestLinger: the agent's stream is read on when its client has gone, and ended when
// nobody comes back.
func TestLinger(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) {
		linger := secret.Duration(200 * time.Millisecond)
		c.Linger = &linger
	}))
	k := w.works()
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task submitted ")
	l.leave()
	eventually(t, "end of the agent's stream", func() bool { return k.watched() == 0 })
	k.say("a") // nobody reads it
	again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	again.hears("+a") // it was found out by asking
	k.become("COMPLETED")
	again.hears("completed", "")
}

// TestStreamsPerPrincipal: one caller's streams leave room for others'.
func TestStreamsPerPrincipal(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) {
		two := 2
		c.PerPrincipal = &two
	}), func(s *setup) { s.server.Limits = server.Limits{} })
	w.works()
	for range 2 {
		w.listen("alice", "SendStreamingMessage", message("")).hears("task submitted ")
	}
	w.agent.take()
	third := w.call("alice", "SendStreamingMessage", message(""))
	if third.status != http.StatusServiceUnavailable || !strings.Contains(third.body, "streams.perPrincipal") {
		t.Errorf("%d %s", third.status, third.body)
	}
	w.agent.silent(t, "a stream too many")
}

// TestStreamLifetime: a stream that has lasted long enough ends with an event that says
// to come back, and loses nothing.
func TestStreamLifetime(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) {
		life := secret.Duration(3 * time.Second)
		c.Lifetime = &life
	}))
	k := w.works()
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task submitted ", "error -32603", "")
	k.say("a")
	again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	again.hears("+a")
	if r := w.found("end"); r["end"] != "stream lifetime over" {
		t.Errorf("recorded %v", r)
	}
}

// TestStreamEnded: a stream that an operator ends says to come back and loses nothing; those
// of others do not notice.
func TestStreamEnded(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := build(t, streaming(), func(s *setup) { s.streams = streams })
	k := w.works()
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task submitted ")
	other := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	k.say("a")
	l.hears("+a")
	other.hears("+a")
	open := streams.List()
	slices.SortFunc(open, func(a, b openstreams.Status) int { return a.Began.Compare(b.Began) })
	if len(open) != 2 || open[0].Method != "SendStreamingMessage" || open[0].Task != "t" || open[1].Task != "t" || open[0].Principal != "alice" {
		t.Fatalf("open: %+v", open)
	}
	if streams.End("another") || !streams.End(open[0].ID) {
		t.Error("what is open is not ended, or what is not is")
	}
	l.hears("error -32603", "")
	if streams.End(open[0].ID) {
		t.Error("ended twice")
	}
	k.say("b")
	other.hears("+b")
	again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	again.hears("+b")
	if r := w.found("end"); r["end"] != "ended by an operator" {
		t.Errorf("recorded %v", r)
	}
}
