package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// profile is the extension whose content the tests look at. The usual card declares it.
const profile = "urn:declared"

// asking asks for extensions.
func asking(uris ...string) []string { return []string{"A2A-Extensions: " + strings.Join(uris, ",")} }

// inline is a schema as the configuration has it.
func inline(text string) schema.Source { return schema.Source{Inline: []byte(text)} }

// knows gives a world, with a caller for all sides, a registry.
func knows(entries ...ext.Entry) func(*setup) {
	return func(s *setup) {
		tied(s)
		s.extensions = entries
	}
}

// words makes A2A's objects in the words of a side. more are further members.
type words struct{ wire.Side }

// proto reports whether the words are those of 0.3's proto.
func (s words) proto() bool { return s.Version == wire.V03 && s.Binding != wire.JSONRPC }

func (s words) text(text, more string) string {
	switch s.Side {
	case rpc01:
		return fmt.Sprintf(`{"type":"text","text":%q%s}`, text, more)
	case rpc03:
		return fmt.Sprintf(`{"kind":"text","text":%q%s}`, text, more)
	}
	return fmt.Sprintf(`{"text":%q%s}`, text, more)
}

func (s words) data(value string) string {
	switch {
	case s.Side == rpc01:
		return `{"type":"data","data":` + value + `}`
	case s.Side == rpc03:
		return `{"kind":"data","data":` + value + `}`
	case s.proto():
		return `{"data":{"data":` + value + `}}`
	}
	return `{"data":` + value + `}`
}

func (s words) message(role, part, more string) string {
	switch {
	case s.Side == rpc01:
		return fmt.Sprintf(`{"role":%q,"parts":[%s]%s}`, role, part, more)
	case s.Side == rpc03:
		return fmt.Sprintf(`{"kind":"message","messageId":"m","role":%q,"parts":[%s]%s}`, role, part, more)
	case s.proto():
		return fmt.Sprintf(`{"messageId":"m","role":"ROLE_%s","content":[%s]%s}`, strings.ToUpper(role), part, more)
	}
	return fmt.Sprintf(`{"messageId":"m","role":"ROLE_%s","parts":[%s]%s}`, strings.ToUpper(role), part, more)
}

func (s words) artifact(part, more string) string {
	if s.Side == rpc01 {
		return `{"index":0,"parts":[` + part + `]` + more + `}`
	}
	return `{"artifactId":"a","parts":[` + part + `]` + more + `}`
}

// task is what a send returns; said is the status' message, "" for none.
func (s words) task(id, state, said, more string) string {
	task := strings.Replace(taskIn(s.Side, id, "c-"+id, state, more), fmt.Sprintf(`"state":%q`, stateIn(s.Side, state)),
		fmt.Sprintf(`"state":%q%s`, stateIn(s.Side, state), member("message", said)), 1)
	if s.Side == rpc03 || s.Side == rpc01 {
		return task
	}
	return `{"task":` + task + `}`
}

func (s words) status(id, state, said string) string {
	return statusIn(s.Side, id, "c-"+id, state, member("message", said))
}

func (s words) arrival(id, artifact string) string {
	switch {
	case s.Side == rpc01:
		return fmt.Sprintf(`{"id":%q,"artifact":%s}`, id, artifact)
	case s.Side == rpc03:
		return fmt.Sprintf(`{"kind":"artifact-update","taskId":%q,"contextId":"c-%s","artifact":%s}`, id, id, artifact)
	}
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":"c-%s","artifact":%s}}`, id, id, artifact)
}

func member(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(`,%q:%s`, name, value)
}

// meta is a member with one key in it.
func meta(key, value string) string { return fmt.Sprintf(`,"metadata":{%q:%s}`, key, value) }

// send are the params of a send in the words of a side.
func (s words) send(part, inMessage, more string) string {
	if part == "" {
		part = s.text("hi", "")
	}
	return `{"message":` + s.message("user", part, inMessage) + more + `}`
}

// utter makes a call of a caller with these params, body or message.
func (w *world) utter(s wire.Side, method, params string, header ...string) said {
	w.Helper()
	m := methodOf(method)
	if s.Binding == wire.GRPC {
		message, err := wire.RequestMessage(m, s.Version, []byte(params))
		must(w, err)
		return w.heardRPC(m, s, w.dial("tied", m.RPC(s.Version), grpcframe.Append(nil, message), header...))
	}
	header = append([]string{"A2A-Version: " + string(s.Version)}, header...)
	verb, target, body := "POST", w.base, params
	if s.Binding == wire.JSONRPC {
		body = rpcBody(map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[s.Version], params)
	} else if verb, target = m.Verbs[0], target+m.Path; s.Version == wire.V03 {
		target = w.base + cmp.Or(m.Path03, "/v1"+m.Path)
	}
	return w.heard(m, s, w.do("tied", verb, target, body, header...))
}

// tells has the agent answer with what docs makes of the words of the call and of the
// task that it names, or of a new one. Of unary calls it is the last.
func (w *world) tells(docs func(s words, id string) []string) {
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		c := r.call()
		list := docs(words{r.side()}, cmp.Or(c.TaskID, "task-"+r.Header.Get("X-Request-Id")))
		if !c.Method.Streams {
			list = list[len(list)-1:]
		}
		if c.Method.Subject == wire.OfTask && !c.Method.Streams {
			list = []string{bare(list[0])}
		}
		r.say(rw, list...)
	})
}

// bare is a task without what is around it in the answer to a send.
func bare(doc string) string {
	if inner, ok := strings.CutPrefix(doc, `{"task":`); ok {
		return strings.TrimSuffix(inner, "}")
	}
	return doc
}

// violations are those of the calls so far, each "fault pointer enforced", once there
// are records of n calls.
func (w *world) violations(n int) []string {
	w.Helper()
	eventually(w, "record", func() bool { return len(w.audited("call")) == n })
	var all []string
	for _, r := range w.audited("call") {
		list, _ := r["violations"].([]any)
		for _, v := range list {
			v, _ := v.(map[string]any)
			all = append(all, fmt.Sprintf("%v %v %v", v["fault"], v["pointer"], v["enforced"]))
		}
	}
	return all
}

// told fails the test unless a call was refused in this way, and in these words.
func (s said) told(t testing.TB, what string, want *wire.Kind, text ...string) {
	t.Helper()
	s.refused(t, what, want)
	for _, part := range text {
		if s.err != nil && !strings.Contains(s.err.Text(), part) {
			t.Errorf("%s: %q does not say %q", what, s.err.Text(), part)
		}
	}
}

// callersOf are two callers of the agent at sides[i]: one that speaks as it does, where
// there is one, and another, whose turn it is.
func callersOf(i, turn int) []wire.Side {
	same := i % 6 // 0.1's callers choose their tasks' ids, and are left out
	return []wire.Side{sides[same], sides[(same+1+turn%5)%6]}
}

// badAnswer is what a side calls an agent's answer that is withheld. gRPC has no word
// for it in 0.3.
func badAnswer(s wire.Side) *wire.Kind {
	if s == grpc03 {
		return wire.Internal
	}
	return wire.BadAgentResponse
}
