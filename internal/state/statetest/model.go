package statetest

import (
	"context"
	"maps"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// ledgerModel compares a store with a map under random operations.
func ledgerModel(rt *rapid.T, l state.Ledger) {
	type key struct {
		agent string
		kind  state.Kind
		id    string
	}
	want := map[key]state.Record{}
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab:\x00")), 0, 3, -1)
	kinds := rapid.SampledFrom([]state.Kind{state.Task, state.Context, state.TaskAlias, state.ContextAlias})
	rt.Repeat(map[string]func(*rapid.T){
		"claim": func(rt *rapid.T) {
			r := state.Record{
				Agent: text.Draw(rt, "agent"), Kind: kinds.Draw(rt, "kind"), ID: text.Draw(rt, "id"),
				Owner: text.Draw(rt, "owner"), Tenant: text.Draw(rt, "tenant"), Skill: text.Draw(rt, "skill"),
				Context: text.Draw(rt, "context"), Endpoint: text.Draw(rt, "endpoint"),
				Extensions: rapid.SliceOfN(text, 1, 3).Draw(rt, "extensions"), Trace: text.Draw(rt, "trace"),
				Created: time.Unix(rapid.Int64Range(1, 9).Draw(rt, "created"), 0).UTC(),
			}
			k := key{r.Agent, r.Kind, r.ID}
			if _, ok := want[k]; !ok {
				want[k] = r
			}
			if diff := cmp.Diff(want[k], claim(rt, l, r)); diff != "" {
				rt.Fatalf("Claim (-want +got):\n%s", diff)
			}
		},
		"claim several": func(rt *rapid.T) {
			var rs, stand []state.Record
			for range rapid.IntRange(0, 4).Draw(rt, "several") {
				r := state.Record{
					Agent: text.Draw(rt, "agent"), Kind: kinds.Draw(rt, "kind"), ID: text.Draw(rt, "id"),
					Owner: text.Draw(rt, "owner"), Created: time.Unix(5, 0).UTC(),
				}
				k := key{r.Agent, r.Kind, r.ID}
				if _, ok := want[k]; !ok {
					want[k] = r
				}
				rs, stand = append(rs, r), append(stand, want[k])
			}
			got, err := l.ClaimAll(context.Background(), rs)
			if diff := cmp.Diff(stand, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				rt.Fatalf("ClaimAll: %v (-want +got):\n%s", err, diff)
			}
		},
		"lookup": func(rt *rapid.T) {
			k := key{text.Draw(rt, "agent"), kinds.Draw(rt, "kind"), text.Draw(rt, "id")}
			got, ok := lookup(rt, l, state.Record{Agent: k.agent, Kind: k.kind, ID: k.id})
			r, stands := want[k]
			if diff := cmp.Diff(r, got); ok != stands || diff != "" {
				rt.Fatalf("Lookup found %v, want %v (-want +got):\n%s", ok, stands, diff)
			}
		},
		"tasks": func(rt *rapid.T) {
			q := state.Query{
				Agent: text.Draw(rt, "agent"), Owner: text.Draw(rt, "owner"), Tenant: text.Draw(rt, "tenant"),
				Everyone: rapid.Bool().Draw(rt, "everyone"), Context: text.Draw(rt, "context"),
				Limit: rapid.IntRange(-1, 5).Draw(rt, "limit"),
			}
			if rapid.Bool().Draw(rt, "behind") {
				q.After.ID, q.After.Created = text.Draw(rt, "after"), time.Unix(rapid.Int64Range(1, 9).Draw(rt, "since"), 0)
			}
			if diff := cmp.Diff(answer(q, maps.Values(want)), tasks(rt, l, q), cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("Tasks(%+v) (-want +got):\n%s", q, diff)
			}
			all := q
			all.After, all.Limit = state.Record{}, len(want)
			if n, err := l.Count(context.Background(), q); err != nil || n != len(answer(all, maps.Values(want))) {
				rt.Fatalf("Count(%+v) is %d, %v", q, n, err)
			}
		},
	})
}
