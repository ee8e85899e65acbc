package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA10_EverySide: one call has one fate, in whichever version and binding it is
// made, whether a header says the version or not, and whatever the agent speaks;
// and the agent is always told the version that it is spoken to in.
func TestA10_EverySide(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) {
		s.Bound = map[string]string{"tied": "rec", "reader": "rec", "hindered": "rec"}
		s.Policy.Rules = []policy.Rule{
			{Name: "all", Effect: "allow", Subjects: []string{"tied", "hindered"}},
			{Name: "no", Effect: "deny", Subjects: []string{"hindered"}, Methods: []string{"SendMessage", "SubscribeToTask"}},
			{Name: "read", Effect: "allow", Subjects: []string{"reader"}, Skills: []string{"read"}},
		}
	})
	const selected = `,"metadata":{"` + wire.SkillSelection + `":"`
	fates := []struct {
		name, who string
		ask       proxytest.Ask
		want      *wire.Kind // nil for allowed
	}{
		{"allowed", "tied", proxytest.Ask{Method: wire.SendMessage}, nil},
		{"allowed a stream", "hindered", proxytest.Ask{Method: wire.SendStreamingMessage}, nil},
		{"denied", "hindered", proxytest.Ask{Method: wire.SendMessage}, wire.Denied},
		{"no skill", "reader", proxytest.Ask{Method: wire.SendMessage}, wire.Denied},
		{"skill", "reader", proxytest.Ask{Method: wire.SendMessage, InMessage: selected + `read"}`}, nil},
		{"other skill", "reader", proxytest.Ask{Method: wire.SendMessage, InMessage: selected + `write it"}`}, wire.Denied},
		{"own task", "tied", proxytest.Ask{Method: wire.GetTask, Task: "t"}, nil},
		{"foreign task", "hindered", proxytest.Ask{Method: wire.GetTask, Task: "t"}, wire.TaskNotFound},
		{"foreign and denied", "hindered", proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"}, wire.TaskNotFound},
		{"foreign task in a message", "reader", proxytest.Ask{Method: wire.SendStreamingMessage, Task: "t", InMessage: selected + `read"}`}, wire.TaskNotFound},
		{"no task", "tied", proxytest.Ask{Method: wire.CancelTask, Task: "none"}, wire.TaskNotFound},
	}
	for _, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		w.Given("tied", w.Base, w.Agent, "t", "c", "")
		for i, f := range fates {
			for _, caller := range proxytest.Sides {
				for _, f.ask.Unversioned = range []bool{false, true} {
					a := f.ask
					if caller == proxytest.RPC01 && a.Method == wire.SendMessage || caller == proxytest.RPC01 && f.want == nil && a.Task == "" {
						a.Task = fmt.Sprint("mine-", agent, i, a.Unversioned)
					}
					if caller == proxytest.RPC01 && agent != proxytest.RPC01 && f.name == "foreign task in a message" {
						continue // makes a task of its own under that id
					}
					what := fmt.Sprintf("%s: %s to %s, unversioned %t", f.name, caller, agent, a.Unversioned)
					got := w.Speak(f.who, w.Base, caller, a)
					if f.want != nil {
						got.Refused(t, what, f.want)
						w.Agent.Silent(t, what)
						continue
					}
					got.OK(t, what)
					seen := w.Agent.Take()
					if len(seen) == 0 {
						t.Errorf("%s: did not reach the agent", what)
					}
					for _, r := range seen {
						if v := r.Header["A2a-Version"]; !slices.Equal(v, []string{string(agent.Version)}) || r.Side() != agent {
							t.Errorf("%s: the agent was called as %s, version %q", what, r.Side(), v)
						}
					}
				}
			}
		}
	}
}

