package translate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// lenient limits keep the fuzzers from being stopped by what is not theirs.
var lenient = wire.Limits{IDLength: 4096}

// FuzzRequest: whatever package wire lets through becomes, or is refused as, a call
// that package wire reads back with the ids that were meant, and no service parameter
// gets into its query.
func FuzzRequest(f *testing.F) {
	for _, group := range [][]requestCase{sends, tasks, pushes} {
		for i, test := range group {
			if test.from.side.Binding != wire.HTTPJSON {
				f.Add(uint8(slices.Index(sides(), test.from.side)), uint8(i), test.from.method, test.from.doc, "T", "C", "P")
			}
		}
	}
	// A tenant where the caller's own dialect has none.
	f.Add(uint8(1), uint8(1), wire.GetExtendedAgentCard, `{"tenant":"0"}`, "T", "C", "P")
	for _, method := range []string{wire.GetTask, wire.ListTasks, listConfigs, wire.GetExtendedAgentCard} {
		f.Add(uint8(slices.Index(sides(), rpc10)), uint8(slices.Index(sides(), http10)), method, `{"id":"T","taskId":"T",`+strayHeaders+"}", "T", "C", "P")
	}
	f.Fuzz(func(t *testing.T, from, to uint8, method, doc, task, context, config string) {
		side := sides()[int(from)%len(sides())]
		m := methodNamed(method)
		if m == nil || side.Binding == wire.HTTPJSON || side.Binding == wire.JSONRPC && nameIn(m, side.Version) == "" {
			t.Skip()
		}
		c, q, e := tryDecode(exchange{side: side, method: method, doc: doc})
		if e != nil || c.Method != m || !isID(task) || !isID(context) || !isID(config) {
			t.Skip()
		}
		if task == "" && (m.Subject == wire.OfTask || m.Subject == wire.OfConfig) {
			t.Skip() // no call without a task is decoded
		}
		c.ContextID = context
		if m.Subject != wire.OfCaller && m.Subject != wire.OfAgent {
			c.TaskID = task
		}
		if m.Subject == wire.OfConfig {
			c.ConfigID = config
		}
		if m.Subject != wire.OfMessage && m.Subject != wire.OfCaller {
			c.ContextID = ""
		}
		target := To{Side: sides()[int(to)%len(sides())], ID: []byte("7"), Tenant: "a b"}
		if target.Version != wire.V10 {
			target.Tenant = ""
		}
		out, e := Request(c, q, target)
		if e != nil {
			if e.Kind == wire.Internal && task != "" {
				t.Fatal(e)
			}
			return
		}
		checkMeant(t, m, c, target, out)
	})
}

