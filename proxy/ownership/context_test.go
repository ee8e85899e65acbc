package ownership_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA03_EverySideAfterwards: the caller's name for a context stays that of a task in it,
// whatever is asked about the task by its own id, and whoever asks.
func TestA03_EverySideAfterwards(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied, proxytest.WithRelay)
			w.Given("alice", w.Base, w.Agent, "task-alice", "shared", "")
			w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, "alice's")
			for _, caller := range proxytest.Sides {
				kept := new(archive)
				w.Agent.Answers(kept.answer)
				task := goesBy(w, caller, agent)
				if caller == proxytest.RPC10 || caller == proxytest.RPC03 || caller == proxytest.REST03 {
					notifiedBy(w, caller, agent, task, kept.where[task])
				}
			}
		})
	}
}

// goesBy has a caller begin a task in a context of somebody else's, and ask for it in every
// way that does not name the context.
func goesBy(w *proxytest.Gateway, s, agent wire.Side) (task string) {
	w.Helper()
	what := fmt.Sprintf("%s to %s", s, agent)
	got := w.Speak("tied", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Context: "shared", Task: proxytest.IDForV01(s, "mine")}).OK(w, what)
	_, rest, _ := strings.Cut(got.Docs[0], `"id":"`)
	task, _, _ = strings.Cut(rest, `"`)
	w.Agent.Take()
	for _, name := range []string{
		wire.GetTask, wire.ListTasks, wire.SendMessage, wire.SendStreamingMessage, wire.SubscribeToTask, wire.CancelTask,
	} {
		m := proxytest.MethodOf(name)
		if name == wire.ListTasks && s.Version != wire.V10 {
			continue // which have no such method
		}
		a := proxytest.Ask{Method: name, Task: task}
		if name == wire.ListTasks {
			a.Task = ""
		}
		said := w.Speak("tied", w.Base, s, a).OK(w, what+" "+name)
		all := strings.Join(said.Docs, "\n")
		if aliases.MatchString(all) || !strings.Contains(all, `"shared"`) && (s != proxytest.RPC01 || !m.Streams) {
			w.Errorf("%s %s: %s", what, name, all)
		}
	}
	return task
}

// aliases are ids as the gateway makes them in the place of contexts.
var aliases = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)

// notifiedBy has a caller register a webhook for a task, and the agent deliver there.
func notifiedBy(w *proxytest.Gateway, s, agent wire.Side, task, context string) {
	w.Helper()
	w.Agent.Take()
	proxytest.WantStatus(w, "register", w.Registers("tied", s, false, task, ""), 200)
	c := w.Agent.Take()[0].Call()
	found, e := pushconfig.Read(c)
	if e != nil {
		w.Fatal(e)
	}
	g := proxytest.Given{URL: found.URL, Token: found.Token}
	g.Authentication.Credentials = found.Credentials
	doc := proxytest.TaskIn(wire.Side{Version: agent.Version, Binding: wire.JSONRPC}, task, context, "working", "")
	if agent.Version == wire.V10 {
		doc = `{"task":` + doc + `}`
	}
	proxytest.WantStatus(w, "notify", w.Notify(g, doc), 200)
	mail := w.Mail.All("")
	if last := string(mail[len(mail)-1].Body); context == "" || aliases.MatchString(last) || !strings.Contains(last, `"shared"`) {
		w.Errorf("%s to %s, notified: %s", s, agent, last)
	}
}

