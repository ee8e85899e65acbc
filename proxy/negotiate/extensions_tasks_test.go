package negotiate_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestTasksKeepTheirExtensions: who made a task with an extension finds what it left,
// also when a later call does not ask for it or the card has forgotten it; who made it
// without does not.
func TestTasksKeepTheirExtensions(t *testing.T) {
	testenv.Long(t, "agents of every side answer callers of every side")
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) {
		s.Extensions = ext.Registry{{URI: focus}, {URI: quiet}}
		s.Agent.Extensions.Inject = []string{quiet}
	})
	words := &evil{where: map[string]string{}, more: `,"` + focus + `":"of focus","` + quiet + `":"of quiet"`}
	for _, agent := range proxytest.Sides {
		for i, caller := range proxytest.Sides {
			words.becomes("input-required", words.more)
			w.Agent.Answers(words.answer)
			for j, asked := range []string{"", focus, quiet} {
				what := fmt.Sprintf("%s to %s, made with %q", caller, agent, asked)
				a := proxytest.Ask{Method: wire.SendMessage, Header: []string{"A2A-Extensions: " + asked}}
				if caller == proxytest.RPC01 {
					a.Task = fmt.Sprint("t", i, j, agent)
				}
				w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(agent), `{"uri":"`+focus+`"}`))
				finds(w, what, w.Speak("tied", w.Base, caller, a), asked == focus, asked == quiet)
				get := proxytest.Ask{Method: wire.GetTask, Task: cmp.Or(a.Task, words.last())}
				// A task shows what one could have asked for.
				finds(w, what+", got", w.Speak("tied", w.Base, caller, get), true, asked == quiet)
				w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(agent)))
				finds(w, what+", got later", w.Speak("tied", w.Base, caller, get), asked == focus, asked == quiet)
			}
		}
	}
}

// finds checks what is left of two extensions in an answer.
func finds(w *proxytest.Gateway, what string, got proxytest.Reply, ofFocus, ofQuiet bool) {
	w.Helper()
	got.OK(w, what)
	text := strings.Join(got.Docs, "")
	for mark, want := range map[string]bool{"of focus": ofFocus, "of quiet": ofQuiet} {
		if strings.Contains(text, mark) != want {
			w.Errorf("%s: %q is there: %t; %s", what, mark, !want, text)
		}
	}
}

// TestAwaitedTask: what the gateway waited for is held to the same as what it did not.
func TestAwaitedTask(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, evilCard(proxytest.RPC01), evilWorld)
	w.BecomeCard(evilCard(proxytest.RPC01))
	words := &evil{where: map[string]string{}}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		words.becomes("working", "")
		if r.Call().Method.Name == wire.GetTask {
			words.becomes("completed", "")
		}
		words.answer(rw, r)
	})
	for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.REST03} {
		got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Header: []string{"A2A-Extensions: " + bystander}}).OK(t, caller.String())
		text := strings.Join(got.Docs, "")
		if strings.Contains(text, "secret") || !strings.Contains(text, "kept") || !strings.Contains(text, "COMPLETED") {
			t.Errorf("%s: %s", caller, text)
		}
		if seen := w.Agent.Take(); len(seen) != 2 || !slices.Equal(asked(seen[1]), []string{bystander, injected}) {
			t.Errorf("%s: the agent saw %d calls", caller, len(seen))
		}
	}
}
