package trust

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// carded is the profile of a card with a name and skills.
func carded(tb rapid.TB, name string, skills []string) *profile {
	var list []string
	for _, s := range skills {
		list = append(list, fmt.Sprintf(`{"id":%q}`, s))
	}
	p, err := read(fmt.Appendf(nil, `{"name":%q,"skills":[%s]}`, name, strings.Join(list, ",")))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// TestCollisionsAgree: what the index finds is what comparing with every agent finds.
func TestCollisionsAgree(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"", "One", "оne", "Two", "Three"})
		skills := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s", "t", "u"}), 0, 3, rapid.ID)
		fleet, all := new(Fleet), map[string]identity{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			id := rapid.SampledFrom(ids).Draw(t, "agent")
			p := carded(t, names.Draw(t, "name"), skills.Draw(t, "skills"))
			if !rapid.Bool().Draw(t, "by claim") {
				fleet.set(id, identify(p))
				all[id] = identify(p)
				continue
			}
			forbidden := linear(all, id, nil, p)["name"] > 0
			list, back := fleet.claim(id, nil, p, func(c Change) bool { return c.Kind == nameTaken })
			if want := linear(all, id, nil, p); !maps.Equal(taken(list), want) {
				t.Fatalf("%v, want %v", taken(list), want)
			}
			switch {
			case rapid.Bool().Draw(t, "in vain"):
				back()
			case !forbidden:
				all[id] = identify(p)
			}
		}
		kept := rapid.SliceOfDistinct(rapid.SampledFrom(ids), rapid.ID).Draw(t, "kept")
		fleet.Keep(kept)
		maps.DeleteFunc(all, func(id string, _ identity) bool { return !slices.Contains(kept, id) })
		var old *profile
		if rapid.Bool().Draw(t, "before") {
			old = carded(t, names.Draw(t, "old name"), skills.Draw(t, "old skills"))
		}
		agent := rapid.SampledFrom(ids).Draw(t, "judged")
		card := carded(t, names.Draw(t, "new name"), skills.Draw(t, "new skills"))
		want := linear(all, agent, old, card)
		if got := taken(fleet.collisions(agent, old, card)); !maps.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// gate is a state that is read when somebody opens it.
type gate struct {
	state.Values

	asked atomic.Int32
	open  chan error
}

func (g *gate) Get(ctx context.Context, _, _ string) ([]byte, bool, error) {
	g.asked.Add(1)
	select {
	case err := <-g.open:
		return nil, false, err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// TestRecallForAll: one reads for all who ask at the same time. What becomes of it becomes
// of them, unless only that one went away.
func TestRecallForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fleet, values := new(Fleet), &gate{open: make(chan error)}
		book := NewBook(values)
		fleet.Keep([]string{"a", "b"})
		results := make(chan error, 10)
		ask := func(ctx context.Context, n int) {
			for range n {
				go func() { results <- fleet.recall(ctx, book, "a") }()
				synctest.Wait()
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ask(ctx, 2)
		ask(t.Context(), 3)
		if n := values.asked.Load(); n != 1 {
			t.Fatalf("%d read", n)
		}
		cancel() // the one who reads goes away, and one who waits
		synctest.Wait()
		if n := values.asked.Load(); n != 2 || len(results) != 2 {
			t.Fatalf("%d read, %d have an answer", n, len(results))
		}
		for range 2 {
			if err := <-results; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		values.open <- state.ErrUnavailable
		for range 3 {
			if err := <-results; !errors.Is(err, state.ErrUnavailable) {
				t.Error(err)
			}
		}
		ask(t.Context(), 3)
		fleet.set("b", identity{name: "b"}) // it is judged meanwhile
		values.open <- nil
		values.open <- nil
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if n := values.asked.Load(); n != 4 || fleet.agents["b"].name != "b" || len(fleet.unread) != 0 {
			t.Errorf("%d read, %+v, %v unread", n, fleet.agents, fleet.unread)
		}
	})
}

// linear counts the agents that have what a card has, by comparing with each.
func linear(all map[string]identity, agent string, old, new *profile) map[string]int {
	was, is, found := identity{}, identify(new), map[string]int{}
	if old != nil {
		was = identify(old)
	}
	for id, other := range all {
		if id == agent {
			continue
		}
		if is.name == other.name && is.name != "" && is.name != was.name {
			found["name"]++
		}
		for _, skill := range is.skills {
			if slices.Contains(other.skills, skill) && !slices.Contains(was.skills, skill) {
				found[skill]++
			}
		}
	}
	return found
}

// taken counts the agents that changes tell of, named or not.
func taken(list []Change) map[string]int {
	found := map[string]int{}
	for _, c := range list {
		key, whose := c.Subject, strings.TrimSuffix(c.Text, " a skill of the same id, "+c.Subject)
		if c.Kind == nameTaken {
			key, whose = "name", c.Subject
		}
		var more int
		if _, err := fmt.Sscanf(c.Text[strings.LastIndex(c.Text, "and ")+1:], "nd %d more", &more); err == nil {
			whose = whose[:strings.LastIndex(whose, " and ")]
		} else if _, err := fmt.Sscanf(c.Text, "the name looks like those of %d more", &more); err == nil {
			found[key] += more
			continue
		}
		found[key] += more + strings.Count(whose, ",") + 1
	}
	return found
}

// TestManyOfAKind: a fleet in which all have a skill of the same id is no news of each.
func TestManyOfAKind(t *testing.T) {
	t.Parallel()
	fleet := new(Fleet)
	for i := range 300 {
		fleet.set(fmt.Sprintf("agent-%03d", i), identify(carded(t, fmt.Sprint("Agent ", i), []string{"summarize"})))
	}
	list := fleet.collisions("agent-001", nil, carded(t, "Agent 7", []string{"summarize"}))
	if len(list) != 2 || list[0].Kind != nameTaken || list[0].Subject != "agent-007" {
		t.Fatalf("%+v", list)
	}
	const want = "agents agent-000, agent-002, agent-003, agent-004, agent-005, agent-006, agent-007, agent-008 and 291 more " +
		"have a skill of the same id, summarize"
	if list[1].Text != want || list[1].Severity != Info {
		t.Errorf("%+v, want %s", list[1], want)
	}
}
