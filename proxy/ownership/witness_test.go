package ownership_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// task10 is a task of A2A 1.0 with one artifact, of these parts; "" for none.
func task10(state, parts string) string {
	artifacts := ""
	if parts != "" {
		artifacts = `,"artifacts":[{"artifactId":"a","parts":[` + parts + `]}]`
	}
	return `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_` + state + `"}` + artifacts + `}`
}

// chunk10 is an update of its artifact.
func chunk10(text, more string) string {
	return `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"` + text + `"}]}` + more + `}}`
}

const (
	appends = `,"append":true`
	last    = `,"lastChunk":true`
)

// teller is an agent whose answers to GetTask and other calls, and streams, a test says.
type teller struct {
	mu     sync.Mutex
	task   string   // what GetTask and CancelTask answer, and a send in a wrapper
	events []string // of a stream
}

func (a *teller) is(task string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.task = task
}

func (a *teller) answer(rw http.ResponseWriter, r *proxytest.Request) {
	a.mu.Lock()
	task, list := a.task, a.events
	a.mu.Unlock()
	switch r.RPC().Method {
	case "SendStreamingMessage":
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, e := range list {
			_, _ = io.WriteString(rw, proxytest.EventOf(r, e))
		}
	case "SendMessage":
		proxytest.Respond(rw, r, `{"task":`+task+`}`)
	case "ListTasks":
		proxytest.Respond(rw, r, `{"tasks":[`+task+`],"nextPageToken":"","pageSize":50,"totalSize":1}`)
	default:
		proxytest.Respond(rw, r, task)
	}
}

// TestContradictions: an agent that goes on with a task behind its end, or alters what it
// has delivered, is noticed whichever way it shows that. Only where the configuration is
// strict does the caller not get the answer.
func TestContradictions(t *testing.T) {
	t.Parallel()
	const x, y = `{"text":"x"}`, `{"text":"y"}`
	done := `{"task":` + task10("COMPLETED", x) + `}`
	for name, tt := range map[string]struct {
		events []string // of a stream that comes first; nil for a send that answers first
		first  string
		then   string // method
		shows  string
		want   error
	}{
		"send, get":                  {nil, task10("COMPLETED", x), "GetTask", task10("WORKING", x), grammar.ErrBackwards},
		"send, get another end":      {nil, task10("COMPLETED", x), "GetTask", task10("FAILED", x), grammar.ErrBackwards},
		"send, get the same":         {nil, task10("COMPLETED", x), "GetTask", task10("COMPLETED", x), nil},
		"send, get without it":       {nil, task10("COMPLETED", x), "GetTask", task10("COMPLETED", ""), nil},
		"send, get other content":    {nil, task10("COMPLETED", x), "GetTask", task10("COMPLETED", y), grammar.ErrAltered},
		"send, get other white":      {nil, task10("COMPLETED", x), "GetTask", task10("COMPLETED", ` { "text" : "x" } `), nil},
		"goes on, and ends":          {nil, task10("WORKING", x), "GetTask", task10("COMPLETED", y), nil},
		"asks, goes on":              {nil, task10("INPUT_REQUIRED", x), "GetTask", task10("WORKING", y), nil},
		"send, cancel":               {nil, task10("COMPLETED", x), "CancelTask", task10("CANCELED", x), grammar.ErrBackwards},
		"stream, get":                {[]string{done}, "", "GetTask", task10("WORKING", x), grammar.ErrBackwards},
		"stream, get the same":       {[]string{done}, "", "GetTask", task10("COMPLETED", x), nil},
		"stream, get other content":  {[]string{done}, "", "GetTask", task10("COMPLETED", y), grammar.ErrAltered},
		"chunks, get all of them":    {[]string{`{"task":` + task10("WORKING", "") + `}`, chunk10("a", ""), chunk10("b", appends+last), `{"task":` + task10("COMPLETED", "") + `}`}, "", "GetTask", task10("COMPLETED", `{"text":"ab"}`), nil},
		"chunks, get others":         {[]string{`{"task":` + task10("WORKING", "") + `}`, chunk10("a", ""), chunk10("b", appends+last), `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`}, "", "GetTask", task10("COMPLETED", `{"text":"ac"}`), grammar.ErrAltered},
		"send, list":                 {nil, task10("COMPLETED", x), "ListTasks", task10("WORKING", x), grammar.ErrBackwards},
		"send, list the same":        {nil, task10("COMPLETED", x), "ListTasks", task10("COMPLETED", x), nil},
		"send, and its next message": {nil, task10("COMPLETED", x), "SendMessage", task10("WORKING", x), grammar.ErrBackwards},
	} {
		for _, grammar := range []string{"enforce", "strict", "off"} {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithStreams(func(c *stream.Config) { c.Grammar = grammar }))
			a := &teller{task: tt.first, events: tt.events}
			w.Agent.Answers(a.answer)
			if tt.events != nil {
				ends(w.Listen("alice", "SendStreamingMessage", proxytest.Message("")))
			} else if got := w.Call("alice", "SendMessage", proxytest.Message("")); got.Status != http.StatusOK {
				t.Fatalf("%s: %s", name, got.Body)
			}
			a.is(tt.shows)
			params := map[string]string{"ListTasks": "{}", "SendMessage": proxytest.Message(`,"taskId":"t"`)}[tt.then]
			if params == "" {
				params = `{"id":"t"}`
			}
			for again := range 2 {
				got := w.Call("alice", tt.then, params)
				refused := strings.Contains(got.Body, "INVALID_AGENT_RESPONSE") && strings.Contains(got.Body, "the agent contradicts what it has said of the task")
				if want := grammar == "strict" && tt.want != nil && tt.then != "ListTasks"; refused != want {
					t.Errorf("%s, %s, time %d: refused %v: %s", name, grammar, again+1, refused, got.Body)
				}
			}
			var recorded any
			for _, r := range w.Audited("call") {
				if r["grammar"] != nil {
					recorded = r["grammar"]
				}
			}
			want := any(nil)
			if tt.want != nil && grammar != "off" {
				want = tt.want.Error()
			}
			if recorded != want || (w.Metric("stream_grammar_violations_total") != "") != (want != nil) {
				t.Errorf("%s, %s: recorded %v, want %v", name, grammar, recorded, want)
			}
		}
	}
}

