package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// lending is a ledger that lends alice's tasks on billing, other than those for the
// skill refunds, to bob, for reading and for messages.
func lending(t testing.TB, s state.Ledger) *Ledger {
	t.Helper()
	return New(s, Config{Share: func(p *authn.Principal, agent string, m *wire.Method, r state.Record) bool {
		subject, issuer := OwnerOf(r)
		if r.Owner == p.Key() || r.Kind != state.Task || m == nil {
			t.Errorf("asked about %+v for %s", r, p)
		}
		return agent == "billing" && p == bob && subject == "alice" && issuer == "https://issuer" &&
			r.Skill != "refunds" && (!m.Writes || m.Subject == wire.OfMessage) && !m.Push
	}})
}

// hooked is a send that brings a push notification config.
func hooked(c *wire.Call) *wire.Call {
	c.HasPushConfig = true
	return c
}

func TestSharing(t *testing.T) {
	t.Parallel()
	for place, s := range map[string]state.Ledger{"near": newStore(t).Ledger, "far": newStore(t)} {
		l := lending(t, s)
		learn(t, l, alice, task("T", "C"))
		learn(t, l, alice, task("N", "")) // in no context so far
		learn(t, l, alice, message("C2"))
		learn(t, l, bob, task("B", "CB"))
		refund := Origin{Agent: "billing", Skill: "refunds"}
		if err := learned(l.Learn(t.Context(), alice, refund, task("R", "C"))); err != nil {
			t.Fatal(err)
		}
		foreign := errors.New("foreign context")
		for name, tc := range map[string]struct {
			p    *authn.Principal
			c    *wire.Call
			want error
		}{
			"read":                       {bob, &wire.Call{Method: method(t, wire.GetTask), TaskID: "T"}, nil},
			"of another":                 {dave, &wire.Call{Method: method(t, wire.GetTask), TaskID: "T"}, ErrAbsent},
			"another method":             {bob, &wire.Call{Method: method(t, wire.CancelTask), TaskID: "T"}, ErrAbsent},
			"push configs":               {bob, &wire.Call{Method: method(t, "GetTaskPushNotificationConfig"), TaskID: "T"}, ErrAbsent},
			"another skill":              {bob, &wire.Call{Method: method(t, wire.GetTask), TaskID: "R"}, ErrAbsent},
			"nobody's":                   {bob, &wire.Call{Method: method(t, wire.GetTask), TaskID: "X"}, ErrAbsent},
			"message":                    {bob, send(t, "T", ""), nil},
			"message in its context":     {bob, send(t, "T", "C"), nil},
			"message with a webhook":     {bob, hooked(send(t, "T", "C")), ErrAbsent},
			"webhook of a task's own":    {bob, hooked(send(t, "B", "CB", "T")), nil},
			"the owner's webhook":        {alice, hooked(send(t, "T", "C")), nil},
			"message in another context": {bob, send(t, "T", "C2"), ErrAbsent},
			"message in an own context":  {bob, send(t, "T", "CB"), ErrAbsent},
			"message in no context":      {bob, send(t, "T", "new"), ErrAbsent},
			"its context alone":          {bob, send(t, "", "C"), foreign},
			"a context for one in none":  {bob, send(t, "N", "new"), ErrAbsent},
			"own task in its context":    {bob, send(t, "B", "C"), ErrAbsent},
			"reference":                  {bob, send(t, "B", "CB", "T"), nil},
			"reference to a refund":      {bob, send(t, "B", "CB", "T", "R"), ErrAbsent},
			"the owner":                  {alice, send(t, "T", "C"), nil},
			"list by its context":        {bob, &wire.Call{Method: method(t, wire.ListTasks), ContextID: "C"}, foreign},
		} {
			err := check(t, l, tc.p, tc.c)
			var fc *ForeignContext
			if ok := err == tc.want || tc.want == foreign && errors.As(err, &fc); !ok {
				t.Errorf("%s, %s: %v, want %v", place, name, err, tc.want)
			}
		}
		usesLent(t, place, l)
	}
}

