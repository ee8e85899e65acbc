package anomaly

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// teller keeps what a watch tells.
type teller struct {
	mu     sync.Mutex
	events []Event
}

func (l *teller) tell(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// take gives what was told since the last take, in words.
func (l *teller) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, e := range l.events {
		text := fmt.Sprintf("%s begun: %s", e.Detector, who(e.Anomaly))
		if e.Ended {
			text = fmt.Sprintf("%s ended (%s): %s, %d refused", e.Detector, e.Why, who(e.Anomaly), e.Refused)
		}
		list = append(list, fmt.Sprintf("%s, %d", text, e.Count))
	}
	l.events = nil
	return list
}

func who(a Anomaly) string {
	return strings.Join(strings.Fields(a.Subject+" "+a.Address+" "+a.Agent+" "+a.Skill+" "+a.What), " ")
}

func newWatch(t testing.TB, c Config, values state.Values) (*Watch, *teller) {
	t.Helper()
	l := new(teller)
	w, err := New(t.Context(), Options{Config: c, Tell: l.tell, Values: values, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w, l
}

// Calls as they end.

func by(subject string) telemetry.Exchange {
	return telemetry.Exchange{
		Caller:        telemetry.Caller{Principal: subject, Issuer: "https://issuer", AuthMethod: "oidc"},
		Arrival:       telemetry.Arrival{ClientIP: "192.0.2.1"},
		Call:          telemetry.Call{Agent: "billing", Method: wire.GetTask},
		Authorization: telemetry.Authorization{Skill: "summarize", Decision: decisionAllow},
		UpstreamCall:  telemetry.UpstreamCall{UpstreamStatus: 200},
	}
}

func denied(subject string) telemetry.Exchange {
	e := by(subject)
	e.Decision, e.Reason, e.UpstreamStatus = decisionDeny, wire.Denied.Reason, 0
	return e
}

func absent(subject string, task int) telemetry.Exchange {
	e := denied(subject)
	e.Reason, e.TaskID = wire.TaskNotFound.Reason, fmt.Sprint("task-", task)
	return e
}

func cancel(subject string) telemetry.Exchange {
	e := by(subject)
	e.Method, e.TaskID, e.TaskState = wire.CancelTask, "t", "TASK_STATE_CANCELED"
	return e
}

func sent(subject string, task int, state string) telemetry.Exchange {
	e := by(subject)
	e.Method, e.TaskID, e.TaskState = wire.SendMessage, fmt.Sprint("task-", task), state
	return e
}

func uses(subject, skill string) telemetry.Exchange {
	e := by(subject)
	e.Skill = skill
	return e
}

func unknown(address string) telemetry.Exchange {
	return telemetry.Exchange{
		Arrival:       telemetry.Arrival{ClientIP: address},
		Authorization: telemetry.Authorization{Decision: decisionDeny},
		Answer:        telemetry.Answer{Reason: wire.Unauthenticated.Reason},
	}
}

func times(n int, e telemetry.Exchange) []telemetry.Exchange {
	return slices.Repeat([]telemetry.Exchange{e}, n)
}

func numbered(n int, f func(int) telemetry.Exchange) (list []telemetry.Exchange) {
	for i := range n {
		list = append(list, f(i))
	}
	return list
}

func few(threshold int) Detector {
	return Detector{Reported: Reported{Threshold: threshold, Window: quantity.Duration(time.Minute)}}
}

// TestDetectors shows each detector what it is to find, and what it is not.
func TestDetectors(t *testing.T) {
	t.Parallel()
	config := Config{
		Denials: few(5), Probing: few(5), Cancels: few(5), OpenTasks: few(5),
		AgentCancels: Reported{Threshold: 8, Window: quantity.Duration(time.Minute)},
	}
	ipv6 := func(i int) telemetry.Exchange { return unknown(fmt.Sprintf("2001:db8::%x", i)) }
	for _, c := range []struct {
		name  string
		calls []telemetry.Exchange
		want  []string
	}{
		{"calls that go well", times(100, by("alice")), nil},
		{"few denials", times(4, denied("alice")), nil},
		{"denials", times(9, denied("alice")), []string{"denials begun: alice billing summarize, 5"}},
		{"denials of several", slices.Concat(times(4, denied("alice")), times(4, denied("bob"))), nil},
		{"refusals by limits", times(9, telemetry.Exchange{
			Caller:        telemetry.Caller{Principal: "alice"},
			Authorization: telemetry.Authorization{Decision: decisionDeny},
			Answer:        telemetry.Answer{Reason: wire.RateLimited.Reason},
		}), nil},
		{"extensions that are missing", times(9, telemetry.Exchange{
			Caller:        telemetry.Caller{Principal: "alice"},
			Authorization: telemetry.Authorization{Decision: decisionDeny},
			Answer:        telemetry.Answer{Reason: wire.ExtensionRequired.Reason},
		}), nil},
		{"errors of the agent", times(9, telemetry.Exchange{
			Caller:        telemetry.Caller{Principal: "alice"},
			Call:          telemetry.Call{Agent: "billing"},
			Authorization: telemetry.Authorization{Decision: "error"},
			Answer:        telemetry.Answer{Reason: wire.TaskNotFound.Reason},
		}), nil},
		{"no credentials", times(5, unknown("192.0.2.7")), []string{"denials begun: 192.0.2.7, 5"}},
		{"addresses of one network", numbered(5, ipv6), []string{"denials begun: 2001:db8::4, 5"}},
		{"one task in vain", times(4, absent("alice", 1)), nil},
		{"one task in vain, often", times(20, absent("alice", 1)), []string{"denials begun: alice billing summarize, 5"}},
		{
			"many tasks in vain", numbered(5, func(i int) telemetry.Exchange { return absent("alice", i) }),
			[]string{"denials begun: alice billing summarize, 5", "probing begun: alice billing summarize, 5"},
		},
		{"cancellations", times(5, cancel("alice")), []string{"cancels begun: alice billing summarize, 5"}},
		{
			"cancellations by many", numbered(8, func(i int) telemetry.Exchange { return cancel(fmt.Sprint("user-", i)) }),
			[]string{"agentCancels begun: billing, 8"},
		},
		{
			"tasks that end", numbered(20, func(i int) telemetry.Exchange { return sent("alice", i, "TASK_STATE_COMPLETED") }), nil,
		},
		{
			"open tasks", numbered(5, func(i int) telemetry.Exchange { return sent("alice", i, "TASK_STATE_INPUT_REQUIRED") }),
			[]string{"openTasks begun: alice billing summarize, 5"},
		},
		{"one task, again and again", times(20, sent("alice", 1, "TASK_STATE_WORKING")), nil},
		{"open tasks that end later", numbered(20, func(i int) telemetry.Exchange {
			state := "TASK_STATE_WORKING"
			if i%2 == 1 {
				state = "TASK_STATE_FAILED"
			}
			return sent("alice", i/2, state)
		}), nil},
		{"a webhook's calls", times(20, telemetry.Exchange{
			Caller:        telemetry.Caller{Principal: "alice", AuthMethod: methodWebhook},
			Authorization: telemetry.Authorization{Decision: decisionDeny},
			Answer:        telemetry.Answer{Reason: "OTHER_TASK"},
		}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, l := newWatch(t, config, nil)
			for _, e := range c.calls {
				w.Observe(&e, nil)
			}
			if got := l.take(); !slices.Equal(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
}

// TestOneEventEach: an anomaly is told of when it begins and when it ends, and listed
// meanwhile.
func TestOneEventEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := newWatch(t, Config{Denials: few(5)}, nil)
		start := time.Now()
		for range 100 {
			e := denied("alice")
			w.Observe(&e, nil)
			time.Sleep(time.Second)
		}
		if got := l.take(); len(got) != 1 {
			t.Errorf("told %q", got)
		}
		active := w.Active()
		if len(active) != 1 || active[0].Subject != "alice" || active[0].Count != 100 || !active[0].Since.Equal(start.Add(4*time.Second)) {
			t.Errorf("active: %+v", active)
		}
		time.Sleep(2 * time.Minute)
		if got, want := l.take(), []string{"denials ended (quiet): alice billing summarize, 0 refused, 100"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if len(w.Active()) != 0 {
			t.Errorf("active: %+v", w.Active())
		}
	})
}

// TestThrottle: calls of the kind are refused, to whom it concerns, for as long as is set;
// who goes on is refused again, under the same anomaly.
func TestThrottle(t *testing.T) {
	t.Parallel()
	throttle := func(threshold int) Detector {
		d := few(threshold)
		d.Action, d.Throttle = actionThrottle, quantity.Duration(10*time.Second)
		return d
	}
	alice, bob := CallerOf("alice", "https://issuer", "oidc", ""), CallerOf("bob", "https://issuer", "oidc", "")
	task := Call{Caller: alice, Method: wire.GetTask, Task: true}
	refers := Call{Caller: alice, Method: wire.SendMessage, Refers: true}
	begin := Call{Caller: alice, Method: wire.SendMessage}
	follow := Call{Caller: alice, Method: wire.SendMessage, Task: true}
	ends := Call{Caller: alice, Method: wire.CancelTask, Task: true}
	list := Call{Caller: alice, Method: wire.ListTasks}
	for _, c := range []struct {
		config  Config
		call    telemetry.Exchange
		refused []Call
		passes  []Call
	}{
		{Config{Denials: throttle(3)}, denied("alice"), []Call{task, refers, begin, follow, ends, list}, nil},
		{Config{Probing: throttle(1)}, absent("alice", 1), []Call{task, refers, follow, ends}, []Call{begin, list}},
		{Config{Cancels: throttle(3)}, cancel("alice"), []Call{ends}, []Call{task, refers, begin, follow, list}},
		{Config{OpenTasks: throttle(1)}, sent("alice", 1, "TASK_STATE_WORKING"), []Call{begin, refers}, []Call{task, follow, ends, list}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, l := newWatch(t, c.config, nil)
			for range 3 {
				w.Observe(&c.call, nil)
			}
			if n := len(l.take()); n != 1 {
				t.Fatalf("told %d times", n)
			}
			for _, call := range c.refused {
				err, is := w.Check(&call).(*Throttled)
				if !is || err.After != 10*time.Second {
					t.Errorf("%s is not refused: %v", call.Method, err)
				}
				call.Caller = bob
				if err := w.Check(&call); err != nil {
					t.Errorf("somebody else: %v", err)
				}
			}
			for _, call := range c.passes {
				if err := w.Check(&call); err != nil {
					t.Errorf("%s: %v", call.Method, err)
				}
			}
			time.Sleep(10 * time.Second)
			if err := w.Check(&c.refused[0]); err != nil {
				t.Errorf("after the time: %v", err)
			}
			if e := c.call; e.Method != wire.SendMessage { // the same open task is not another
				w.Observe(&e, nil)
				if w.Check(&c.refused[0]) == nil {
					t.Error("who goes on is not refused")
				}
			}
			if got := l.take(); len(got) != 0 {
				t.Errorf("told %q", got)
			}
			time.Sleep(3 * time.Minute)
			if got := l.take(); len(got) != 1 || !strings.Contains(got[0], "ended (quiet)") {
				t.Errorf("told %q", got)
			}
			if n := w.holds.Load(); n != 0 {
				t.Errorf("%d are held back after the end", n)
			}
		})
	}
}

func learner(action string, window, learning time.Duration) Config {
	return Config{Skills: Learned{
		Detector: Detector{Reported: Reported{Action: action, Window: quantity.Duration(window)}},
		Learning: quantity.Duration(learning),
	}}
}

// TestUnusualSkill: what a caller did not use while it was watched is unusual, once.
func TestUnusualSkill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := newWatch(t, learner(actionThrottle, 3*time.Minute, time.Hour), nil)
		alice := CallerOf("alice", "https://issuer", "oidc", "")
		see := func(skill string) {
			e := uses("alice", skill)
			w.Observe(&e, nil)
		}
		for range 30 {
			see("summarize")
			see("search")
			time.Sleep(2*time.Minute + 10*time.Second)
		}
		if got := l.take(); got != nil {
			t.Errorf("told %q", got)
		}
		refused := uses("alice", "refund")
		refused.Decision, refused.UpstreamStatus = decisionDeny, 0
		w.Observe(&refused, nil) // what was refused is not used
		see("search")
		see("refund")
		see("refund")
		if got, want := l.take(), []string{"skills begun: alice billing refund, 1"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		for _, c := range []struct {
			skill   string
			refused bool
		}{{"refund", true}, {"payout", true}, {"summarize", false}, {"search", false}} {
			if err := w.CheckSkill(alice, "billing", c.skill); (err != nil) != c.refused {
				t.Errorf("skill %s: %v", c.skill, err)
			}
		}
		time.Sleep(7 * time.Minute)
		if got, want := l.take(), []string{"skills ended (quiet): alice billing refund, 2 refused, 2"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		see("refund")
		if got := l.take(); got != nil {
			t.Errorf("what is known by now: told %q", got)
		}
	})
}

// TestHabitsOutlastTheProcess: what was learned is known to the gateway's successor.
func TestHabitsOutlastTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := state.NewMemory(state.Config{})
		defer store.Close()
		config := learner(actionReport, 3*time.Minute, time.Hour)
		w, l := newWatch(t, config, store)
		for range 30 {
			for _, name := range []string{"alice", "bob"} {
				e := uses(name, "summarize")
				w.Observe(&e, nil)
			}
			time.Sleep(2*time.Minute + 10*time.Second)
		}
		w.Close()
		values, err := store.List(t.Context(), space, "", 10)
		if err != nil || len(values) != 2 {
			t.Fatalf("%d values are stored, %v", len(values), err)
		}
		for _, v := range values {
			if strings.Contains(v.Key, "alice") || strings.Contains(string(v.Data), "summarize") {
				t.Errorf("the store shows who uses what: %s %q", v.Key, v.Data)
			}
		}
		w, l2 := newWatch(t, config, store)
		for _, e := range []telemetry.Exchange{uses("alice", "summarize"), uses("alice", "refund"), uses("carol", "refund")} {
			w.Observe(&e, nil)
		}
		if got, want := l2.take(), []string{"skills begun: alice billing refund, 1"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if got := l.take(); got != nil {
			t.Errorf("told %q before", got)
		}
	})
}