// ends reads a stream to its end.
func ends(l *proxytest.Listener) {
	l.Helper()
	_, _ = io.Copy(io.Discard, l.In)
}

// TestChunks: chunks of artifacts that have not begun or have had their last, and artifacts
// that are sent again with other content, are noticed within a stream.
func TestChunks(t *testing.T) {
	t.Parallel()
	begun := `{"task":` + task10("WORKING", "") + `}`
	had := `{"task":` + task10("WORKING", `{"text":"x"}`) + `}`
	for name, tt := range map[string]struct {
		events []string
		want   error
	}{
		"begins and goes on":           {[]string{begun, chunk10("a", ""), chunk10("b", appends), chunk10("c", appends+last)}, nil},
		"has not begun":                {[]string{begun, chunk10("a", appends), chunk10("b", appends)}, grammar.ErrChunkFirst},
		"has begun in the task":        {[]string{had, chunk10("a", appends)}, nil},
		"behind the last":              {[]string{begun, chunk10("a", ""), chunk10("b", appends+last), chunk10("c", appends)}, grammar.ErrChunkAfterLast},
		"two last ones":                {[]string{begun, chunk10("a", ""), chunk10("b", appends+last), chunk10("b", appends+last)}, grammar.ErrChunkAfterLast},
		"is replaced before its end":   {[]string{begun, chunk10("a", ""), chunk10("b", ""), chunk10("c", last)}, nil},
		"is sent once more":            {[]string{begun, chunk10("ab", last), chunk10("ab", last)}, nil},
		"is sent once more, as one":    {[]string{begun, chunk10("a", ""), chunk10("b", appends+last), chunk10("ab", "")}, nil},
		"is sent with other content":   {[]string{begun, chunk10("ab", last), chunk10("ac", last)}, grammar.ErrAltered},
		"others than all chunks":       {[]string{begun, chunk10("a", ""), chunk10("b", appends+last), chunk10("a", "")}, grammar.ErrAltered},
		"no task first, of a new task": {[]string{chunk10("a", appends)}, grammar.ErrFirst},
	} {
		for _, word := range []string{"report", "strict"} {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithStreams(func(c *stream.Config) { c.Grammar = word }))
			events := append(tt.events, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`)
			w.Agent.Answers((&teller{events: events}).answer)
			got := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
			refused := strings.Contains(got.Body, "INVALID_AGENT_RESPONSE")
			if want := word == "strict" && tt.want != nil; refused != want {
				t.Errorf("%s, %s: %s", name, word, got.Body)
			}
			want := any(nil)
			if tt.want != nil {
				want = tt.want.Error()
			}
			if name == "no task first, of a new task" && word == "report" {
				want = grammar.ErrChunkFirst.Error() // which is looked at before
			}
			if r := w.RecordWith("events"); r["grammar"] != want && !(refused && name == "no task first, of a new task") {
				t.Errorf("%s, %s: recorded %v, want %v", name, word, r["grammar"], want)
			}
		}
	}
}

// TestChunksIDBehindText: an artifact is known by its id wherever that stands in an event.
func TestChunksIDBehindText(t *testing.T) {
	t.Parallel()
	update := func(text, more string) string {
		return `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"parts":[{"text":"` + text + `"}],"artifactId":"a"}` + more + `}}`
	}
	long := strings.Repeat("long ", 20)
	for _, texts := range [][2]string{{long, "short"}, {"short", long}} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithStreams(func(c *stream.Config) { c.Grammar = "report" }))
		w.Agent.Answers((&teller{events: []string{
			`{"task":` + task10("WORKING", "") + `}`, update(texts[0], last), update(texts[1], last), update(texts[1], appends+last),
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		}}).answer)
		got := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
		if n := strings.Count(got.Body, "artifactUpdate"); n != 3 || strings.Contains(got.Body, `"error"`) {
			t.Errorf("%d updates of 3: %s", n, got.Body)
		}
		if r := w.RecordWith("events"); r["grammar"] != grammar.ErrAltered.Error() {
			t.Errorf("recorded %v", r["grammar"])
		}
	}
}

// TestShownIsBounded: what is remembered of tasks has its bounds.
func TestShownIsBounded(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithStreams(func(c *stream.Config) { c.Remember = stream.Remembered{Tasks: 2, Bytes: 1 << 20} }))
	state := "COMPLETED"
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		id := proxytest.TaskNamed(r)
		if id == "" {
			id = r.Header.Get("X-Request-Id")
		}
		doc := fmt.Sprintf(`{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_%s"}}`, id, state)
		if r.RPC().Method == "SendMessage" {
			doc = `{"task":` + doc + `}`
		}
		proxytest.Respond(rw, r, doc)
	})
	var ids []string
	for range 3 {
		w.Call("alice", "SendMessage", proxytest.Message(""))
	}
	for _, r := range w.Audited("call") {
		ids = append(ids, fmt.Sprint(r["task_id"]))
	}
	state = "WORKING"
	for i, id := range ids {
		w.Call("alice", "GetTask", `{"id":"`+id+`"}`)
		calls := w.Audited("call")
		if noticed := calls[len(calls)-1]["grammar"] != nil; noticed != (i > 0) {
			t.Errorf("task %d of 3: noticed %v", i+1, noticed)
		}
	}
}

