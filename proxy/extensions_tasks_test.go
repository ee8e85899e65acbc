package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestTasksKeepTheirExtensions: who made a task with an extension finds what it left,
// also when a later call does not ask for it or the card has forgotten it; who made it
// without does not.
func TestTasksKeepTheirExtensions(t *testing.T) {
	testenv.Long(t, "agents of every side answer callers of every side")
	t.Parallel()
	w := in(t, speaks(rpc10), tied, func(s *setup) {
		s.extensions = ext.Registry{{URI: focus}, {URI: quiet}}
		s.agent.Extensions.Inject = []string{quiet}
	})
	words := &evil{where: map[string]string{}, more: `,"` + focus + `":"of focus","` + quiet + `":"of quiet"`}
	for _, agent := range sides {
		for i, caller := range sides {
			words.becomes("input-required", words.more)
			w.agent.answers(words.answer)
			for j, asked := range []string{"", focus, quiet} {
				what := fmt.Sprintf("%s to %s, made with %q", caller, agent, asked)
				a := ask{method: wire.SendMessage, header: []string{"A2A-Extensions: " + asked}}
				if caller == rpc01 {
					a.task = fmt.Sprint("t", i, j, agent)
				}
				w.becomes(declares(speaks(agent), `{"uri":"`+focus+`"}`))
				w.finds(what, w.speak("tied", w.base, caller, a), asked == focus, asked == quiet)
				get := ask{method: wire.GetTask, task: cmp.Or(a.task, words.last())}
				// A task shows what one could have asked for.
				w.finds(what+", got", w.speak("tied", w.base, caller, get), true, asked == quiet)
				w.becomes(declares(speaks(agent)))
				w.finds(what+", got later", w.speak("tied", w.base, caller, get), asked == focus, asked == quiet)
			}
		}
	}
}

// finds checks what is left of two extensions in an answer.
func (w *world) finds(what string, got said, ofFocus, ofQuiet bool) {
	w.Helper()
	got.ok(w, what)
	text := strings.Join(got.docs, "")
	for mark, want := range map[string]bool{"of focus": ofFocus, "of quiet": ofQuiet} {
		if strings.Contains(text, mark) != want {
			w.Errorf("%s: %q is there: %t; %s", what, mark, !want, text)
		}
	}
}

// TestAwaitedTask: what the gateway waited for is held to the same as what it did not.
func TestAwaitedTask(t *testing.T) {
	t.Parallel()
	w := in(t, evilCard(rpc01), evilWorld)
	w.becomes(evilCard(rpc01))
	words := &evil{where: map[string]string{}}
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		words.becomes("working", "")
		if r.call().Method.Name == wire.GetTask {
			words.becomes("completed", "")
		}
		words.answer(rw, r)
	})
	for _, caller := range []wire.Side{rpc10, rest10, grpc10, rest03} {
		got := w.speak("tied", w.base, caller, ask{method: wire.SendMessage, header: []string{"A2A-Extensions: " + bystander}}).ok(t, caller.String())
		text := strings.Join(got.docs, "")
		if strings.Contains(text, "secret") || !strings.Contains(text, "kept") || !strings.Contains(text, "COMPLETED") {
			t.Errorf("%s: %s", caller, text)
		}
		if seen := w.agent.take(); len(seen) != 2 || !slices.Equal(seen[1].asked(), []string{bystander, injected}) {
			t.Errorf("%s: the agent saw %d calls", caller, len(seen))
		}
	}
}
