package proxy_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// TestA03_EverySideAfterwards: the caller's name for a context stays that of a task in it,
// whatever is asked about the task by its own id, and whoever asks.
func TestA03_EverySideAfterwards(t *testing.T) {
	t.Parallel()
	for _, agent := range sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := in(t, speaks(agent), tied, relayed)
			w.given("alice", w.base, w.agent, "task-alice", "shared", "")
			w.speak("alice", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, "alice's")
			for _, caller := range sides {
				kept := new(archive)
				w.agent.answers(kept.answer)
				task := w.goesBy(caller, agent)
				if caller == rpc10 || caller == rpc03 || caller == rest03 {
					w.notifiedBy(caller, agent, task, kept.where[task])
				}
			}
		})
	}
}

// goesBy has a caller begin a task in a context of somebody else's, and ask for it in every
// way that does not name the context.
func (w *world) goesBy(s, agent wire.Side) (task string) {
	w.Helper()
	what := fmt.Sprintf("%s to %s", s, agent)
	got := w.speak("tied", w.base, s, ask{method: wire.SendMessage, context: "shared", task: ifOld(s, "mine")}).ok(w, what)
	_, rest, _ := strings.Cut(got.docs[0], `"id":"`)
	task, _, _ = strings.Cut(rest, `"`)
	w.agent.take()
	for _, name := range []string{
		wire.GetTask, wire.ListTasks, wire.SendMessage, wire.SendStreamingMessage, wire.SubscribeToTask, wire.CancelTask,
	} {
		m := methodOf(name)
		if name == wire.ListTasks && s.Version != wire.V10 {
			continue // which have no such method
		}
		a := ask{method: name, task: task}
		if name == wire.ListTasks {
			a.task = ""
		}
		said := w.speak("tied", w.base, s, a).ok(w, what+" "+name)
		all := strings.Join(said.docs, "\n")
		if aliases.MatchString(all) || !strings.Contains(all, `"shared"`) && (s != rpc01 || !m.Streams) {
			w.Errorf("%s %s: %s", what, name, all)
		}
	}
	return task
}

// aliases are ids as the gateway makes them in the place of contexts.
var aliases = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)

// notifiedBy has a caller register a webhook for a task, and the agent deliver there.
func (w *world) notifiedBy(s, agent wire.Side, task, context string) {
	w.Helper()
	w.agent.take()
	wantStatus(w, "register", w.registers("tied", s, false, task, ""), 200)
	c := w.agent.take()[0].call()
	found, e := pushconfig.Read(c)
	if e != nil {
		w.Fatal(e)
	}
	g := given{URL: found.URL, Token: found.Token}
	g.Authentication.Credentials = found.Credentials
	doc := taskIn(wire.Side{Version: agent.Version, Binding: wire.JSONRPC}, task, context, "working", "")
	if agent.Version == wire.V10 {
		doc = `{"task":` + doc + `}`
	}
	wantStatus(w, "notify", w.notify(g, doc), 200)
	mail := w.mail.all("")
	if last := string(mail[len(mail)-1].Body); context == "" || aliases.MatchString(last) || !strings.Contains(last, `"shared"`) {
		w.Errorf("%s to %s, notified: %s", s, agent, last)
	}
}