// isID reports whether a string can be an id at all.
func isID(s string) bool {
	var c wire.Call
	w := buffer{out: []byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":`)}
	w.text(s)
	e := c.DecodeJSONRPC(append(w.out, "}}"...), "", wire.Limits{})
	return s == "" || e == nil && c.TaskID == s
}

func checkMeant(t *testing.T, m *wire.Method, c *wire.Call, target To, out Outbound) {
	t.Helper()
	if out.Call.Method == m && c.ConfigID != "" && out.Call.ConfigID != c.ConfigID {
		t.Fatalf("config %q became %q", c.ConfigID, out.Call.ConfigID)
	}
	checkOutbound(t, c, target, out)
}

func fuzzAnswers(f *testing.F, add func(from, to uint8, method, doc string)) {
	f.Helper()
	all := sides()
	for i, test := range answers {
		r := Retelling{From: test.from, Call: callOf(test.to, test.method, test.call)}
		doc := test.in
		if r.From.Binding == wire.JSONRPC {
			doc = `{"jsonrpc":"2.0","id":1,"result":` + doc + `}`
		}
		add(uint8(slices.Index(all, test.from)), uint8(i), r.Call.Method.Name, doc)
	}
	for i, test := range streams {
		for _, doc := range test.in {
			if test.from.Binding == wire.JSONRPC {
				doc = `{"jsonrpc":"2.0","id":1,"result":` + doc + `}`
			}
			add(uint8(slices.Index(all, test.from)), uint8(i), wire.SendStreamingMessage, doc)
			add(uint8(slices.Index(all, test.from)), uint8(i), wire.SendStreamingMessage, strings.Replace(doc, `"text":"`, `"text":"\ud83d`, 1))
		}
	}
}

// answerBetween sets a retelling up, or says that there is nothing to retell.
func answerBetween(from, to uint8, method, doc string) (*Retelling, wire.Answer, bool) {
	all := sides()
	side, caller, m := all[int(from)%len(all)], all[int(to)%len(all)], methodNamed(method)
	if m == nil {
		return nil, wire.Answer{}, false
	}
	if side == caller && caller.Binding == wire.JSONRPC {
		return nil, wire.Answer{}, false // goes on as it is
	}
	a, err := wire.ReadAnswer(side.Binding, side.Version, m, []byte(doc), lenient)
	if err != nil || a.Error != 0 {
		return nil, wire.Answer{}, false
	}
	call := callOf(caller, method, wire.Call{TaskID: "caller-task", ContextID: "caller-context", ConfigID: "caller-config"})
	return &Retelling{From: side, Call: call, Task: Alias{Agent: "T", Caller: "caller-task"}}, a, true
}

// document is the JSON of what the caller gets.
func document(t *testing.T, r *Retelling, out []byte) []byte {
	t.Helper()
	if r.Call.Binding != wire.GRPC {
		return out
	}
	doc, err := wire.ResponseJSON(r.Call.Method, r.Call.Version, out)
	if err != nil {
		t.Fatalf("not a message: %v", err)
	}
	return doc
}

// checkRetold reads what the caller gets as package wire reads an agent's answer: it
// is one document, and shows no task that the agent's answer did not.
func checkRetold(t *testing.T, r *Retelling, before wire.Answer, out []byte) {
	t.Helper()
	doc := document(t, r, out)
	after, err := wire.ReadAnswer(r.Call.Binding, r.Call.Version, r.Call.Method, doc, lenient)
	if err != nil {
		var e *wire.Error
		errors.As(err, &e)
		t.Fatalf("%v (%v): %s", err, e.Err, doc)
	}
	if !jsontext.Value(doc).IsValid() { // package wire lets half a surrogate pair pass
		t.Fatalf("it is no JSON to every parser: %s", doc)
	}
	if r.Call.Binding == wire.JSONRPC && !after.Answers(r.Call.ID) {
		t.Fatalf("it answers another call: %s", doc)
	}
	for _, ref := range after.Tasks {
		known := ref.ID == "" || ref.ID == r.Call.TaskID
		for _, b := range before.Tasks {
			known = known || b.ID == ref.ID
		}
		if !known {
			t.Fatalf("task %q comes from nowhere: %s", ref.ID, doc)
		}
		if ref.ID == "T" && dialectOf(r.From) != dialectOf(r.side()) {
			t.Fatalf("the agent's id is still there: %s", doc)
		}
	}
}

// FuzzAnswer: an answer that package wire lets through becomes one that it reads
// back, or is refused.
func FuzzAnswer(f *testing.F) {
	fuzzAnswers(f, func(from, to uint8, method, doc string) { f.Add(from, to, method, doc) })
	f.Fuzz(func(t *testing.T, from, to uint8, method, doc string) {
		r, before, ok := answerBetween(from, to, method, doc)
		if !ok || r.Call.Method.Name == wire.GetExtendedAgentCard || r.Call.Streaming {
			t.Skip()
		}
		out, err := r.Answer(nil, []byte(doc))
		if err != nil {
			return
		}
		checkRetold(t, r, before, out)
	})
}

// FuzzEvent is FuzzAnswer for the events of a stream.
func FuzzEvent(f *testing.F) {
	fuzzAnswers(f, func(from, to uint8, method, doc string) { f.Add(from, to, doc, doc) })
	f.Fuzz(func(t *testing.T, from, to uint8, first, second string) {
		r, before, ok := answerBetween(from, to, wire.SendStreamingMessage, first)
		_, more, also := answerBetween(from, to, wire.SendStreamingMessage, second)
		if !ok || !also {
			t.Skip()
		}
		before.Tasks = append(before.Tasks, more.Tasks...)
		for _, doc := range []string{first, second} {
			err := r.Event([]byte(doc), func(event []byte) error {
				checkRetold(t, r, before, event)
				return nil
			})
			if err != nil {
				return
			}
		}
	})
}

// FuzzCursor: on any bytes at all, no function of the cursor leaves them.
func FuzzCursor(f *testing.F) {
	for _, doc := range []string{
		`{"a":[1,{"b":"\\\""}],"c":null}`, "", `{`, `{"a"`, `{"a":`, `[[[`, `{"a":"\`, `{"":{"":[]},"a":-1.5e3}`, `"a"`, ` [ 1 , "]" ] `, `{"a":}`, "{\"\xff\":1}",
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		raw := []byte(doc)
		n := 0
		if len(raw) > 0 {
			for name, value := range members(raw) {
				n += len(name) + len(value)
			}
			m := 0
			for value := range elements(raw) {
				m += len(value)
			}
			n = max(n, m)
		}
		if n > len(raw) {
			t.Errorf("%d bytes hold %d", len(raw), n)
		}
		lookup(raw, "a")
	})
}