// TestA10_VersionSaidTwice: a header and a query that disagree are refused, as is a
// path, a method or a service that the header contradicts. Patch numbers say
// nothing, and what was never released is nothing that anybody speaks.
func TestA10_VersionSaidTwice(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10, proxytest.REST10, proxytest.GRPC10), proxytest.WithTied)
	for _, s := range proxytest.Sides {
		for _, version := range []string{"2.0", "0.9", "1.1", "1", "v1.0", "1.0.0.0", "latest", "0.4", "01.0"} {
			a := proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(s, "t"), Header: []string{"A2A-Version: " + version}, Unversioned: true}
			got := w.Speak("tied", w.Base, s, a)
			got.Refused(t, version+" "+s.String(), wire.VersionUnsupported)
			// Nobody knows what such a client reads; 1.0's form is what the number is from.
			if !strings.Contains(got.Body, `"VERSION_NOT_SUPPORTED"`) && s.Binding != wire.GRPC {
				t.Errorf("%s %s: %s", s, version, got.Body)
			}
			if s.Binding == wire.JSONRPC && !strings.Contains(got.Body, "-32009") {
				t.Errorf("%s %s: %s", s, version, got.Body)
			}
		}
		for _, version := range []string{string(s.Version) + ".0", string(s.Version) + ".17", " " + string(s.Version)} {
			a := proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(s, "t"+version), Header: []string{"A2A-Version: " + version}, Unversioned: true}
			w.Speak("tied", w.Base, s, a).OK(t, version+" "+s.String())
			if v := w.Agent.One(t).Header["A2a-Version"]; !slices.Equal(v, []string{"1.0"}) {
				t.Errorf("%s %s: the agent got %q", s, version, v)
			}
		}
		other := map[wire.Version]string{wire.V10: "0.3", wire.V03: "1.0", wire.V01: "1.0"}[s.Version]
		a := proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(s, "t"), Header: []string{"A2A-Version: " + other}, Unversioned: true}
		got := w.Speak("tied", w.Base, s, a) // in words of the caller's version, which before 1.0 had none for this
		if got.Err == nil || !strings.Contains(got.Err.Text(), "belongs to A2A "+string(s.Version)) || s.Version == wire.V10 && got.Err.Kind != wire.VersionUnsupported {
			t.Errorf("%s %s: %d %v %s", s, other, got.Status, got.Err, got.Body)
		}
	}
	w.Agent.Silent(t, "contradictions")
	for target, body := range map[string]string{
		"": proxytest.RPCBody("SendMessage", proxytest.Message("")), "/message:send": proxytest.Message(""), "/tasks": "",
	} {
		verb := "POST"
		if body == "" {
			verb = "GET"
		}
		proxytest.WantStatus(t, target, w.Do("tied", verb, target+"?A2A-Version=1.0", body), 200)
		proxytest.WantStatus(t, target, w.Do("tied", verb, target+"?A2A-Version=1.0.1", body, "A2A-Version: 1.0"), 200)
		w.Agent.Take()
		for _, query := range []string{"?A2A-Version=0.3", "?a2a-version=0.3", "?A2A%2DVersion=0.3", "?A2A-Version=1.0&A2A-Version=0.3"} {
			got := w.Do("tied", verb, target+query, body, "A2A-Version: 1.0")
			if got.Status != 400 && !strings.Contains(got.Body, `"error"`) {
				t.Errorf("%s%s: %d %s", target, query, got.Status, got.Body)
			}
			if target != "" && got.Status != 400 {
				t.Errorf("%s%s: %d %s", target, query, got.Status, got.Body)
			}
		}
		w.Agent.Silent(t, target)
	}
}

// TestA03_EverySide: a context of somebody else's is replaced in front of whichever
// agent, and put back into whichever answer.
func TestA03_EverySide(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		w.Given("alice", w.Base, w.Agent, "task-alice", "shared", "")
		w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, "alice's")
		w.Agent.Take()
		for _, caller := range proxytest.Sides {
			for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				what := fmt.Sprintf("%s: %s to %s", name, caller, agent)
				a := proxytest.Ask{Method: name, Context: "shared", Task: proxytest.IDForV01(caller, "mine"+name)}
				got := w.Speak("tied", w.Base, caller, a).OK(t, what)
				for _, r := range w.Agent.Take() {
					if c := r.Call(); c.ContextID == "shared" || c.ContextID == "" && caller != proxytest.RPC01 {
						t.Errorf("%s: the agent got %s", what, r.Content)
					}
				}
				if caller == proxytest.RPC01 && name == wire.SendStreamingMessage {
					continue // its events name no session
				}
				if !strings.Contains(got.Docs[0], `"shared"`) {
					t.Errorf("%s: %s", what, got.Docs)
				}
			}
		}
	}
}
