package translate

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// obj is a JSON object under construction.
type obj = map[string]any

func maybe(t *rapid.T, o obj, name string, value func() any) {
	if rapid.Bool().Draw(t, name) {
		o[name] = value()
	}
}

func word(t *rapid.T, label string) string {
	return rapid.StringMatching(`[a-zA-Z0-9é"\\/ -]{1,8}`).Draw(t, label)
}

// anything draws a JSON value, numbers that floats cannot hold included.
func anything(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(strconv.FormatInt(rapid.Int64().Draw(t, "int"), 10))
	case 3:
		return json.Number("1.50e+400")
	case 4:
		return word(t, "string")
	case 5:
		n := rapid.IntRange(0, 3).Draw(t, "len")
		list := make([]any, n)
		for i := range list {
			list[i] = anything(t, depth-1)
		}
		return list
	}
	return metadata(t, depth-1)
}

func metadata(t *rapid.T, depth int) obj {
	o := obj{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		o[word(t, "name")] = anything(t, depth)
	}
	return o
}

// generator draws documents of a dialect.
type generator struct {
	*rapid.T
	d dialect
	// least is 1 for documents that a2a-go reads without loss: no state unspecified,
	// no message without parts, no data that is null.
	least int
}

func (g generator) part() obj {
	p := obj{}
	maybe(g.T, p, "metadata", func() any { return metadata(g.T, 1) })
	kind := rapid.SampledFrom([]string{"text", "raw", "url", "data"}).Draw(g.T, "part")
	switch {
	case kind == "text":
		p["text"] = word(g.T, "text")
	case kind == "data" && g.d == d10:
		p["data"] = anything(g.T, 2)
		if p["data"] == nil && g.least > 0 {
			p["data"] = 0
		}
		if m, ok := p["metadata"].(obj); ok && len(m) == 0 {
			delete(p, "metadata") // is lost together with the mark of what is no object
		}
	case kind == "data":
		p["data"] = metadata(g.T, 2)
	case g.d == d10:
		p[kind] = "+/+/Zg=="
		maybe(g.T, p, "filename", func() any { return word(g.T, "filename") })
		maybe(g.T, p, "mediaType", func() any { return word(g.T, "mediaType") })
	default:
		f := obj{map[string]string{"raw": "bytes", "url": "uri"}[kind]: "+/+/Zg=="}
		maybe(g.T, f, "name", func() any { return word(g.T, "filename") })
		maybe(g.T, f, "mimeType", func() any { return word(g.T, "mediaType") })
		p["file"], kind = f, "file"
	}
	if g.d == d03 {
		p["kind"] = kind
	} else if g.d == d01 {
		p["type"] = kind
	}
	return p
}

func (g generator) list(n int, element func(i int) obj) []any {
	list := make([]any, rapid.IntRange(n, 3).Draw(g.T, "len"))
	for i := range list {
		list[i] = element(i)
	}
	return list
}

func (g generator) message() obj {
	m := obj{
		"role":  roles[rapid.IntRange(1, 2).Draw(g.T, "role")][g.d],
		"parts": g.list(g.least, func(int) obj { return g.part() }),
	}
	maybe(g.T, m, "metadata", func() any { return metadata(g.T, 2) })
	if g.d == d01 {
		return m
	}
	m["messageId"] = word(g.T, "messageId")
	maybe(g.T, m, "taskId", func() any { return word(g.T, "taskId") })
	maybe(g.T, m, "contextId", func() any { return word(g.T, "contextId") })
	maybe(g.T, m, "extensions", func() any { return []any{word(g.T, "extension")} })
	if g.d == d03 {
		m["kind"] = "message"
	}
	return m
}

func (g generator) artifact(i int) obj {
	a := obj{"parts": g.list(g.least, func(int) obj { return g.part() })}
	maybe(g.T, a, "name", func() any { return word(g.T, "name") })
	maybe(g.T, a, "description", func() any { return word(g.T, "description") })
	maybe(g.T, a, "metadata", func() any { return metadata(g.T, 2) })
	if g.d == d01 {
		a["index"] = json.Number(strconv.Itoa(i))
		return a
	}
	a["artifactId"] = word(g.T, "artifactId")
	maybe(g.T, a, "extensions", func() any { return []any{word(g.T, "extension")} })
	return a
}

func (g generator) task() obj {
	// The last two states are not 0.1's.
	states := states[:len(states)-2*btoi(g.d == d01)]
	status := obj{"state": states[rapid.IntRange(g.least, len(states)-1).Draw(g.T, "state")][g.d]}
	if g.d == d01 && status["state"] == "failed" {
		status["state"] = "completed"
	}
	maybe(g.T, status, "message", func() any { return g.message() })
	maybe(g.T, status, "timestamp", func() any { return "2026-01-01T00:00:00.5Z" })
	task := obj{"id": word(g.T, "id"), "status": status}
	context := "contextId"
	if g.d == d01 {
		context = "sessionId"
	}
	task[context] = word(g.T, "context")
	maybe(g.T, task, "metadata", func() any { return metadata(g.T, 2) })
	maybe(g.T, task, "history", func() any { return g.list(1, func(int) obj { return g.message() }) })
	maybe(g.T, task, "artifacts", func() any { return g.list(1, g.artifact) })
	if g.d == d03 {
		task["kind"] = "task"
	}
	return task
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestRoundTrip: what a version can say comes back unchanged from any other that can
// say it too.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]wire.Side{
		{rpc10, rpc03}, {rpc10, http03}, {http10, rpc10}, {rpc03, rpc10}, {rpc03, http03},
		{rpc01, rpc03}, {rpc01, http03}, {rpc01, http10},
	} {
		t.Run(pair[0].String()+" to "+pair[1].String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, pair[0], pair[1]) })
		})
	}
}

func roundTrip(t *rapid.T, home, away wire.Side) {
	want := generator{T: t, d: dialectOf(home)}.task()
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	there := retold(t, home, away, doc)
	back := retold(t, away, home, there)
	var got any
	if err := unmarshal(back, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Fatalf("(-want +got)\n%s\nout %s\nthere %s\nback %s", diff, doc, there, back)
	}
}

// retold is a task, as get returns it, on the other side.
func retold(t *rapid.T, from, to wire.Side, doc []byte) []byte {
	r := Retelling{From: from, Call: callOf(to, wire.GetTask, wire.Call{})}
	if from.Binding == wire.JSONRPC {
		doc = append(append([]byte(`{"result":`), doc...), '}')
	}
	out, err := r.Answer(nil, doc)
	if err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	if to.Binding == wire.JSONRPC {
		out = lookup(out, "result")
	}
	return out
}