// usesLent looks at what becomes of records when a lent task is used.
func usesLent(t *testing.T, place string, l *Ledger) {
	t.Helper()
	lent := Origin{Agent: "billing", Method: method(t, wire.SendMessage), Task: "T"}
	for _, c := range []*wire.Call{send(t, "T", "C"), send(t, "T", ""), send(t, "N", "")} {
		if err := l.Reserve(t.Context(), bob, lent, c); err != nil {
			t.Errorf("%s: reserve for %s in %q: %v", place, c.TaskID, c.ContextID, err)
		}
	}
	for name, a := range map[string]wire.Answer{
		"task": task("T", "C"), "event": {Kind: "statusUpdate", Tasks: []wire.TaskRef{{ID: "T"}}, ContextID: "C"},
		"message": message("C"), "first sight of its context": task("N", "CN"), "both": {
			Kind: "task", Tasks: []wire.TaskRef{{ID: "T", ContextID: "C"}, {ID: "B2", ContextID: "CB"}}, ContextID: "C",
		},
	} {
		if err := learned(l.Learn(t.Context(), bob, lent, a)); err != nil {
			t.Errorf("%s: learn %s: %v", place, name, err)
		}
	}
	for name, o := range map[string]Origin{
		"a method that is not lent": {Agent: "billing", Method: method(t, wire.CancelTask), Task: "T"},
		"no method":                 {Agent: "billing", Task: "T"},
		"another agent":             {Agent: "weather", Method: lent.Method, Task: "T"},
	} {
		err := learned(l.Learn(t.Context(), bob, o, task("T", "C")))
		if elsewhere := o.Agent == "weather"; (err == nil) != elsewhere {
			t.Errorf("%s: learn by %s: %v", place, name, err)
		}
	}
	wrong := map[string]wire.Answer{
		"context": message("C2"), "place": task("T", "CB"), "refund": task("R", "C"), "its context alone": task("", "C2"),
	}
	for name, a := range wrong {
		if err := learned(l.Learn(t.Context(), bob, lent, a)); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: learn the wrong %s: %v", place, name, err)
		}
	}
	moved := wire.Answer{Kind: "statusUpdate", Tasks: []wire.TaskRef{{ID: "T", ContextID: "CT"}}, ContextID: "CT"}
	if err := learned(l.Learn(t.Context(), bob, lent, moved)); err != nil {
		t.Errorf("%s: a lent task in a context of its own: %v", place, err)
	}
	for _, context := range []string{"CT", "CN"} { // are the owner's now
		for name, c := range map[string]*wire.Call{"alone": send(t, "", context), "with the task": send(t, "T", context)} {
			if err := check(t, l, bob, c); !errors.Is(err, ErrAbsent) {
				t.Errorf("%s: bob in %s, %s: %v", place, context, name, err)
			}
		}
		if err := learned(l.Learn(t.Context(), dave, Origin{Agent: "billing"}, message(context))); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: dave in %s: %v", place, context, err)
		}
	}
	for _, c := range []*wire.Call{send(t, "T", "C"), send(t, "N", "CN"), send(t, "", "CN"), send(t, "", "CT")} {
		if err := check(t, l, alice, c); err != nil {
			t.Errorf("%s: the owner of %s in %s: %v", place, c.TaskID, c.ContextID, err)
		}
	}
	if err := check(t, l, bob, send(t, "B2", "CB")); err != nil {
		t.Errorf("%s: what is new beside a lent task: %v", place, err)
	}
	got, err := l.Owns(t.Context(), bob, "billing", method(t, wire.ListTasks), []wire.TaskRef{{ID: "R"}, {ID: "T"}, {ID: "B"}, {ID: "X"}}, nil)
	if err != nil || len(got) != 4 || got[0] || !got[1] || !got[2] || got[3] {
		t.Errorf("%s: bob may see %v, %v", place, got, err)
	}
}