// TestA03_ForeignContextOfColleagues: those who use a task call its context what its owner
// does, and get there by that name, as far as the context is theirs to use.
func TestA03_ForeignContextOfColleagues(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*setup){
		"tenant": colleagues("tenant"),
		"lent": func(s *setup) {
			colleagues("principal")(s)
			s.policy.Tasks.Sharing = []policy.Sharing{{
				Name: "amy's", Owners: []string{"amy"}, Subjects: []string{"ann"}, Methods: []string{"GetTask", "ListTasks", "SendMessage"},
			}}
		},
	} {
		w := in(t, speaks(rpc10), edit)
		w.given("alice", w.base, w.agent, "task-alice", "shared", "")
		w.speak("alice", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, "alice's")
		kept := new(archive)
		w.agent.answers(kept.answer)
		got := w.speak("amy", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, name)
		_, rest, _ := strings.Cut(got.docs[0], `"id":"`)
		task, _, _ := strings.Cut(rest, `"`)
		w.agent.take()
		for _, a := range []ask{
			{method: wire.GetTask, task: task}, {method: wire.ListTasks}, {method: wire.SendMessage, task: task},
			{method: wire.SendMessage, task: task, context: "shared"},
		} {
			got := w.speak("ann", w.base, rpc10, a).ok(t, name+" "+a.method)
			if !strings.Contains(got.docs[0], `"shared"`) || aliases.MatchString(got.docs[0]) {
				t.Errorf("%s: %v: %s", name, a, got.docs)
			}
			if c := w.agent.one(t).call(); c.ContextID != "" && c.ContextID != kept.where[task] {
				t.Errorf("%s: %v: the agent got context %s", name, a, c.ContextID)
			}
		}
		// A context of one's own under that name is another than one that is not shared.
		w.speak("ann", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, name)
		if c := w.agent.one(t).call(); (c.ContextID == kept.where[task]) != (name == "tenant") {
			t.Errorf("%s: the agent got context %s, and amy's is %s", name, c.ContextID, kept.where[task])
		}
		w.own("amy", "task-other", "context-other")
		for _, context := range []string{"shared", "context-nobody"} {
			w.speak("ann", w.base, rpc10, ask{method: wire.SendMessage, task: "task-other", context: context}).refused(t, name, wire.TaskNotFound)
		}
		w.agent.silent(t, name)
	}
}

// TestA03_ForeignContextComesBack: nor does it change for a client who comes back to a
// stream, or joins one.
func TestA03_ForeignContextComesBack(t *testing.T) {
	t.Parallel()
	w := build(t, streaming())
	w.own("alice", "task-alice", "shared")
	goOn := make(chan struct{})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		context := r.call().ContextID
		r.say(rw, `{"task":`+taskIn(rpc10, "task-bob", context, "working", "")+`}`)
		<-goOn
		r.say(rw, statusIn(rpc10, "task-bob", context, "completed", ""))
	})
	first := w.listen("bob", "SendStreamingMessage", message(`,"contextId":"shared"`))
	heard := []string{first.data()}
	first.leave()
	back := w.listen("bob", "SubscribeToTask", `{"id":"task-bob"}`, "Last-Event-ID: "+first.last)
	joined := w.listen("bob", "SubscribeToTask", `{"id":"task-bob"}`)
	heard = append(heard, joined.data())
	close(goOn)
	heard = append(heard, back.data(), joined.data())
	for i, event := range heard {
		if !strings.Contains(event, `"contextId":"shared"`) {
			t.Errorf("event %d: %s", i, event)
		}
	}
}

// TestA03_ReplacementByItsOwnName: who names the context as the agent does, as clients may
// that were shown it once, is answered by that name.
func TestA03_ReplacementByItsOwnName(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied)
	w.given("alice", w.base, w.agent, "task-alice", "shared", "")
	w.speak("alice", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, "alice's")
	w.agent.take()
	w.agent.answers(new(archive).answer)
	w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, "tied's")
	alias := w.agent.one(t).call().ContextID
	got := w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage, context: alias}).ok(t, "by its own name")
	if !strings.Contains(got.docs[0], alias) || strings.Contains(got.docs[0], "shared") {
		t.Errorf("%s", got.docs)
	}
	// To others it is a context of somebody else's like any, and its name is not theirs to see.
	w.own("alice", "task-two", "8e448d19-1111-8222-9333-444444444444")
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		r.say(rw, `{"tasks":[`+taskIn(rpc10, "task-two", alias, "working", "")+`]}`)
	})
	if got := w.speak("alice", w.base, rpc10, ask{method: wire.ListTasks}).ok(t, "list"); strings.Contains(got.docs[0], "shared") {
		t.Errorf("alice was shown %s", got.docs)
	}
}
