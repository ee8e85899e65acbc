package proxy_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// preferred is the order in which each caller would have an agent's interfaces:
// its own, other bindings of its version, then other versions, 0.1 last.
var preferred = map[wire.Side][]wire.Side{
	rpc10:  {rpc10, rest10, grpc10, rpc03, rest03, grpc03, rpc01},
	rest10: {rest10, rpc10, grpc10, rpc03, rest03, grpc03, rpc01},
	grpc10: {grpc10, rpc10, rest10, rpc03, rest03, grpc03, rpc01},
	rpc03:  {rpc03, rest03, grpc03, rpc10, rest10, grpc10, rpc01},
	rest03: {rest03, rpc03, grpc03, rpc10, rest10, grpc10, rpc01},
	grpc03: {grpc03, rpc03, rest03, rpc10, rest10, grpc10, rpc01},
	rpc01:  {rpc01, rpc03, rest03, grpc03, rpc10, rest10, grpc10},
}

// best is the one of these that a caller would have.
func best(caller wire.Side, has []wire.Side) wire.Side {
	for _, s := range preferred[caller] {
		if slices.Contains(has, s) {
			return s
		}
	}
	return wire.Side{}
}

// TestInterfaceChoice: every caller in front of agents with every set of
// interfaces, in either order on the card.
func TestInterfaceChoice(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied)
	for set := 1; set < 1<<len(sides); set++ {
		var has []wire.Side
		for i, s := range sides {
			if set&(1<<i) != 0 {
				has = append(has, s)
			}
		}
		if set%2 == 0 {
			slices.Reverse(has)
		}
		w.becomes(speaks(has...))
		for _, caller := range sides {
			a := ask{method: wire.SendMessage}
			if caller == rpc01 {
				a.task = "task-" + strconv.Itoa(set)
			}
			w.speak("tied", w.base, caller, a).ok(t, caller.String())
			if got, want := w.agent.one(t).side(), best(caller, has); got != want {
				t.Errorf("%s in front of %v: called as %s, want %s", caller, has, got, want)
			}
		}
	}
}

// TestInterfaceThatHasTheMethod: a list is asked for where lists are known, even if
// another version is nearer.
func TestInterfaceThatHasTheMethod(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc01, grpc03, rest03, rpc03, grpc10, rest10, rpc10), tied)
	for _, tt := range []struct {
		caller wire.Side
		has    []wire.Side
		want   wire.Side
	}{
		{rpc10, []wire.Side{rpc03, grpc10}, grpc10},
		{rest10, []wire.Side{rest03, rpc10}, rpc10},
		{grpc10, []wire.Side{grpc03, rest10}, rest10},
		{rpc10, []wire.Side{rpc01, rpc03}, rpc03}, // neither: its tasks are asked for one by one
	} {
		w.becomes(speaks(tt.has...))
		w.speak("tied", w.base, rpc03, ask{method: wire.SendMessage}).ok(t, "make a task")
		w.agent.take()
		w.speak("tied", w.base, tt.caller, ask{method: wire.ListTasks}).ok(t, "list")
		for _, r := range w.agent.take() {
			if r.side() != tt.want {
				t.Errorf("%s in front of %v: asked as %s, want %s", tt.caller, tt.has, r.side(), tt.want)
			}
		}
	}
}

// tied adds a caller whose credential is good for the agent only.
func tied(s *setup) { s.bound = map[string]string{"tied": "rec"} }