// A context that comes with one task of an answer is judged anew where another task of it
// is shown there: it may be somebody else's.
func TestLentSideBySide(t *testing.T) {
	t.Parallel()
	shown := func(refs ...wire.TaskRef) wire.Answer { return wire.Answer{Kind: "task", Tasks: refs} }
	for place, s := range map[string]state.Ledger{"near": newStore(t).Ledger, "far": newStore(t)} {
		l := New(s, Config{Share: func(p *authn.Principal, _ string, _ *wire.Method, r state.Record) bool {
			return p == bob && r.Kind == state.Task
		}})
		learn(t, l, alice, task("A", "CA"))
		learn(t, l, carol, task("C", "CC"))
		learn(t, l, bob, task("B", "CB"))
		from := Origin{Agent: "billing", Method: method(t, wire.SendMessage)}
		for name, tt := range map[string]struct {
			shown   wire.Answer
			foreign bool
		}{
			"each in its own":             {shown(wire.TaskRef{ID: "A", ContextID: "CA"}, wire.TaskRef{ID: "C", ContextID: "CC"}, wire.TaskRef{ID: "B", ContextID: "CB"}), false},
			"both in the first's":         {shown(wire.TaskRef{ID: "A", ContextID: "CA"}, wire.TaskRef{ID: "C", ContextID: "CA"}), true},
			"both in a new one":           {shown(wire.TaskRef{ID: "A", ContextID: "new 1"}, wire.TaskRef{ID: "C", ContextID: "new 1"}), true},
			"the caller's in a lent one":  {shown(wire.TaskRef{ID: "A", ContextID: "CA"}, wire.TaskRef{ID: "B", ContextID: "CA"}), true},
			"a lent one in the caller's":  {shown(wire.TaskRef{ID: "B", ContextID: "CB"}, wire.TaskRef{ID: "A", ContextID: "CB"}), true},
			"the caller's in a new one":   {shown(wire.TaskRef{ID: "A", ContextID: "new 2"}, wire.TaskRef{ID: "B", ContextID: "new 2"}), true},
			"a new one in a lent context": {shown(wire.TaskRef{ID: "A", ContextID: "CA"}, wire.TaskRef{ID: "B2", ContextID: "CA"}), true},
		} {
			err := learned(l.Learn(t.Context(), bob, from, tt.shown))
			if errors.Is(err, ErrAbsent) != tt.foreign || err != nil && !tt.foreign {
				t.Errorf("%s, %s: %v", place, name, err)
			}
		}
	}
}

// A list with lent tasks is found among everybody's, page by page, and ends where it
// would take too long.
func TestSharedTasks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := lending(t, s)
	list := method(t, wire.ListTasks)
	var want []string
	learn(t, l, dave, task("?", ""))
	for i, p := range []*authn.Principal{alice, bob, carol, alice} {
		id := string(rune('a' + i))
		if learn(t, l, p, task(id, "C of "+p.Subject)); p != carol {
			want = append([]string{id}, want...)
		}
	}
	ids := func(p *authn.Principal, m *wire.Method, context string, limit int) string {
		t.Helper()
		records, err := l.Tasks(t.Context(), p, "billing", m, context, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range records {
			ids = append(ids, r.ID)
		}
		return strings.Join(ids, " ")
	}
	for name, tc := range map[string][2]string{
		"all":                     {ids(bob, list, "", 9), strings.Join(want, " ")},
		"two":                     {ids(bob, list, "", 2), strings.Join(want[:2], " ")},
		"none":                    {ids(bob, list, "", 0), ""},
		"of a lent context":       {ids(bob, list, "C of alice", 9), "d a"},
		"of somebody else's":      {ids(bob, list, "C of carol", 9), ""},
		"without a method":        {ids(bob, nil, "", 9), "b"},
		"whom nothing is lent to": {ids(carol, list, "", 9), "c"},
	} {
		if tc[0] != tc[1] {
			t.Errorf("%s: %q, want %q", name, tc[0], tc[1])
		}
	}
	if n, most, err := l.Count(t.Context(), bob, "billing", ""); n != 1 || most || err != nil {
		t.Errorf("bob has %d tasks of his own, %v", n, err)
	}
}

