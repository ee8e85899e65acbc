package wire

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// carrierDoc writes a document with marks at random places of one dialect, in white
// space and an order of members that no SDK has, and keeps account of the marks.
type carrierDoc struct {
	t    *rapid.T
	side Side
	b    strings.Builder
	n    int
	want []string // keys of the marks
}

// forms are the ways to answer with each kind of thing.
type carrierForm struct {
	side   Side
	method string
	answer bool
	write  func(d *carrierDoc)
}

func carrierForms() []carrierForm {
	var forms []carrierForm
	add := func(v Version, b Binding, method string, answer bool, write func(d *carrierDoc)) {
		forms = append(forms, carrierForm{Side{v, b}, method, answer, write})
	}
	wrapped := func(name string, write func(d *carrierDoc)) func(d *carrierDoc) {
		return func(d *carrierDoc) { d.object(d.member(name, write)) }
	}
	task, message := (*carrierDoc).task, (*carrierDoc).message
	status, artifact := (*carrierDoc).statusUpdate, (*carrierDoc).artifactUpdate
	for _, b := range []Binding{JSONRPC, HTTPJSON, GRPC} {
		for _, v := range []Version{V10, V03} {
			if v == V03 && b == JSONRPC {
				continue
			}
			add(v, b, SendMessage, true, wrapped("task", task))
			add(v, b, SendStreamingMessage, true, wrapped("message", message))
			add(v, b, SubscribeToTask, true, wrapped("statusUpdate", status))
			add(v, b, SubscribeToTask, true, wrapped("artifact_update", artifact))
			add(v, b, CancelTask, true, task)
		}
		add(V10, b, ListTasks, true, func(d *carrierDoc) { d.object(d.member("tasks", func(d *carrierDoc) { d.array(task) })) })
		add(V10, b, SendMessage, false, (*carrierDoc).params)
	}
	for _, v := range []Version{V01, V03} {
		add(v, JSONRPC, GetTask, true, task)
		add(v, JSONRPC, SendStreamingMessage, true, status)
		add(v, JSONRPC, SendStreamingMessage, true, artifact)
		add(v, JSONRPC, SendMessage, false, (*carrierDoc).params)
	}
	add(V03, HTTPJSON, SendMessage, false, (*carrierDoc).params)
	add(V03, GRPC, SendMessage, true, wrapped("msg", message))
	return append(forms, carrierForm{Side{V03, JSONRPC}, SendStreamingMessage, true, message})
}

// drawCarrierDoc draws a document.
func drawCarrierDoc(t *rapid.T) (*carrierDoc, *Method, bool) {
	form := rapid.SampledFrom(carrierForms()).Draw(t, "form")
	d := &carrierDoc{t: t, side: form.side}
	m, _ := ByName(V10, form.method)
	switch {
	case form.side.Binding != JSONRPC:
		form.write(d)
	case form.answer:
		d.object(d.word("jsonrpc", "2.0"), d.word("id", "1"), d.member("result", form.write))
	default:
		d.object(d.word("jsonrpc", "2.0"), d.word("id", "1"), d.member("params", form.write))
	}
	return d, m, form.answer
}

func (d *carrierDoc) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(d.t, "chance") > 100-percent
}

func (d *carrierDoc) pick(words ...string) string { return rapid.SampledFrom(words).Draw(d.t, "word") }

func (d *carrierDoc) token(s string) {
	d.b.WriteString(s)
	d.b.WriteString(d.pick("", "", " ", "\n\t "))
}

// member is a member that is written when its turn comes; its name may have escapes.
func (d *carrierDoc) member(name string, value func(d *carrierDoc)) func() {
	return func() {
		quoted := `"` + name + `"`
		if d.chance(10) {
			quoted = fmt.Sprintf(`"\u%04x%s"`, name[0], name[1:])
		}
		d.token(quoted)
		d.token(":")
		value(d)
	}
}

func (d *carrierDoc) word(name, value string) func() {
	return d.member(name, func(d *carrierDoc) { d.token(`"` + value + `"`) })
}

// object writes some of the members, in any order.
func (d *carrierDoc) object(members ...func()) {
	d.token("{")
	for i, m := range rapid.Permutation(members).Draw(d.t, "order") {
		if i > 0 {
			d.token(",")
		}
		m()
	}
	d.token("}")
}

