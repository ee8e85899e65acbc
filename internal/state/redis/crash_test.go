package redis

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestKill kills the server with SIGKILL while several gateways claim. With appendfsync
// always no claim that was acknowledged is lost or changes its owner.
// A2A_GATEWAY_TEST_KILLS says how often; default 5.
func TestKill(t *testing.T) {
	testenv.Long(t, "processes are killed again and again")
	t.Parallel()
	rounds := killings()
	seed := rand.Uint64() // not a secret
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) // not a secret
	server := serve(t, "--appendonly", "yes", "--appendfsync", "always")
	c := config(server.address)
	c.Redis.Timeout = quantity.Duration(5 * time.Second)
	stores := []*Store{open(t, c), open(t, c)}
	owners := map[string]string{}
	for round := range rounds {
		told := claimUntilLost(t, stores, round, 1+random.IntN(20), server.end)
		for id, owner := range told {
			if was, ok := owners[id]; ok && was != owner {
				t.Fatalf("round %d: %s was %s's and is %s's", round, id, was, owner)
			}
			owners[id] = owner
		}
		if err := server.start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the stores are back", func() bool {
			_, _, first := stores[0].Lookup(t.Context(), "billing", state.Task, "x")
			_, _, second := stores[1].Lookup(t.Context(), "billing", state.Task, "x")
			return first == nil && second == nil
		})
		stand(t, stores[round%2], told)
		n, err := stores[0].Count(t.Context(), state.Query{Agent: "billing", Everyone: true})
		if err != nil || n < len(owners) {
			t.Fatalf("round %d: %d tasks are listed of %d, %v", round, n, len(owners), err)
		}
	}
	stand(t, stores[0], owners)
	t.Logf("%d claims stand after %d kills", len(owners), rounds)
	if len(owners) < rounds {
		t.Error("hardly anything was claimed: the test shows nothing")
	}
}

// stand fails the test where a task is not its owner's.
func stand(t *testing.T, s *Store, owners map[string]string) {
	t.Helper()
	for id, owner := range owners {
		r, ok, err := s.Lookup(t.Context(), "billing", state.Task, id)
		if err != nil || !ok || r.Owner != owner {
			t.Fatalf("%s was acknowledged as %s's, and is now %q's, %v, %v", id, owner, r.Owner, ok, err)
		}
	}
}

func killings() int {
	if n, err := strconv.Atoi(os.Getenv("A2A_GATEWAY_TEST_KILLS")); err == nil {
		return n
	}
	return 5
}

// claimUntilLost lets callers claim the same ids for themselves until there is no server
// any more, which is lost after so many claims, and returns who was acknowledged as the
// owner of each.
func claimUntilLost(t *testing.T, stores []*Store, round, claims int, lose func()) map[string]string {
	t.Helper()
	var (
		mu   sync.Mutex
		told = map[string]string{}
		all  sync.WaitGroup
	)
	for caller := range 6 {
		all.Go(func() {
			for i := 0; ; i++ {
				r := statetest.Example()
				r.ID, r.Owner, r.Created = fmt.Sprintf("task-%d-%d", round, i), fmt.Sprint("caller-", caller), time.Time{}
				got, err := stores[caller%len(stores)].Claim(t.Context(), r)
				if err != nil {
					return
				}
				mu.Lock()
				if was, ok := told[r.ID]; ok && was != got.Owner {
					t.Errorf("%s was acknowledged as %s's and as %s's", r.ID, was, got.Owner)
				}
				told[r.ID] = got.Owner
				mu.Unlock()
			}
		})
	}
	until(t, "enough is claimed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(told) >= claims
	})
	lose()
	all.Wait()
	return told
}