func TestSharedTasksAreBounded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := lending(t, s)
	learn(t, l, bob, task("B", ""))
	for i := range strides*stride - 2 {
		learn(t, l, dave, task("d"+string(rune(0x4e00+i)), ""))
	}
	list := method(t, wire.ListTasks)
	before := s.trips
	records, err := l.Tasks(t.Context(), bob, "billing", list, "", 9, nil)
	if err != nil || len(records) != 1 || s.trips-before > strides+1 {
		t.Errorf("%d tasks after %d trips, %v", len(records), s.trips-before, err)
	}
	learn(t, l, dave, task("one more", ""))
	if records, err := l.Tasks(t.Context(), bob, "billing", list, "", 9, nil); !errors.Is(err, ErrMany) {
		t.Errorf("%d tasks, %v; want ErrMany", len(records), err)
	}
}

// Whatever a call names and an answer shows, the store is asked once.
func TestOneTrip(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{})
	several := wire.Answer{Tasks: []wire.TaskRef{{ID: "T", ContextID: "C"}, {ID: "T2", ContextID: "C2"}}, ContextID: "C"}
	for name, visit := range map[string]func() error{
		"learn":      func() error { return learned(l.Learn(t.Context(), alice, Origin{Agent: "billing"}, several)) },
		"learn one":  func() error { return learned(l.Learn(t.Context(), alice, Origin{Agent: "billing"}, message("C3"))) },
		"reserve":    func() error { return l.Reserve(t.Context(), alice, Origin{Agent: "billing"}, send(t, "", "C4")) },
		"reserve 01": func() error { return l.ReserveTask(t.Context(), alice, Origin{Agent: "billing"}, "T5", "C5") },
		"speaks": func() error {
			_, err := l.Speaks(t.Context(), alice, "billing", "T")
			return err
		},
		"owns": func() error {
			_, err := l.Owns(t.Context(), alice, "billing", method(t, wire.ListTasks), several.Tasks, nil)
			return err
		},
		"check": func() error {
			err := check(t, l, bob, send(t, "T", "C", "T", "T2", "T3", "T4", "T5"))
			if err == ErrAbsent {
				return nil
			}
			return err
		},
		"count": func() error {
			_, _, err := l.Count(t.Context(), alice, "billing", "C")
			return err
		},
	} {
		before := s.trips
		if err := visit(); err != nil || s.trips != before+1 {
			t.Errorf("%s: %d trips, %v; want one", name, s.trips-before, err)
		}
	}
}

func TestOwnerOf(t *testing.T) {
	t.Parallel()
	for _, p := range []*authn.Principal{
		alice, {Subject: "1:a", Issuer: "2:bb"}, {Subject: "ü", Issuer: "ß:"}, {Subject: "s"}, {Issuer: "i"}, {},
	} {
		if subject, issuer := OwnerOf(state.Record{Owner: p.Key()}); subject != p.Subject || issuer != p.Issuer {
			t.Errorf("%s is read as %q at %q", p.Key(), subject, issuer)
		}
	}
	for _, key := range []string{"", "alice", "1:i", "1:i2:a", "1:i1:ab", "-1:i1:a", "9:i1:a", "1:i1:a ", "99999999999999999999:i", ":", "1:i:"} {
		if subject, issuer := OwnerOf(state.Record{Owner: key}); subject != "" || issuer != "" {
			t.Errorf("%q is read as %q at %q", key, subject, issuer)
		}
	}
}
