package trust_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	owned  = `{"name":"Billing","version":"1","skills":[{"id":"refund"}]}`
	twin   = `{"name":"Вilling","version":"1","skills":[{"id":"pay"}]}`
	double = `{"name":"Other","version":"1","skills":[{"id":"pay"},{"id":"refund"}]}`
	travel = `{"name":"Travel","version":"1"}`
)

// shelf is a state in memory that counts what is read of cards that stand, and can fail.
type shelf struct {
	state.Values

	gets, pages atomic.Int32
	fail        func(verb, space, key string) bool // nil for never
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	return &shelf{Values: memory}
}

func (s *shelf) ask(verb, space, key string) error {
	if s.fail != nil && s.fail(verb, space, key) {
		return state.ErrUnavailable
	}
	return nil
}

func (s *shelf) Get(ctx context.Context, space, key string) ([]byte, bool, error) {
	if space == "cards" {
		s.gets.Add(1)
	}
	if err := s.ask("get", space, key); err != nil {
		return nil, false, err
	}
	return s.Values.Get(ctx, space, key)
}

func (s *shelf) List(ctx context.Context, space, after string, limit int) ([]state.Value, error) {
	if space == "cards" {
		s.pages.Add(1)
	}
	if err := s.ask("list", space, after); err != nil {
		return nil, err
	}
	return s.Values.List(ctx, space, after, limit)
}

func (s *shelf) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	if err := s.ask("add", space, key); err != nil {
		return false, err
	}
	return s.Values.Add(ctx, space, key, data, ttl)
}

// beside makes a judge of one of the agents that a fleet knows.
func beside(t *testing.T, store state.Values, fleet *trust.Fleet, agent string, c trust.Config) *court {
	t.Helper()
	return newReplica(t, store, c, func(o *trust.Options) { o.Fleet, o.Agent = fleet, agent })
}

// after is the fleet of the process that comes after one which had these cards in force,
// and has agents that were there before and others.
func after(t *testing.T, store state.Values, cards map[string]string, ids ...string) *trust.Fleet {
	t.Helper()
	before := new(trust.Fleet)
	for agent, card := range cards {
		beside(t, store, before, agent, trust.Config{}).wants(card, "accepted: "+card)
	}
	fleet := new(trust.Fleet)
	fleet.Keep(ids)
	return fleet
}

// TestA13_NamesOutliveRestarts: whose card is in force keeps what it is called, also where
// others are judged before it is.
func TestA13_NamesOutliveRestarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ onChange, collisions, card, want, told string }{
		{trust.Accept, trust.RefuseNames, twin, "refused: ", "danger name-taken billing"},
		{trust.Accept, trust.RefuseAll, twin, "refused: ", "danger name-taken billing"},
		{trust.Accept, trust.RefuseAll, double, "refused: ", "info skill-taken refund"},
		{trust.Accept, trust.RefuseNames, double, "accepted: " + double, "info skill-taken refund"},
		{trust.Accept, "", twin, "accepted: " + twin, "danger name-taken billing"},
		{trust.Quarantine, "", twin, "quarantined: ", "danger name-taken billing"},
	} {
		store := newShelf(t)
		fleet := after(t, store, map[string]string{"billing": owned}, "billing", "late")
		late := beside(t, store, fleet, "late", trust.Config{OnChange: tt.onChange, Collisions: tt.collisions})
		for range 2 { // as long as the owner does not answer, too
			late.wants(tt.card, tt.want)
		}
		if e, _, err := late.book.Entry(t.Context(), "late", digest(t, tt.card)); err != nil || !slices.Contains(brief(e.Changes), tt.told) {
			t.Errorf("%+v: %q, %v", tt, brief(e.Changes), err)
		}
		owner := beside(t, store, fleet, "billing", trust.Config{Collisions: trust.RefuseAll})
		owner.wants(owned, "accepted: "+owned)
		late.wants(travel, "accepted: "+travel)
	}
}

// TestA13_NamesOfAgentsThatCome: the card of an agent that is configured later, and has had
// one in force before, counts from then on.
func TestA13_NamesOfAgentsThatCome(t *testing.T) {
	t.Parallel()
	store := newShelf(t)
	fleet := after(t, store, map[string]string{"billing": owned}, "late")
	late := beside(t, store, fleet, "late", trust.Config{Collisions: trust.RefuseNames, OnChange: trust.Accept})
	late.wants(twin, "accepted: "+twin) // nobody has the name here
	late.wants(travel, "accepted: "+travel)
	fleet.Keep([]string{"late", "billing"})
	late.wants(twin, "refused: "+travel)
	fleet.Keep([]string{"late"})
	late.wants(twin, "accepted: "+twin)
}

