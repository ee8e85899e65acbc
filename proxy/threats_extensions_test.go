package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestA08_EvilAgents: an agent of any side leaves in every object what nobody asked
// for, and no caller of any side sees it; what the caller asked for, and what is
// nobody's extension, stays.
func TestA08_EvilAgents(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), evilWorld)
	methods := []string{
		wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.CancelTask, wire.SubscribeToTask, wire.ListTasks,
	}
	for _, agent := range sides {
		w.becomes(evilCard(agent))
		w.given("tied", w.base, w.agent, "t", "c", "")
		words := &evil{where: map[string]string{"t": "c"}}
		w.agent.answers(words.answer)
		for _, caller := range sides {
			for _, method := range methods {
				if caller.Version != wire.V10 && method == wire.ListTasks {
					continue // has no such method
				}
				a := ask{method: method, header: []string{"A2A-Extensions: " + bystander + "," + denied}}
				words.becomes("working", "")
				if methodOf(method).Subject == wire.OfTask {
					a.task = "t"
				} else if methodOf(method).Subject == wire.OfMessage {
					// Declared and permitted, but this call has not asked for it.
					words.becomes("completed", `,"`+focus+`":"secret"`)
					if caller == rpc01 {
						a.task = fmt.Sprint("mine-", agent, method)
					}
				}
				what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
				got := w.speak("tied", w.base, caller, a).ok(t, what)
				if caller == agent {
					words.compare(t, what, methodOf(method), caller, got)
				}
				text := fmt.Sprint(got.header)
				for _, doc := range got.docs {
					text += plainText(doc)
				}
				if strings.Contains(text, "secret") || !strings.Contains(text, "kept") {
					t.Errorf("%s: %s", what, text)
				}
			}
		}
	}
}

// compare checks that a caller who speaks like the agent got what it said, but for
// what must not be seen.
func (a *evil) compare(t *testing.T, what string, m *wire.Method, s wire.Side, got said) {
	t.Helper()
	for i, good := range a.good {
		if s.Binding == wire.GRPC { // it says some things in other words
			message, err := wire.ResponseMessage(m, s.Version, []byte(good))
			must(t, err)
			doc, err := wire.ResponseJSON(m, s.Version, message)
			must(t, err)
			good = string(doc)
		}
		if i >= len(got.docs) || plainText(got.docs[i]) != plainText(good) {
			t.Errorf("%s: event %d of %d is\n%s\nwant\n%s", what, i, len(got.docs), got.docs[min(i, len(got.docs)-1)], good)
		}
	}
}
