package statetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// drawClaim: the state of an id is its owner. A claim names another id as well where
// it is one of several.
func drawClaim(random *rand.Rand, object string) action {
	r := Example()
	r.ID, r.Owner = object, fmt.Sprint("owner-", random.Uint64())
	other := r
	other.Kind = state.Context
	a := action{object: object}
	switch random.IntN(4) {
	case 0:
		a.name = "claim"
		a.do = func(ctx context.Context, s state.Store) (string, error) {
			stands, err := s.Claim(ctx, r)
			return stands.Owner, err
		}
	case 1:
		a.name = "claim several"
		a.do = func(ctx context.Context, s state.Store) (string, error) {
			stand, err := s.ClaimAll(ctx, []state.Record{other, r})
			if err != nil {
				return "", err
			}
			return stand[1].Owner, nil
		}
	case 2:
		a.name = "lookup"
		a.do = func(ctx context.Context, s state.Store) (string, error) {
			stands, _, err := s.Lookup(ctx, r.Agent, r.Kind, r.ID)
			return stands.Owner, err
		}
	default:
		a.name = "lookup several"
		a.do = func(ctx context.Context, s state.Store) (string, error) {
			stand, err := s.LookupAll(ctx, r.Agent, []state.Ref{{Kind: other.Kind, ID: other.ID}, {Kind: r.Kind, ID: r.ID}})
			if err != nil {
				return "", err
			}
			return stand[1].Owner, nil
		}
	}
	claims := strings.HasPrefix(a.name, "claim")
	a.model = func(owner string) (string, string) {
		if owner == "" && claims {
			owner = r.Owner
		}
		return owner, owner
	}
	return a
}

// drawValue: the state of a key is what it holds.
func drawValue(random *rand.Rand, object string) action {
	const space = "linear"
	data := fmt.Sprint("data-", random.Uint64())
	switch random.IntN(4) {
	case 0:
		return action{
			object: object, name: "put " + data,
			do: func(ctx context.Context, s state.Store) (string, error) {
				return "", s.Put(ctx, space, object, []byte(data), time.Hour)
			},
			model: func(string) (string, string) { return data, "" },
		}
	case 1:
		return action{
			object: object, name: "add " + data,
			do: func(ctx context.Context, s state.Store) (string, error) {
				added, err := s.Add(ctx, space, object, []byte(data), time.Hour)
				return fmt.Sprint(added), err
			},
			model: func(holds string) (string, string) {
				if holds != "" {
					return holds, "false"
				}
				return data, "true"
			},
		}
	case 2:
		return action{
			object: object, name: "delete",
			do: func(ctx context.Context, s state.Store) (string, error) {
				return "", s.Delete(ctx, space, object)
			},
			model: func(string) (string, string) { return "", "" },
		}
	default:
		return action{
			object: object, name: "get",
			do: func(ctx context.Context, s state.Store) (string, error) {
				got, _, err := s.Get(ctx, space, object)
				return string(got), err
			},
			model: func(holds string) (string, string) { return holds, holds },
		}
	}
}

// drawStep: the state of a task is its state.
func drawStep(random *rand.Rand, object string) action {
	states := []string{"", "offered", "paid"}
	from, to := states[random.IntN(3)], states[random.IntN(3)]
	step := ExampleStep()
	step.Task = object
	return action{
		object: object, name: fmt.Sprintf("from %q to %q", from, to),
		do: func(ctx context.Context, s state.Store) (string, error) {
			return s.Advance(ctx, step, from, to)
		},
		model: func(stands string) (string, string) {
			if stands == from {
				stands = to
			}
			return stands, stands
		},
	}
}

// drawPlaces: an object is two buckets of two places. Its state is who holds which.
func drawPlaces(random *rand.Rand, object string) action {
	const limit = 2
	holder := fmt.Sprint("holder-", random.IntN(4))
	var draws []state.Draw
	for _, key := range [][]string{{"/a"}, {"/b"}, {"/a", "/b"}}[random.IntN(3)] {
		draws = append(draws, state.Draw{Key: object + key, Kind: state.Hold, Limit: limit, Holder: holder, TTL: time.Hour})
	}
	if random.IntN(3) == 0 {
		return action{
			object: object, name: fmt.Sprint("release ", draws),
			do: func(ctx context.Context, s state.Store) (string, error) { return "", s.Release(ctx, draws) },
			model: func(held string) (string, string) {
				return places(held, draws, false), ""
			},
		}
	}
	return action{
		object: object, name: fmt.Sprint("draw ", draws),
		do: func(ctx context.Context, s state.Store) (string, error) {
			drawn, err := s.Draw(ctx, draws)
			var oks []bool
			for _, d := range drawn {
				oks = append(oks, d.OK)
			}
			return fmt.Sprint(oks), err
		},
		model: func(held string) (string, string) { return drawnPlaces(held, draws) },
	}
}

// drawnPlaces is the model of a Draw of places.
func drawnPlaces(held string, draws []state.Draw) (next, answer string) {
	all := true
	var oks []bool
	for _, d := range draws {
		taken := strings.Count(held, d.Key+"=")
		ok := strings.Contains(held, place(d)) || int64(taken) < d.Limit
		oks, all = append(oks, ok), all && ok
	}
	if all {
		held = places(held, draws, true)
	}
	return held, fmt.Sprint(oks)
}

// places adds or removes places, and keeps them in order, so that equal states are
// equal strings.
func places(held string, draws []state.Draw, add bool) string {
	list := strings.Fields(held)
	for _, d := range draws {
		list = slices.DeleteFunc(list, func(p string) bool { return p == place(d) })
		if add {
			list = append(list, place(d))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func place(d state.Draw) string { return d.Key + "=" + d.Holder }