// TestTenants: a path names the agent, so a 1.0 caller says which of its tenants is
// meant, and the interface's goes to the agent just as its card has it.
func TestTenants(t *testing.T) {
	t.Parallel()
	const acme, odd, slashed = "acme", "über co", "a/skills/b"
	all := func(tenant string, list ...wire.Side) func(string) []string {
		return func(base string) (out []string) {
			for _, s := range list {
				if s.Version == wire.V10 {
					out = append(out, interfaceOf(base, s, tenant))
				} else {
					out = append(out, interfaceOf(base, s, "")) // has no word for it
				}
			}
			return out
		}
	}
	tests := map[string]struct {
		has    func(string) []string
		caller wire.Side
		tenant string // that the caller says
		want   wire.Side
		says   string // the tenant that the agent is told; "-" for a refusal
	}{
		"same side":             {all(acme, rpc10), rpc10, acme, rpc10, acme},
		"none":                  {all(acme, rpc10), rpc10, "", wire.Side{}, "-"},
		"another":               {all(acme, rpc10), rpc10, "globex", wire.Side{}, "-"},
		"to HTTP+JSON":          {all(acme, rest10), rpc10, acme, rest10, acme},
		"to gRPC":               {all(acme, grpc10), rpc10, acme, grpc10, acme},
		"odd to HTTP+JSON":      {all(odd, rest10), rpc10, odd, rest10, odd},
		"odd to gRPC":           {all(odd, grpc10), rpc10, odd, grpc10, odd},
		"slashed to gRPC":       {all(slashed, grpc10), rpc10, slashed, grpc10, slashed},
		"0.3 has no word":       {all(acme, rest10), rpc03, "", rest10, acme},
		"0.1 has no word":       {all(acme, grpc10), rpc01, "", grpc10, acme},
		"to 0.3 without":        {all("", rpc03), rpc10, "", rpc03, ""},
		"to 0.3 with":           {all("", rpc03), rpc10, acme, wire.Side{}, "-"},
		"to 0.3 of two":         {all(acme, rpc03, grpc10), rpc10, acme, grpc10, acme},
		"to 0.3 of the agent's": {all(acme, rpc03, rpc10), rpc03, "", rpc03, ""},
	}
	w := in(t, speaks(rpc10), tied)
	for name, tt := range tests {
		w.becomes(func(base string) string { return cardWith(base, tt.has(base)...) })
		a := ask{method: wire.SendMessage, task: ""}
		if tt.tenant != "" {
			a.more = `,"tenant":` + strconv.Quote(tt.tenant)
		}
		if tt.caller == rpc01 {
			a.task = "t-" + name
		}
		got := w.speak("tied", w.base, tt.caller, a)
		if tt.says == "-" {
			got.refused(t, name, wire.InvalidParams)
			w.agent.silent(t, name)
			continue
		}
		got.ok(t, name)
		seen := w.agent.one(t)
		if c := seen.call(); seen.side() != tt.want || c.Tenant != tt.says {
			t.Errorf("%s: called as %s with tenant %q: %s %s", name, seen.side(), c.Tenant, seen.URL, seen.body)
		}
	}
}

// TestOneOfSeveralTenants: each of an agent's tenants has interfaces of its own.
func TestOneOfSeveralTenants(t *testing.T) {
	t.Parallel()
	w := in(t, func(base string) string {
		return cardWith(base, interfaceOf(base, rpc10, "one"), interfaceOf(base, rest10, "two"), interfaceOf(base, rest03, ""))
	})
	for tenant, want := range map[string]wire.Side{"one": rpc10, "two": rest10} {
		w.speak("alice", w.base, rpc10, ask{method: wire.SendMessage, more: `,"tenant":"` + tenant + `"`}).ok(t, tenant)
		if seen := w.agent.one(t); seen.side() != want || seen.call().Tenant != tenant {
			t.Errorf("%s: called as %s, tenant %q", tenant, seen.side(), seen.call().Tenant)
		}
		w.speak("alice", w.base, rest10, ask{method: wire.SendMessage, path: "/" + tenant}).ok(t, tenant)
		if seen := w.agent.one(t); seen.side() != want || seen.call().Tenant != tenant {
			t.Errorf("%s: called as %s, tenant %q", tenant, seen.side(), seen.call().Tenant)
		}
	}
	w.speak("alice", w.base, rest03, ask{method: wire.SendMessage}).ok(t, "0.3")
	if seen := w.agent.one(t); seen.side() != rest03 {
		t.Errorf("0.3: called as %s", seen.side())
	}
}