// TestContradictionsByWebhook: what an agent posts is held to the same.
func TestContradictionsByWebhook(t *testing.T) {
	t.Parallel()
	status := func(state, more string) string {
		return `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_` + state + `"` + more + `}}}`
	}
	task := func(state, parts string) string {
		return `{"task":` + task10(state, parts) + `}`
	}
	behind := func(task string) string { // another member of the name that JSON-RPC's result has
		return strings.TrimSuffix(task, "}}") + `,"metadata":{"result":1}}}`
	}
	const x, y = `{"text":"x"}`, `{"text":"y"}`
	for name, tt := range map[string]struct {
		posts []string
		want  error // of the last
	}{
		"in order":                 {[]string{task("WORKING", ""), chunk10("a", ""), chunk10("b", appends+last), status("COMPLETED", "")}, nil},
		"goes on":                  {[]string{status("COMPLETED", ""), status("WORKING", "")}, grammar.ErrBackwards},
		"an old one, late":         {[]string{status("COMPLETED", ""), status("WORKING", `,"timestamp":"2020-01-01T00:00:00Z"`)}, nil},
		"has not begun":            {[]string{task("WORKING", ""), chunk10("a", appends)}, grammar.ErrChunkFirst},
		"nobody knows":             {[]string{chunk10("a", appends)}, nil},
		"has begun in the task":    {[]string{task("WORKING", x), chunk10("a", appends)}, nil},
		"behind the last":          {[]string{task("WORKING", ""), chunk10("a", last), chunk10("b", appends)}, grammar.ErrChunkAfterLast},
		"the same once more":       {[]string{task("COMPLETED", x), task("COMPLETED", x+" ")}, nil},
		"other content":            {[]string{task("COMPLETED", x), task("COMPLETED", y)}, grammar.ErrAltered},
		"other, half a character":  {[]string{task("COMPLETED", x), task("COMPLETED", `{"text":"\ud83d"}`)}, grammar.ErrAltered},
		"other, a result behind":   {[]string{behind(task("COMPLETED", x)), behind(task("COMPLETED", y))}, grammar.ErrAltered},
		"not begun, half a one":    {[]string{`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"m":"\ud83d"}}}`, chunk10("a", appends)}, grammar.ErrChunkFirst},
		"an update with the same":  {[]string{task("COMPLETED", x), chunk10("x", "")}, nil},
		"an update with another":   {[]string{task("COMPLETED", x), chunk10("y", "")}, grammar.ErrAltered},
		"another before the end":   {[]string{task("WORKING", x), chunk10("y", "")}, nil},
		"0.3, another at the end":  {[]string{`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}]}`, task("COMPLETED", y)}, grammar.ErrAltered},
		"0.3, the same at the end": {[]string{`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}]}`, task("COMPLETED", x)}, nil},
	} {
		for _, grammar := range []string{"enforce", "strict"} {
			w := proxytest.NewGateway(t, proxytest.WithRelay, proxytest.OnlyInterface("JSONRPC", "1.0"), proxytest.WithStreams(func(c *stream.Config) { c.Grammar = grammar }))
			w.Agent.Answers((&teller{task: task10("WORKING", "")}).answer)
			w.Call("alice", "SendMessage", proxytest.Message(""))
			w.Agent.Take()
			w.Agent.Answers(proxytest.KeepConfigs)
			g, _ := w.Webhook(proxytest.WebhookCalls["1.0 create"], "t")
			for i, post := range tt.posts {
				want := http.StatusOK
				if i == len(tt.posts)-1 && tt.want != nil && grammar == "strict" {
					want = http.StatusBadRequest
				}
				proxytest.WantStatus(t, name+", "+grammar, w.Notify(g, post), want)
			}
			calls := w.Audited("call")
			want := any(nil)
			if tt.want != nil {
				want = tt.want.Error()
			}
			if r := calls[len(calls)-1]; r["method"] != "PushNotification" || r["grammar"] != want {
				t.Errorf("%s, %s: recorded %v", name, grammar, r)
			}
		}
	}
}

// TestContradictionsInOldWords: what agents before 1.0 show is held to the same.
func TestContradictionsInOldWords(t *testing.T) {
	t.Parallel()
	for altered, want := range map[string]any{"x": nil, "y": grammar.ErrAltered.Error()} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithStreams())
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			if r.RPC().Method == "message/stream" {
				proxytest.SayV03(rw, r, "TsAF")
				return
			}
			proxytest.Respond(rw, r, strings.Replace(proxytest.EventsV03['t'], `"text":"x"`, `"text":"`+altered+`"`, 1))
		})
		ends(w.Listen("alice", "SendStreamingMessage", proxytest.Message("")))
		w.Call("alice", "GetTask", `{"id":"t"}`)
		calls := w.Audited("call")
		if r := calls[len(calls)-1]; r["method"] != "GetTask" || r["grammar"] != want {
			t.Errorf("%s: recorded %v, want %v", altered, r["grammar"], want)
		}
	}
}