// TestNamesAreReadOnce: by page where there are many, one by one where there are few, and
// nothing where nobody is compared with others.
func TestNamesAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ agents, cards, gets, pages int }{
		{agents: 1},
		{agents: 2, gets: 2},
		{agents: 2, cards: 1, gets: 2},
		{agents: 5000, pages: 1},
		{agents: 300, cards: 250, pages: 2},
	} {
		store, ids, cards := newShelf(t), make([]string, tt.agents), map[string]string{}
		for i := range ids {
			ids[i] = fmt.Sprintf("agent-%04d", i)
			if i > 0 && i <= tt.cards {
				cards[ids[i]] = strings.Replace(owned, "Billing", fmt.Sprint("Billing ", i), 1)
			}
		}
		fleet := after(t, store, cards, ids...)
		judge := beside(t, store, fleet, ids[0], trust.Config{Collisions: trust.RefuseNames, OnChange: trust.Accept})
		store.gets.Store(0)
		judge.wants(owned, "accepted: "+owned)
		own := int32(1) // of the agent itself
		if gets, pages := store.gets.Load()-own, store.pages.Load(); int(gets) != tt.gets || int(pages) != tt.pages {
			t.Errorf("%+v: %d values, %d pages", tt, gets, pages)
		}
		fleet.Keep(ids) // as with each reload
		judge.wants(travel, "accepted: "+travel)
		if gets, pages := store.gets.Load()-2*own, store.pages.Load(); int(gets) != tt.gets || int(pages) != tt.pages {
			t.Errorf("%+v, again: %d values, %d pages", tt, gets, pages)
		}
	}
}

// TestNamesThatCannotBeRead: whose names are taken is not known, and who may take none gets
// none; where that is only told of, the agent is served.
func TestNamesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		config trust.Config
		serves bool
	}{
		{trust.Config{}, true},
		{trust.Config{OnChange: trust.Quarantine}, false},
		{trust.Config{Collisions: trust.RefuseNames}, false},
		{trust.Config{Collisions: trust.RefuseAll}, false},
	} {
		for _, more := range []int{0, 20} {
			ids := []string{"billing", "late"}
			for i := range more {
				ids = append(ids, fmt.Sprint("more-", i))
			}
			store := newShelf(t)
			fleet := after(t, store, map[string]string{"billing": owned}, ids...)
			store.fail = func(_, space, key string) bool { return space == "cards" && key != "late" }
			late := beside(t, store, fleet, "late", tt.config)
			r, err := late.Judge.Judge(t.Context(), []byte(twin))
			if (err == nil) != tt.serves || tt.serves && string(r.InForce) != twin || !tt.serves && !errors.Is(err, state.ErrUnavailable) {
				t.Errorf("%+v: %+v, %v", tt.config, r, err)
			}
			if tt.serves {
				continue
			}
			// A page with a value that cannot be read, as of an agent that is gone, is not needed.
			store.fail = func(verb, space, _ string) bool { return verb == "list" && space == "cards" }
			want := map[bool]string{true: "quarantined: ", false: "refused: "}[tt.config.OnChange == trust.Quarantine]
			late.wants(twin, want)
			if got := brief(late.Status().Changes); !slices.Contains(got, "danger name-taken billing") {
				t.Errorf("%+v: %q", tt.config, got)
			}
		}
	}
}

// TestNamesWithoutCards: a card that stands and is not allowed any more keeps no name, nor
// does one that could not be made to stand.
func TestNamesWithoutCards(t *testing.T) {
	t.Parallel()
	refuse := trust.Config{Collisions: trust.RefuseNames, OnChange: trust.Quarantine}
	store := newShelf(t)
	fleet := after(t, store, map[string]string{"billing": owned}, "billing", "late")
	late := beside(t, store, fleet, "late", refuse)
	late.wants(twin, "refused: ")
	pinned := trust.Config{Digests: []string{digest(t, travel)}}
	beside(t, store, fleet, "billing", pinned).wants(owned, "refused: ")
	late.wants(twin, "accepted: "+twin)

	store, fleet = newShelf(t), new(trust.Fleet)
	early := beside(t, store, fleet, "early", refuse)
	store.fail = func(verb, _, _ string) bool { return verb == "add" }
	if r, err := early.Judge.Judge(t.Context(), []byte(twin)); !errors.Is(err, state.ErrUnavailable) {
		t.Fatalf("%+v, %v", r, err)
	}
	store.fail = nil
	beside(t, store, fleet, "billing", refuse).wants(owned, "accepted: "+owned)
	early.wants(twin, "refused: ")
}

// TestA13_NamesAtOneMoment: of agents that come at once with one name, one gets it.
func TestA13_NamesAtOneMoment(t *testing.T) {
	t.Parallel()
	for range 200 {
		store, fleet := newShelf(t), new(trust.Fleet)
		fleet.Keep([]string{"a", "b"})
		var got [2]string
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i, card := range []string{owned, twin} {
			c := beside(t, store, fleet, []string{"a", "b"}[i], trust.Config{Collisions: trust.RefuseNames})
			all.Go(func() {
				<-begin
				r, err := c.Judge.Judge(t.Context(), []byte(card))
				if err != nil {
					t.Error(err)
				}
				if got[i] = string(r.State); r.State == trust.Refused && (r.InForce != nil || !slices.Contains(brief(r.Changes), "danger name-taken "+[]string{"b", "a"}[i])) {
					t.Errorf("%+v", r)
				}
			})
		}
		close(begin)
		all.Wait()
		if slices.Sort(got[:]); got != [2]string{"accepted", "refused"} {
			t.Fatal(got)
		}
		if list, err := store.List(t.Context(), "cards", "", 3); err != nil || len(list) != 1 {
			t.Fatalf("%d stand, %v", len(list), err)
		}
	}
}
