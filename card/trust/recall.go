package trust

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
)

// Standing cards that are read one by one, and by page otherwise: a fleet that starts has
// thousands to read, one that grows has a few among thousands.
const (
	fewStanding  = 8
	standingPage = 200
)

// recollection is one look at the cards that stand, for all who wait for it: when a fleet starts, all
// of its agents are judged at once and ask for the same.
type recollection struct {
	done chan struct{} // closed at its end
	err  error
}

// recall reads what the agents that were not judged yet are called, by the cards that
// stand, for a judge of an agent: after a restart the owner of a name may be slow to answer,
// or never do. Each is read once, by one of those who ask. The error means that it is not
// known whose names are taken.
// Of several judges who need it at the same time one reads and the others wait for the outcome.
func (f *Fleet) recall(ctx context.Context, b *Book, agent string) error {
	for {
		r, ids := f.recollect(agent)
		switch {
		case r == nil:
			return nil
		case ids != nil:
			found, err := b.identities(ctx, ids)
			if f.learn(r, found, err, ctx.Err() != nil); err != nil {
				return err
			}
			continue // others may have joined
		}
		select {
		case <-r.done:
			if r.err != nil {
				return r.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// recollect is the look to wait for, nil where nothing is left to read about others than
// agent. With ids, it is the one who asks that has to look, at these.
func (f *Fleet) recollect(agent string) (*recollection, []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, itself := f.unread[agent]; len(f.unread) == 0 || itself && len(f.unread) == 1 {
		return nil, nil
	}
	if f.looking != nil {
		return f.looking, nil
	}
	f.looking = &recollection{done: make(chan struct{})}
	return f.looking, slices.Collect(maps.Keys(f.unread))
}

// learn ends a look at the cards of those in found. Whoever was judged meanwhile is called
// what the judge says. That the one who looked went away says nothing to the others.
// away says that the reader's own context ended, which is no failure of the state.
func (f *Fleet) learn(r *recollection, found map[string]identity, err error, away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, i := range found {
		if _, ok := f.unread[id]; ok {
			f.put(id, i)
		}
	}
	if !away {
		r.err = err
	}
	f.looking = nil
	close(r.done)
}

// identities are what agents are called by their standing cards. Of those without one the
// identity is empty.
func (b *Book) identities(ctx context.Context, ids []string) (map[string]identity, error) {
	found := make(map[string]identity, len(ids))
	for _, id := range ids {
		found[id] = identity{}
	}
	// One value that does not open fails its page, and may be that of an agent which is
	// gone: then each is read for itself.
	if len(ids) > fewStanding && b.identitiesByPage(ctx, found) == nil {
		return found, nil
	}
	for _, id := range ids {
		s, ok, err := b.Standing(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok {
			found[id] = s.identity()
		}
	}
	return found, nil
}

// identitiesByPage reads the cards in force of all agents, a page at a time, and takes the identities
// of those that are looked for.
func (b *Book) identitiesByPage(ctx context.Context, found map[string]identity) error {
	for after := ""; ; {
		list, err := b.values.List(ctx, standingSpace, after, standingPage)
		if err != nil {
			return fmt.Errorf("list standing cards: %w", err)
		}
		for i := range list {
			after = list[i].Key
			if _, wanted := found[after]; !wanted {
				continue
			}
			var s Standing
			if err := json.Unmarshal(list[i].Data, &s); err != nil {
				return fmt.Errorf("list standing cards: %w", err)
			}
			found[after] = s.identity()
		}
		if len(list) < standingPage {
			return nil
		}
	}
}

// identity is what the agent is called by a card that was read before it stood.
// A card that cannot be read any more, as of an older version of the gateway, claims nothing.
func (s *Standing) identity() identity {
	p, err := read(s.Card)
	if err != nil {
		return identity{}
	}
	return identify(p)
}