// awayStore is a store that cannot be reached.
type awayStore struct{ state.Values }

func (awayStore) List(context.Context, string, string, int) ([]state.Value, error) {
	return nil, state.ErrUnavailable
}

func (awayStore) Put(context.Context, string, string, []byte, time.Duration) error {
	return state.ErrUnavailable
}

// shakyStore fails every so often when something is put into it.
type shakyStore struct {
	state.Values
	puts int
}

func (s *shakyStore) Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error {
	if s.puts++; s.puts%300 == 0 {
		return state.ErrUnavailable
	}
	return s.Values.Put(ctx, space, key, data, ttl)
}

// TestAllHabitsAreStored: of more callers than are stored at a time, and where the store
// fails now and then.
func TestAllHabitsAreStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := state.NewMemory(state.Config{})
		defer memory.Close()
		config := learner(actionReport, time.Minute, time.Hour)
		config.Callers = 1 << 16 // so that none is forgotten
		w, _ := newWatch(t, config, &shakyStore{Values: memory})
		const callers = 2*saveMost + 10
		for i := range callers {
			e := uses(fmt.Sprint("user-", i), "summarize")
			w.Observe(&e, nil)
		}
		time.Sleep(6 * saveEvery)
		n := 0
		for after := ""; ; {
			page, err := memory.List(t.Context(), space, after, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			n, after = n+len(page), page[len(page)-1].Key
		}
		if n != callers {
			t.Errorf("%d callers are stored, want %d", n, callers)
		}
	})
}

