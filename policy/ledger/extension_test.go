package ledger

import (
	"errors"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestA01_ExtensionMethods: whatever an extension's method is about, a task or context
// that it names is looked at as if it were A2A's own, and with the same work.
func TestA01_ExtensionMethods(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{Adopt: true})
	learn(t, l, alice, task("T", "C"))
	learn(t, l, alice, task("U", ""))
	learn(t, l, bob, task("B", "D"))
	const (
		fine = iota
		absent
		foreign
	)
	for _, subject := range []wire.Subject{wire.OfTask, wire.OfCaller, wire.OfAgent} {
		for _, tt := range []struct {
			task, context string
			alice, bob    int
		}{
			{"", "", fine, fine},
			{"T", "", fine, absent},
			{"T", "C", fine, absent},
			{"T", "D", absent, absent}, // the task is in another, and the context is bob's
			{"T", "new", absent, absent},
			{"U", "", fine, absent},
			{"U", "C", fine, absent},
			{"U", "D", absent, absent},
			{"U", "new", fine, absent},
			{"none", "", absent, absent},
			{"none", "C", absent, absent},
			{"", "C", fine, foreign},
			{"", "D", foreign, fine},
			{"", "new", fine, fine},
		} {
			c := &wire.Call{
				Version: wire.V10, Method: &wire.Method{Name: "acme/x", Extension: "urn:x", Subject: subject},
				TaskID: tt.task, ContextID: tt.context,
			}
			var worked [2]int
			for i, want := range []int{tt.alice, tt.bob} {
				if subject == wire.OfTask && tt.task == "" {
					want = absent
				}
				who := alice
				if i == 1 {
					who = bob
				}
				var err error
				var id string
				worked[i] = s.work(func() {
					record, e := l.Check(t.Context(), who, "billing", c)
					err, id = e, record.ID
				})
				var other *ForeignContext
				got := fine
				switch {
				case errors.As(err, &other):
					got = foreign
				case errors.Is(err, ErrAbsent):
					got = absent
				case err != nil:
					t.Fatal(err)
				}
				if got != want || got == fine && id != tt.task || got != fine && id != "" {
					t.Errorf("subject %d, task %q, context %q, %s: %v, record of %q", subject, tt.task, tt.context, who, err, id)
				}
			}
			if worked[0] != worked[1] {
				t.Errorf("subject %d, task %q, context %q: the work tells who is asking: %v", subject, tt.task, tt.context, worked)
			}
		}
	}
	s.err = errors.New("down")
	for _, c := range []wire.Call{{TaskID: "T"}, {ContextID: "C"}} {
		c.Method = &wire.Method{Extension: "urn:x", Subject: wire.OfAgent}
		if err := check(t, l, alice, &c); !errors.Is(err, s.err) {
			t.Errorf("the store is down: %v", err)
		}
	}
}

// TestReserveExtension: what an extension's method writes into a context that nobody
// has is not for the next caller to find.
func TestReserveExtension(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{Adopt: true})
	for _, tt := range []struct {
		context  string
		method   wire.Method
		reserved bool
	}{
		{"written", wire.Method{Extension: "urn:x", Subject: wire.OfAgent, Writes: true}, true},
		{"read", wire.Method{Extension: "urn:x", Subject: wire.OfAgent}, false},
		{"listed", wire.Method{Extension: "urn:x", Subject: wire.OfCaller}, false},
		{"sent", wire.Method{Extension: "urn:x", Subject: wire.OfMessage}, true},
	} {
		c := &wire.Call{Version: wire.V10, Method: &tt.method, ContextID: tt.context}
		if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing"}, c); err != nil {
			t.Fatal(err)
		}
		if err := check(t, l, bob, send(t, "", tt.context)); (err != nil) != tt.reserved {
			t.Errorf("%s: bob gets %v", tt.context, err)
		}
	}
}
