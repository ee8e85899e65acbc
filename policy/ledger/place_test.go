package ledger

import (
	"errors"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// shared are two agents with one backend, and one of its own.
func shared(agent string) string {
	if agent == "weather" {
		return ""
	}
	return "backend:1"
}

// A3: a context is the backend's: whichever agent leads there, it is its owner's and nobody
// else's, near and far. Tasks are the agent's.
func TestA03_ContextsAreTheBackends(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	for name, s := range map[string]state.Ledger{"near": memory, "far": newStore(t)} {
		for _, adopt := range []bool{false, true} {
			l := New(s, Config{Backend: shared, Adopt: adopt})
			ask := func(p *authn.Principal, agent string, c *wire.Call) error {
				_, err := l.Check(t.Context(), p, agent, c)
				return err
			}
			learn(t, l, alice, task("T", "C"))
			var foreign *ForeignContext
			for _, agent := range []string{"billing", "archive"} {
				if err := ask(alice, agent, send(t, "", "C")); err != nil {
					t.Errorf("%s: alice at %s: %v", name, agent, err)
				}
				if err := ask(bob, agent, send(t, "", "C")); !errors.As(err, &foreign) || foreign.Unknown {
					t.Errorf("%s: bob at %s: %v", name, agent, err)
				}
			}
			if err := ask(alice, "archive", send(t, "T", "")); !errors.Is(err, ErrAbsent) {
				t.Errorf("%s: the task at another agent: %v", name, err)
			}
			if err := ask(bob, "weather", send(t, "", "C")); adopt != (err == nil) {
				t.Errorf("%s: at another backend: %v", name, err)
			}
			_, err := l.Learn(t.Context(), bob, Origin{Agent: "archive"}, message("C"))
			if !errors.As(err, &foreign) {
				t.Errorf("%s: the other agent shows it to bob: %v", name, err)
			}
		}
	}
}

// A3: what was recorded by the agent's name stays its owner's, also beside what is recorded
// by the backend.
func TestA03_ContextsOfBefore(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	for name, s := range map[string]state.Ledger{"near": memory, "far": newStore(t)} {
		learn(t, New(s, Config{}), alice, task("T", "C"))
		l := New(s, Config{Backend: shared, Adopt: true})
		for range 2 {
			if err := check(t, l, alice, send(t, "T", "C")); err != nil {
				t.Errorf("%s: alice: %v", name, err)
			}
			var foreign *ForeignContext
			if err := check(t, l, bob, send(t, "", "C")); !errors.As(err, &foreign) {
				t.Errorf("%s: bob: %v", name, err)
			}
			learn(t, l, alice, task("T", "C")) // records it by the backend
		}
	}
}

// A3: a context that nobody is known to have is nobody's to take, after the same work as one
// of somebody else's. One that the gateway made is its caller's, and so is that of the
// caller's task.
func TestA03_UnknownContexts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{Backend: shared})
	learn(t, l, alice, task("T", "C"))
	learn(t, l, alice, task("U", ""))
	list := &wire.Call{Version: wire.V10, Method: method(t, wire.ListTasks), ContextID: "new"}
	old := send(t, "", "new")
	old.Version = wire.V01
	for what, c := range map[string]*wire.Call{"send": send(t, "", "new"), "list": list, "0.1": old} {
		var foreign *ForeignContext
		var err error
		unknown := s.work(func() { err = check(t, l, bob, c) })
		if !errors.As(err, &foreign) || !foreign.Unknown || foreign.ID != "new" || !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v", what, err)
		}
		taken := *c
		taken.ContextID = "C"
		if work := s.work(func() { err = check(t, l, bob, &taken) }); work != unknown || !errors.As(err, &foreign) || foreign.Unknown {
			t.Errorf("%s: somebody else's: %v, after %d lookups; %d for one that nobody has", what, err, work, unknown)
		}
		if _, err := l.CheckMade(t.Context(), bob, "billing", c); err != nil {
			t.Errorf("%s: made for bob: %v", what, err)
		}
		if _, err := l.CheckMade(t.Context(), bob, "billing", &taken); !errors.As(err, &foreign) {
			t.Errorf("%s: made, and alice's: %v", what, err)
		}
	}
	// The state has lost the context, and not the task.
	lost := newStore(t)
	if _, err := lost.Ledger.Claim(t.Context(), state.Record{
		Agent: "billing", Kind: state.Task, ID: "T", Owner: alice.Key(), Context: "C",
	}); err != nil {
		t.Fatal(err)
	}
	if err := check(t, New(lost, Config{}), alice, send(t, "T", "C")); err != nil {
		t.Errorf("the context of alice's task: %v", err)
	}
}
