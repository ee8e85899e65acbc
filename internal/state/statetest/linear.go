package statetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Linearizable has many callers use the same few ids, keys and places of one store at
// once, and looks for an order of all they did, in keeping with when they did it, in
// which each answer is right. Calls of open are as those for Store; when open returns
// several stores that share what they hold, as replicas do, callers are spread over
// them.
func Linearizable(t *testing.T, open func(testing.TB) []state.Store) {
	t.Helper()
	for name, draw := range map[string]func(*rand.Rand, string) action{
		"claims": drawClaim,
		"values": drawValue,
		"steps":  drawStep,
		"places": drawPlaces,
		"logs":   drawLog,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stores := open(t)
			for round := range 5 {
				ops := history(t, stores, fmt.Sprint("round-", round), draw)
				if verdict := porcupine.CheckOperationsTimeout(model(), ops, time.Minute); verdict != porcupine.Ok {
					t.Fatalf("round %d: %s: no order explains\n%s", round, verdict, listing(ops))
				}
			}
		})
	}
}

// action is one thing that a caller does to one object, which may be several keys. An
// object that nobody touched is in the state "".
type action struct {
	object string
	name   string // for people
	do     func(context.Context, state.Store) (answer string, err error)
	// model is what do has to answer in a state, and the state that it leaves.
	model func(stands string) (next, answer string)
}

// history is what callers did, each one action after the other.
func history(t *testing.T, stores []state.Store, round string, draw func(*rand.Rand, string) action) []porcupine.Operation {
	t.Helper()
	const callers, each, objects = 8, 40, 3
	var (
		clock atomic.Int64 // grows with time, and no two readings are equal
		mu    sync.Mutex
		ops   []porcupine.Operation
	)
	together(callers, func(caller int) {
		random := rand.New(rand.NewPCG(uint64(caller), uint64(len(round)))) // not a secret
		for range each {
			a := draw(random, fmt.Sprint(round, "-", random.IntN(objects)))
			call := clock.Add(1)
			answer, err := a.do(t.Context(), stores[caller%len(stores)])
			back := clock.Add(1)
			if err != nil {
				t.Errorf("%s: %v", a.name, err)
				return
			}
			mu.Lock()
			ops = append(ops, porcupine.Operation{ClientId: caller, Input: a, Call: call, Output: answer, Return: back})
			mu.Unlock()
		}
	})
	return ops
}

func model() porcupine.Model {
	return porcupine.Model{
		Partition: func(ops []porcupine.Operation) [][]porcupine.Operation {
			objects := map[string][]porcupine.Operation{}
			for _, op := range ops {
				object := op.Input.(action).object
				objects[object] = append(objects[object], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range objects {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return "" },
		Step: func(stands, input, output any) (bool, any) {
			next, answer := input.(action).model(stands.(string))
			return answer == output, next
		},
	}
}

func listing(ops []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range ops {
		a := op.Input.(action)
		fmt.Fprintf(&b, "%d-%d caller %d on %s: %s: %q\n", op.Call, op.Return, op.ClientId, a.object, a.name, op.Output)
	}
	return b.String()
}