// TestA03_ForeignContextOfColleagues: those who use a task call its context what its owner
// does, and get there by that name, as far as the context is theirs to use.
func TestA03_ForeignContextOfColleagues(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*proxytest.Setup){
		"tenant": proxytest.WithColleagues("tenant"),
		"lent": func(s *proxytest.Setup) {
			proxytest.WithColleagues("principal")(s)
			s.Policy.Tasks.Sharing = []policy.Sharing{{
				Name: "amy's", Owners: []string{"amy"}, Subjects: []string{"ann"}, Methods: []string{"GetTask", "ListTasks", "SendMessage"},
			}}
		},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), edit)
		w.Given("alice", w.Base, w.Agent, "task-alice", "shared", "")
		w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, "alice's")
		kept := new(archive)
		w.Agent.Answers(kept.answer)
		got := w.Speak("amy", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, name)
		_, rest, _ := strings.Cut(got.Docs[0], `"id":"`)
		task, _, _ := strings.Cut(rest, `"`)
		w.Agent.Take()
		for _, a := range []proxytest.Ask{
			{Method: wire.GetTask, Task: task}, {Method: wire.ListTasks}, {Method: wire.SendMessage, Task: task},
			{Method: wire.SendMessage, Task: task, Context: "shared"},
		} {
			got := w.Speak("ann", w.Base, proxytest.RPC10, a).OK(t, name+" "+a.Method)
			if !strings.Contains(got.Docs[0], `"shared"`) || aliases.MatchString(got.Docs[0]) {
				t.Errorf("%s: %v: %s", name, a, got.Docs)
			}
			if c := w.Agent.One(t).Call(); c.ContextID != "" && c.ContextID != kept.where[task] {
				t.Errorf("%s: %v: the agent got context %s", name, a, c.ContextID)
			}
		}
		// A context of one's own under that name is another than one that is not shared.
		w.Speak("ann", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, name)
		if c := w.Agent.One(t).Call(); (c.ContextID == kept.where[task]) != (name == "tenant") {
			t.Errorf("%s: the agent got context %s, and amy's is %s", name, c.ContextID, kept.where[task])
		}
		w.Own("amy", "task-other", "context-other")
		for _, context := range []string{"shared", "context-nobody"} {
			w.Speak("ann", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Task: "task-other", Context: context}).Refused(t, name, wire.TaskNotFound)
		}
		w.Agent.Silent(t, name)
	}
}

// TestA03_ForeignContextComesBack: nor does it change for a client who comes back to a
// stream, or joins one.
func TestA03_ForeignContextComesBack(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams())
	w.Own("alice", "task-alice", "shared")
	goOn := make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		context := r.Call().ContextID
		r.Say(rw, `{"task":`+proxytest.TaskIn(proxytest.RPC10, "task-bob", context, "working", "")+`}`)
		<-goOn
		r.Say(rw, proxytest.StatusIn(proxytest.RPC10, "task-bob", context, "completed", ""))
	})
	first := w.Listen("bob", "SendStreamingMessage", proxytest.Message(`,"contextId":"shared"`))
	heard := []string{first.Data()}
	first.Leave()
	back := w.Listen("bob", "SubscribeToTask", `{"id":"task-bob"}`, "Last-Event-ID: "+first.Last)
	joined := w.Listen("bob", "SubscribeToTask", `{"id":"task-bob"}`)
	heard = append(heard, joined.Data())
	close(goOn)
	heard = append(heard, back.Data(), joined.Data())
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	w.Given("alice", w.Base, w.Agent, "task-alice", "shared", "")
	w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, "alice's")
	w.Agent.Take()
	w.Agent.Answers(new(archive).answer)
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, "tied's")
	alias := w.Agent.One(t).Call().ContextID
	got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: alias}).OK(t, "by its own name")
	if !strings.Contains(got.Docs[0], alias) || strings.Contains(got.Docs[0], "shared") {
		t.Errorf("%s", got.Docs)
	}
	// To others it is a context of somebody else's like any, and its name is not theirs to see.
	w.Own("alice", "task-two", "8e448d19-1111-8222-9333-444444444444")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		r.Say(rw, `{"tasks":[`+proxytest.TaskIn(proxytest.RPC10, "task-two", alias, "working", "")+`]}`)
	})
	if got := w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.ListTasks}).OK(t, "list"); strings.Contains(got.Docs[0], "shared") {
		t.Errorf("alice was shown %s", got.Docs)
	}
}