// some drops members.
func (d *carrierDoc) some(members ...func()) []func() {
	return slices.DeleteFunc(members, func(func()) bool { return !d.chance(60) })
}

func (d *carrierDoc) array(element func(d *carrierDoc)) {
	d.token("[")
	for i := range rapid.IntRange(0, 3).Draw(d.t, "length") {
		if i > 0 {
			d.token(",")
		}
		element(d)
	}
	d.token("]")
}

// key is one that no other mark has.
func (d *carrierDoc) key() string {
	d.n++
	key := fmt.Sprintf("%s%d", d.pick("https://x.example/é/", "k~", "urn:a:"), d.n)
	d.want = append(d.want, key)
	return key
}

func (d *carrierDoc) metadata() func() {
	return d.member("metadata", func(d *carrierDoc) {
		if d.chance(10) {
			d.token(d.pick("null", "[]", "7"))
			return
		}
		d.token("{")
		for i := range rapid.IntRange(0, 3).Draw(d.t, "keys") {
			if i > 0 {
				d.token(",")
			}
			d.member(d.key(), func(d *carrierDoc) {
				d.token(d.pick("1", `""`, "null", `{ "metadata" : {"no":[1, 2]} , "extensions":["no"] }`, `["\u00e9" ,2]`))
			})()
		}
		d.token("}")
	})
}

func (d *carrierDoc) extensions() func() {
	return d.member("extensions", func(d *carrierDoc) {
		if d.chance(10) {
			d.token(d.pick("null", "{}", `"no"`))
			return
		}
		d.array(func(d *carrierDoc) {
			if d.chance(10) {
				d.token(d.pick("null", "1", `["no"]`))
				return
			}
			d.token(`"` + d.key() + `"`)
		})
	})
}

func (d *carrierDoc) part() {
	d.object(append(d.some(d.metadata()), d.pickPart())...)
}

func (d *carrierDoc) pickPart() func() {
	return d.member("data", func(d *carrierDoc) {
		d.token(d.pick(`{"data":{"metadata":{"no":1}}}`, `{"metadata":{"no":1},"value":{}}`, `{}`))
	})
}

func (d *carrierDoc) parts() func() {
	return d.member(d.pick("parts", "content"), func(d *carrierDoc) { d.array((*carrierDoc).part) })
}

func (d *carrierDoc) message() {
	d.object(append(d.some(d.metadata(), d.extensions(), d.parts(), d.word("role", "user")),
		d.word(d.pick("messageId", "message_id"), "m"), d.word("kind", "message"))...)
}

func (d *carrierDoc) artifact() {
	d.object(d.some(d.metadata(), d.extensions(), d.parts(), d.word("artifactId", "a"))...)
}

func (d *carrierDoc) status() func() {
	return d.member("status", func(d *carrierDoc) {
		d.object(append(d.some(d.member(d.pick("message", "update"), (*carrierDoc).message)), d.word("state", "working"))...)
	})
}

func (d *carrierDoc) task() {
	d.object(append(d.some(d.metadata(),
		d.member("artifacts", func(d *carrierDoc) { d.array((*carrierDoc).artifact) }),
		d.member("history", func(d *carrierDoc) { d.array((*carrierDoc).message) }),
	), d.word("id", "T"), d.word("kind", "task"), d.status())...)
}

func (d *carrierDoc) taskID() func() {
	if d.side.Version == V01 {
		return d.word("id", "T")
	}
	return d.word(d.pick("taskId", "task_id"), "T")
}

func (d *carrierDoc) statusUpdate() {
	d.object(append(d.some(d.metadata()), d.status(), d.taskID(), d.word("kind", "status-update"))...)
}

func (d *carrierDoc) artifactUpdate() {
	d.object(append(d.some(d.metadata()), d.member("artifact", (*carrierDoc).artifact), d.taskID(),
		d.word("kind", "artifact-update"))...)
}

func (d *carrierDoc) params() {
	d.object(append(d.some(d.metadata(), d.word("tenant", "t")), d.member("message", (*carrierDoc).message))...)
}
