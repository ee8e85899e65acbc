package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// TestA10_EverySide: one call has one fate, in whichever version and binding it is
// made, whether a header says the version or not, and whatever the agent speaks;
// and the agent is always told the version that it is spoken to in.
func TestA10_EverySide(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), func(s *setup) {
		s.bound = map[string]string{"tied": "rec", "reader": "rec", "hindered": "rec"}
		s.policy.Rules = []policy.Rule{
			{Name: "all", Effect: "allow", Subjects: []string{"tied", "hindered"}},
			{Name: "no", Effect: "deny", Subjects: []string{"hindered"}, Methods: []string{"SendMessage", "SubscribeToTask"}},
			{Name: "read", Effect: "allow", Subjects: []string{"reader"}, Skills: []string{"read"}},
		}
	})
	const selected = `,"metadata":{"` + wire.SkillSelection + `":"`
	fates := []struct {
		name, who string
		ask       ask
		want      *wire.Kind // nil for allowed
	}{
		{"allowed", "tied", ask{method: wire.SendMessage}, nil},
		{"allowed a stream", "hindered", ask{method: wire.SendStreamingMessage}, nil},
		{"denied", "hindered", ask{method: wire.SendMessage}, wire.Denied},
		{"no skill", "reader", ask{method: wire.SendMessage}, wire.Denied},
		{"skill", "reader", ask{method: wire.SendMessage, inMessage: selected + `read"}`}, nil},
		{"other skill", "reader", ask{method: wire.SendMessage, inMessage: selected + `write it"}`}, wire.Denied},
		{"own task", "tied", ask{method: wire.GetTask, task: "t"}, nil},
		{"foreign task", "hindered", ask{method: wire.GetTask, task: "t"}, wire.TaskNotFound},
		{"foreign and denied", "hindered", ask{method: wire.SubscribeToTask, task: "t"}, wire.TaskNotFound},
		{"foreign task in a message", "reader", ask{method: wire.SendStreamingMessage, task: "t", inMessage: selected + `read"}`}, wire.TaskNotFound},
		{"no task", "tied", ask{method: wire.CancelTask, task: "none"}, wire.TaskNotFound},
	}
	for _, agent := range sides {
		w.becomes(speaks(agent))
		w.given("tied", w.base, w.agent, "t", "c", "")
		for i, f := range fates {
			for _, caller := range sides {
				for _, f.ask.unversioned = range []bool{false, true} {
					a := f.ask
					if caller == rpc01 && a.method == wire.SendMessage || caller == rpc01 && f.want == nil && a.task == "" {
						a.task = fmt.Sprint("mine-", agent, i, a.unversioned)
					}
					if caller == rpc01 && agent != rpc01 && f.name == "foreign task in a message" {
						continue // makes a task of its own under that id
					}
					what := fmt.Sprintf("%s: %s to %s, unversioned %t", f.name, caller, agent, a.unversioned)
					got := w.speak(f.who, w.base, caller, a)
					if f.want != nil {
						got.refused(t, what, f.want)
						w.agent.silent(t, what)
						continue
					}
					got.ok(t, what)
					seen := w.agent.take()
					if len(seen) == 0 {
						t.Errorf("%s: did not reach the agent", what)
					}
					for _, r := range seen {
						if v := r.Header["A2a-Version"]; !slices.Equal(v, []string{string(agent.Version)}) || r.side() != agent {
							t.Errorf("%s: the agent was called as %s, version %q", what, r.side(), v)
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
	w := in(t, speaks(rpc10, rest10, grpc10), tied)
	for _, s := range sides {
		for _, version := range []string{"2.0", "0.9", "1.1", "1", "v1.0", "1.0.0.0", "latest", "0.4", "01.0"} {
			a := ask{method: wire.SendMessage, task: ifOld(s, "t"), header: []string{"A2A-Version: " + version}, unversioned: true}
			got := w.speak("tied", w.base, s, a)
			got.refused(t, version+" "+s.String(), wire.VersionUnsupported)
			// Nobody knows what such a client reads; 1.0's form is what the number is from.
			if !strings.Contains(got.body, `"VERSION_NOT_SUPPORTED"`) && s.Binding != wire.GRPC {
				t.Errorf("%s %s: %s", s, version, got.body)
			}
			if s.Binding == wire.JSONRPC && !strings.Contains(got.body, "-32009") {
				t.Errorf("%s %s: %s", s, version, got.body)
			}
		}
		for _, version := range []string{string(s.Version) + ".0", string(s.Version) + ".17", " " + string(s.Version)} {
			a := ask{method: wire.SendMessage, task: ifOld(s, "t"+version), header: []string{"A2A-Version: " + version}, unversioned: true}
			w.speak("tied", w.base, s, a).ok(t, version+" "+s.String())
			if v := w.agent.one(t).Header["A2a-Version"]; !slices.Equal(v, []string{"1.0"}) {
				t.Errorf("%s %s: the agent got %q", s, version, v)
			}
		}
		other := map[wire.Version]string{wire.V10: "0.3", wire.V03: "1.0", wire.V01: "1.0"}[s.Version]
		a := ask{method: wire.SendMessage, task: ifOld(s, "t"), header: []string{"A2A-Version: " + other}, unversioned: true}
		got := w.speak("tied", w.base, s, a) // in words of the caller's version, which before 1.0 had none for this
		if got.err == nil || !strings.Contains(got.err.Text(), "belongs to A2A "+string(s.Version)) || s.Version == wire.V10 && got.err.Kind != wire.VersionUnsupported {
			t.Errorf("%s %s: %d %v %s", s, other, got.status, got.err, got.body)
		}
	}
	w.agent.silent(t, "contradictions")
	for target, body := range map[string]string{
		"": rpcBody("SendMessage", message("")), "/message:send": message(""), "/tasks": "",
	} {
		verb := "POST"
		if body == "" {
			verb = "GET"
		}
		wantStatus(t, target, w.do("tied", verb, target+"?A2A-Version=1.0", body), 200)
		wantStatus(t, target, w.do("tied", verb, target+"?A2A-Version=1.0.1", body, "A2A-Version: 1.0"), 200)
		w.agent.take()
		for _, query := range []string{"?A2A-Version=0.3", "?a2a-version=0.3", "?A2A%2DVersion=0.3", "?A2A-Version=1.0&A2A-Version=0.3"} {
			got := w.do("tied", verb, target+query, body, "A2A-Version: 1.0")
			if got.status != 400 && !strings.Contains(got.body, `"error"`) {
				t.Errorf("%s%s: %d %s", target, query, got.status, got.body)
			}
			if target != "" && got.status != 400 {
				t.Errorf("%s%s: %d %s", target, query, got.status, got.body)
			}
		}
		w.agent.silent(t, target)
	}
}

// TestA03_EverySide: a context of somebody else's is replaced in front of whichever
// agent, and put back into whichever answer.
func TestA03_EverySide(t *testing.T) {
	t.Parallel()
	for _, agent := range sides {
		w := in(t, speaks(agent), tied)
		w.given("alice", w.base, w.agent, "task-alice", "shared", "")
		w.speak("alice", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, "alice's")
		w.agent.take()
		for _, caller := range sides {
			for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				what := fmt.Sprintf("%s: %s to %s", name, caller, agent)
				a := ask{method: name, context: "shared", task: ifOld(caller, "mine"+name)}
				got := w.speak("tied", w.base, caller, a).ok(t, what)
				for _, r := range w.agent.take() {
					if c := r.call(); c.ContextID == "shared" || c.ContextID == "" && caller != rpc01 {
						t.Errorf("%s: the agent got %s", what, r.body)
					}
				}
				if caller == rpc01 && name == wire.SendStreamingMessage {
					continue // its events name no session
				}
				if !strings.Contains(got.docs[0], `"shared"`) {
					t.Errorf("%s: %s", what, got.docs)
				}
			}
		}
	}
}
