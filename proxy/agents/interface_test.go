package agents_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestInterfaceChoice: every caller in front of agents with every set of
// interfaces, in either order on the card.
func TestInterfaceChoice(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	for set := 1; set < 1<<len(proxytest.Sides); set++ {
		var has []wire.Side
		for i, s := range proxytest.Sides {
			if set&(1<<i) != 0 {
				has = append(has, s)
			}
		}
		if set%2 == 0 {
			slices.Reverse(has)
		}
		w.BecomeCard(proxytest.CardFor(has...))
		for _, caller := range proxytest.Sides {
			a := proxytest.Ask{Method: wire.SendMessage}
			if caller == proxytest.RPC01 {
				a.Task = "task-" + strconv.Itoa(set)
			}
			w.Speak("tied", w.Base, caller, a).OK(t, caller.String())
			if got, want := w.Agent.One(t).Side(), proxytest.BestInterface(caller, has); got != want {
				t.Errorf("%s in front of %v: called as %s, want %s", caller, has, got, want)
			}
		}
	}
}

// TestInterfaceThatHasTheMethod: a list is asked for where lists are known, even if
// another version is nearer.
func TestInterfaceThatHasTheMethod(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01, proxytest.GRPC03, proxytest.REST03, proxytest.RPC03, proxytest.GRPC10, proxytest.REST10, proxytest.RPC10), proxytest.WithTied)
	for _, tt := range []struct {
		caller wire.Side
		has    []wire.Side
		want   wire.Side
	}{
		{proxytest.RPC10, []wire.Side{proxytest.RPC03, proxytest.GRPC10}, proxytest.GRPC10},
		{proxytest.REST10, []wire.Side{proxytest.REST03, proxytest.RPC10}, proxytest.RPC10},
		{proxytest.GRPC10, []wire.Side{proxytest.GRPC03, proxytest.REST10}, proxytest.REST10},
		{proxytest.RPC10, []wire.Side{proxytest.RPC01, proxytest.RPC03}, proxytest.RPC03}, // neither: its tasks are asked for one by one
	} {
		w.BecomeCard(proxytest.CardFor(tt.has...))
		w.Speak("tied", w.Base, proxytest.RPC03, proxytest.Ask{Method: wire.SendMessage}).OK(t, "make a task")
		w.Agent.Take()
		w.Speak("tied", w.Base, tt.caller, proxytest.Ask{Method: wire.ListTasks}).OK(t, "list")
		for _, r := range w.Agent.Take() {
			if r.Side() != tt.want {
				t.Errorf("%s in front of %v: asked as %s, want %s", tt.caller, tt.has, r.Side(), tt.want)
			}
		}
	}
}

// TestTenants: a path names the agent, so a 1.0 caller says which of its tenants is
// meant, and the interface's goes to the agent just as its card has it.
func TestTenants(t *testing.T) {
	t.Parallel()
	const acme, odd, slashed = "acme", "über co", "a/skills/b"
	all := func(tenant string, list ...wire.Side) func(string) []string {
		return func(base string) (out []string) {
			for _, s := range list {
				if s.Version == wire.V10 {
					out = append(out, proxytest.InterfaceOf(base, s, tenant))
				} else {
					out = append(out, proxytest.InterfaceOf(base, s, "")) // has no word for it
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
		"same side":             {all(acme, proxytest.RPC10), proxytest.RPC10, acme, proxytest.RPC10, acme},
		"none":                  {all(acme, proxytest.RPC10), proxytest.RPC10, "", wire.Side{}, "-"},
		"another":               {all(acme, proxytest.RPC10), proxytest.RPC10, "globex", wire.Side{}, "-"},
		"to HTTP+JSON":          {all(acme, proxytest.REST10), proxytest.RPC10, acme, proxytest.REST10, acme},
		"to gRPC":               {all(acme, proxytest.GRPC10), proxytest.RPC10, acme, proxytest.GRPC10, acme},
		"odd to HTTP+JSON":      {all(odd, proxytest.REST10), proxytest.RPC10, odd, proxytest.REST10, odd},
		"odd to gRPC":           {all(odd, proxytest.GRPC10), proxytest.RPC10, odd, proxytest.GRPC10, odd},
		"slashed to gRPC":       {all(slashed, proxytest.GRPC10), proxytest.RPC10, slashed, proxytest.GRPC10, slashed},
		"0.3 has no word":       {all(acme, proxytest.REST10), proxytest.RPC03, "", proxytest.REST10, acme},
		"0.1 has no word":       {all(acme, proxytest.GRPC10), proxytest.RPC01, "", proxytest.GRPC10, acme},
		"to 0.3 without":        {all("", proxytest.RPC03), proxytest.RPC10, "", proxytest.RPC03, ""},
		"to 0.3 with":           {all("", proxytest.RPC03), proxytest.RPC10, acme, wire.Side{}, "-"},
		"to 0.3 of two":         {all(acme, proxytest.RPC03, proxytest.GRPC10), proxytest.RPC10, acme, proxytest.GRPC10, acme},
		"to 0.3 of the agent's": {all(acme, proxytest.RPC03, proxytest.RPC10), proxytest.RPC03, "", proxytest.RPC03, ""},
	}
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	for name, tt := range tests {
		w.BecomeCard(func(base string) string { return proxytest.CardWith(base, tt.has(base)...) })
		a := proxytest.Ask{Method: wire.SendMessage, Task: ""}
		if tt.tenant != "" {
			a.More = `,"tenant":` + strconv.Quote(tt.tenant)
		}
		if tt.caller == proxytest.RPC01 {
			a.Task = "t-" + name
		}
		got := w.Speak("tied", w.Base, tt.caller, a)
		if tt.says == "-" {
			got.Refused(t, name, wire.InvalidParams)
			w.Agent.Silent(t, name)
			continue
		}
		got.OK(t, name)
		seen := w.Agent.One(t)
		if c := seen.Call(); seen.Side() != tt.want || c.Tenant != tt.says {
			t.Errorf("%s: called as %s with tenant %q: %s %s", name, seen.Side(), c.Tenant, seen.URL, seen.Content)
		}
	}
}

// TestOneOfSeveralTenants: each of an agent's tenants has interfaces of its own.
func TestOneOfSeveralTenants(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, func(base string) string {
		return proxytest.CardWith(base, proxytest.InterfaceOf(base, proxytest.RPC10, "one"), proxytest.InterfaceOf(base, proxytest.REST10, "two"), proxytest.InterfaceOf(base, proxytest.REST03, ""))
	})
	for tenant, want := range map[string]wire.Side{"one": proxytest.RPC10, "two": proxytest.REST10} {
		w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"` + tenant + `"`}).OK(t, tenant)
		if seen := w.Agent.One(t); seen.Side() != want || seen.Call().Tenant != tenant {
			t.Errorf("%s: called as %s, tenant %q", tenant, seen.Side(), seen.Call().Tenant)
		}
		w.Speak("alice", w.Base, proxytest.REST10, proxytest.Ask{Method: wire.SendMessage, Path: "/" + tenant}).OK(t, tenant)
		if seen := w.Agent.One(t); seen.Side() != want || seen.Call().Tenant != tenant {
			t.Errorf("%s: called as %s, tenant %q", tenant, seen.Side(), seen.Call().Tenant)
		}
	}
	w.Speak("alice", w.Base, proxytest.REST03, proxytest.Ask{Method: wire.SendMessage}).OK(t, "0.3")
	if seen := w.Agent.One(t); seen.Side() != proxytest.REST03 {
		t.Errorf("0.3: called as %s", seen.Side())
	}
}