// TestNoStoreIsNoReasonToStop: habits are learned anew then.
func TestNoStoreIsNoReasonToStop(t *testing.T) {
	t.Parallel()
	w, l := newWatch(t, Config{Denials: few(5)}, awayStore{})
	for range 5 {
		e := denied("alice")
		w.Observe(&e, nil)
	}
	if got := l.take(); len(got) != 1 {
		t.Errorf("told %q", got)
	}
	w.Close()
	if got, want := l.take(), []string{"denials ended (stopped): alice billing summarize, 0 refused, 5"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestConfigure: other settings end what goes on, the same ones do not.
func TestConfigure(t *testing.T) {
	t.Parallel()
	c := Config{Denials: few(5)}
	w, l := newWatch(t, c, nil)
	see := func() []string {
		for range 5 {
			e := denied("alice")
			w.Observe(&e, nil)
		}
		return l.take()
	}
	if got := see(); len(got) != 1 {
		t.Fatalf("told %q", got)
	}
	w.Configure(c)
	if got := l.take(); len(got) != 0 {
		t.Errorf("the same settings: told %q", got)
	}
	c.Denials.Action = actionOff
	w.Configure(c)
	if got, want := l.take(), []string{"denials ended (reconfigured): alice billing summarize, 0 refused, 5"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := see(); got != nil {
		t.Errorf("a detector that is off: told %q", got)
	}
}

// TestNobodyWatches: the methods of no watch do nothing.
func TestNobodyWatches(t *testing.T) {
	t.Parallel()
	var w *Watch
	e := denied("alice")
	w.Observe(&e, nil)
	w.CardDrift("billing", "skills")
	w.CardSettled("billing")
	w.Close()
	if w.Check(&Call{}) != nil || w.CheckSkill(Caller{}, "a", "s") != nil || w.Active() != nil {
		t.Error("a nil watch sees something")
	}
}

// TestTogether has everything happen at the same time: what begins ends, once each.
func TestTogether(t *testing.T) {
	t.Parallel()
	throttle := few(3)
	throttle.Action = actionThrottle
	c := Config{Denials: throttle, Probing: throttle, Cancels: throttle, OpenTasks: throttle, Callers: 16, Tasks: 16}
	w, l := newWatch(t, c, state.Values(nil))
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 500 {
				name := fmt.Sprint("user-", (i+worker)%40)
				for _, e := range []telemetry.Exchange{
					absent(name, i), cancel(name), sent(name, i, "TASK_STATE_WORKING"), sent(name, i, "TASK_STATE_FAILED"),
				} {
					w.Observe(&e, nil)
				}
				_ = w.Check(&Call{Caller: CallerOf(name, "https://issuer", "oidc", ""), Method: wire.CancelTask, Task: true})
				_ = w.CheckSkill(Caller{Subject: name}, "billing", "refund")
				w.CardDrift("billing", name)
				w.CardSettled("billing")
				if i%100 == worker {
					other := c
					other.Cancels.Threshold = 3 + i%2
					w.Configure(other)
					w.Active()
				}
			}
		})
	}
	group.Wait()
	w.Close()
	begun, ended := 0, 0
	for _, e := range l.events {
		if e.Ended {
			ended++
		} else {
			begun++
		}
	}
	if begun == 0 || begun != ended || len(w.Active()) != 0 || w.holds.Load() != 0 {
		t.Errorf("%d have begun, %d ended, %d go on, %d are held back", begun, ended, len(w.Active()), w.holds.Load())
	}
}
