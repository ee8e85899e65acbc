package interop_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// shelf is a caller with what the caller has made.
type shelf struct {
	gatewaytest.Client

	tasks []a2a.TaskID
	by    map[string][]a2a.TaskID // context
}

// fills makes n tasks in three contexts, every fifth of them waiting for input.
func (s *shelf) fills(t *testing.T, n int) {
	t.Helper()
	contexts := make([]string, 3)
	for i := range n {
		r := request([]string{"input", "task", "task", "task", "task"}[i%5])
		r.Message.ContextID = contexts[i%3]
		result, err := s.SendMessage(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		info := result.TaskInfo()
		contexts[i%3] = info.ContextID
		s.tasks = append(s.tasks, info.TaskID)
		s.by[info.ContextID] = append(s.by[info.ContextID], info.TaskID)
	}
}

// walk lists all pages of a request and gives the tasks and the greatest total.
func (s *shelf) walk(t *testing.T, r a2a.ListTasksRequest) (all []a2a.TaskID, total int, token string) {
	t.Helper()
	for range 1000 {
		page, err := s.ListTasks(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range page.Tasks {
			all = append(all, task.ID)
		}
		if total = max(total, page.TotalSize); page.NextPageToken == "" {
			return all, total, token
		}
		r.PageToken, token = page.NextPageToken, page.NextPageToken
	}
	t.Fatal("the list has no end")
	return nil, 0, ""
}

// TestA02_UnscopedAgent: two callers with tasks at an agent that lists everybody's, through
// every binding, with pages of any size and by every filter: each gets the own ones, all
// of them, once, counted right; and neither can go on from the other's page.
func TestA02_UnscopedAgent(t *testing.T) {
	t.Parallel()
	u := startUnscoped(t)
	g := startGuarded(t, u, "alice", "bob")
	for _, agent := range unscopedSides() {
		if agent.version != "1.0" {
			continue // there are no lists
		}
		for _, caller := range unscopedSides() {
			if caller.version == "1.0" {
				t.Run(caller.String()+" to "+agent.String(), func(t *testing.T) { g.lists(t, caller, agent) })
			}
		}
	}
}

func (g *guarded) lists(t *testing.T, caller, agent side) {
	t.Helper()
	shelves := map[string]*shelf{}
	for who, n := range map[string]int{"alice": 60, "bob": 45} {
		hc := gatewaytest.HTTPClient(t, g.credential(who, agent), nil)
		c, _ := gatewaytest.Dial(t, gatewaytest.Go10, hc, g.base(agentOf(agent)), a2a.ProtocolVersion(caller.version),
			a2a.TransportProtocol(caller.binding))
		s := &shelf{Client: c, by: map[string][]a2a.TaskID{}}
		s.fills(t, n)
		shelves[who] = s
	}
	for who, s := range shelves {
		before, _, _ := s.walk(t, a2a.ListTasksRequest{PageSize: 100}) // those of other runs too
		for _, size := range []int{1, 7, 50} {
			if all, total, _ := s.walk(t, a2a.ListTasksRequest{PageSize: size}); !slices.Equal(all, before) || total > len(before) {
				t.Errorf("%s, pages of %d: %d tasks of %d, total %d", who, size, len(all), len(before), total)
			}
		}
		for other, o := range shelves {
			if i := slices.IndexFunc(before, func(id a2a.TaskID) bool { return slices.Contains(o.tasks, id) }); who != other && i >= 0 {
				t.Errorf("%s is shown %s's %s", who, other, before[i])
			}
			for context, tasks := range o.by {
				all, total, _ := s.walk(t, a2a.ListTasksRequest{ContextID: context, PageSize: 7})
				if who != other && (len(all) > 0 || total > 0) || who == other && (!same(all, tasks) || total > len(tasks)) {
					t.Errorf("%s, %s's context: %d tasks, total %d", who, other, len(all), total)
				}
			}
		}
		waiting, _, _ := s.walk(t, a2a.ListTasksRequest{Status: a2a.TaskStateInputRequired, PageSize: 3})
		if missing := slices.DeleteFunc(slices.Clone(waiting), func(id a2a.TaskID) bool { return slices.Contains(before, id) }); len(missing) > 0 || len(waiting) < len(s.tasks)/5 {
			t.Errorf("%s: %d wait for input, of whom others have %v", who, len(waiting), missing)
		}
	}
	_, _, token := shelves["alice"].walk(t, a2a.ListTasksRequest{PageSize: 7})
	for _, stolen := range []string{token, strings.ToUpper(token), "1"} {
		page, err := shelves["bob"].ListTasks(t.Context(), &a2a.ListTasksRequest{PageSize: 7, PageToken: stolen})
		if !errors.Is(err, a2a.ErrInvalidParams) {
			t.Errorf("bob goes on from %.20s…: %v, %v", stolen, page, err)
		}
	}
}

// same reports whether two lists have the same tasks, each once.
func same(a, b []a2a.TaskID) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// TestA03_UnscopedAgent: a context id that a client has chosen stands for a context of its own
// at the agent for each caller, through whichever binding; who goes on is in the same again.
func TestA03_UnscopedAgent(t *testing.T) {
	t.Parallel()
	u := startUnscoped(t)
	g := startGuarded(t, u, "alice", "bob")
	for _, agent := range unscopedSides() {
		direct, _ := gatewaytest.Dial(t, gatewaytest.Go10, gatewaytest.HTTPClient(t, nil, nil), u.side(agent),
			a2a.ProtocolVersion(agent.version), a2a.TransportProtocol(agent.binding))
		for i, caller := range sides()[1:] {
			dial := func(who string) gatewaytest.Client {
				c, _ := gatewaytest.Dial(t, gatewaytest.Go10, gatewaytest.HTTPClient(t, g.credential(who, agent), nil),
					g.base(agentOf(agent)), a2a.ProtocolVersion(caller.version), a2a.TransportProtocol(caller.binding))
				return c
			}
			alice, bob := dial("alice"), dial("bob")
			name := fmt.Sprintf("shared-%s-%d", agentOf(agent), i)
			hers, his, again := inContext(t, alice, name), inContext(t, bob, name), inContext(t, alice, name)
			if hers.ContextID != name || his.ContextID != name || again.ContextID != name {
				t.Errorf("%s to %s: callers see the contexts %q, %q, %q", caller, agent, hers.ContextID, his.ContextID, again.ContextID)
			}
			var at [3]string // the agent has them
			for i, task := range [...]a2a.TaskID{hers.TaskID, his.TaskID, again.TaskID} {
				got, err := direct.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task})
				if err != nil {
					t.Fatal(err)
				}
				at[i] = got.ContextID
			}
			if at[0] != at[2] || at[0] == at[1] || slices.Contains(at[:], name) {
				t.Errorf("%s to %s: the agent has the tasks in the contexts %q", caller, agent, at)
			}
			r := request("go on")
			r.Message.TaskID, r.Message.ContextID = hers.TaskID, name
			if _, err := bob.SendMessage(t.Context(), r); err == nil {
				t.Errorf("%s to %s: bob goes on with alice's task in her context", caller, agent)
			}
		}
	}
}

// inContext makes a task in a context of the caller's choice.
func inContext(t *testing.T, c gatewaytest.Client, name string) a2a.TaskInfo {
	t.Helper()
	r := request("input")
	r.Message.ContextID = name
	result, err := c.SendMessage(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result.TaskInfo()
}
