package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestCluster(t *testing.T) {
	testenv.Long(t, "a cluster is made and loses its members")
	t.Parallel()
	nodes := cluster(t)
	t.Run("whole", func(t *testing.T) {
		t.Run("conforms", func(t *testing.T) {
			t.Parallel()
			statetest.Ledger(t, func(t testing.TB) state.Ledger { return open(t, config(nodes.addresses()...)) })
		})
		t.Run("keeps logs", func(t *testing.T) {
			t.Parallel()
			statetest.Logs(t, func(t testing.TB) state.Logs { return open(t, config(nodes.addresses()...)) })
		})
		t.Run("is linearizable", func(t *testing.T) {
			t.Parallel()
			statetest.Linearizable(t, func(t testing.TB) []state.Store {
				c := config(nodes.addresses()...)
				return []state.Store{open(t, c), open(t, c)}
			})
		})
	})
	// Only now: a slot that moves may be one in which the others have keys too.
	t.Run("moves an agent", func(t *testing.T) { moveAgent(t, nodes) })
	t.Run("moves a queue", func(t *testing.T) { moveQueue(t, nodes) })
	t.Run("loses a node", func(t *testing.T) { loseNode(t, nodes) })
}

// moveAgent: what belongs to an agent goes to another node. Gateways find it there.
func moveAgent(t *testing.T, nodes nodeList) {
	t.Helper()
	c := config(nodes.addresses()...)
	s := open(t, c)
	r := statetest.Example()
	for i := range 20 {
		r.ID = fmt.Sprint("task-", i)
		if _, err := s.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	nodes.move(t, s.names.tag(r.Agent), func() { betweenNodes(t, s, r) })

	list, err := s.Tasks(t.Context(), state.Query{Agent: r.Agent, Owner: r.Owner, Limit: 100})
	if err != nil || len(list) != 20 {
		t.Errorf("%d tasks are listed after the move, %v", len(list), err)
	}
	other := r
	other.Owner = "somebody else"
	if got, err := s.Claim(t.Context(), other); err != nil || got.Owner != r.Owner {
		t.Errorf("after the move %s is %q's, %v", r.ID, got.Owner, err)
	}
}

// betweenNodes: while the keys of an agent are in two places whoever asks is told the
// truth, or that it is not known.
func betweenNodes(t *testing.T, s *Store, r state.Record) {
	t.Helper()
	known := 0
	check := func(what string, got state.Record, err error) {
		switch {
		case err == nil && got.Owner == r.Owner:
			known++
		case !errors.Is(err, state.ErrUnavailable):
			t.Errorf("%s between nodes: %q's, %v", what, got.Owner, err)
		}
	}
	for i := range 20 {
		r.ID = fmt.Sprint("task-", i)
		got, _, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID)
		check("Lookup", got, err)
		other := r
		other.Owner = "somebody else"
		got, err = s.Claim(t.Context(), other)
		check("Claim", got, err)
	}
	if known < 20 {
		t.Errorf("only %d of 40 answers were known", known)
	}
	list, err := s.Tasks(t.Context(), state.Query{Agent: r.Agent, Everyone: true, Limit: 100})
	if len(list) != 20 && !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("%d tasks are listed between nodes, %v", len(list), err)
	}
}

// loseNode: one node that is down takes its agents with it, and no others.
func loseNode(t *testing.T, nodes nodeList) {
	t.Helper()
	c := config(nodes.addresses()...)
	c.Redis.Timeout = 0
	s := open(t, c)
	claim := func(agent string) error {
		r := statetest.Example()
		r.Agent = agent
		_, err := s.Claim(t.Context(), r)
		return err
	}
	at := map[int]string{} // an agent of each node
	for i := 0; len(at) < len(nodes); i++ {
		agent := fmt.Sprint("agent-", i)
		at[nodes.holder(t, s.names.tag(agent))] = agent
		if err := claim(agent); err != nil {
			t.Fatal(err)
		}
	}
	nodes[0].end()
	until(t, "the guard of the lost node opens", func() bool {
		err := claim(at[0])
		if !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("claim on the lost node: %v", err)
		}
		return s.guard(s.names.tag(at[0])).breaker.IsOpen()
	})
	for node := 1; node < len(nodes); node++ {
		if err := claim(at[node]); err != nil {
			t.Errorf("claim on node %d, which is there: %v", node, err)
		}
	}
	if err := s.Ping(t.Context()); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("Ping with a node missing: %v", err)
	}
	if err := nodes[0].start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the node is back", func() bool { return claim(at[0]) == nil })
}

// nodeList is the masters of a cluster, which share the slots in equal parts.
type nodeList []*server

func cluster(t testing.TB) nodeList {
	t.Helper()
	const n, slots = 3, 16384
	var nodes nodeList
	for i := range n {
		node := serve(t, "--cluster-enabled", "yes", "--appendonly", "no", "--cluster-node-timeout", "1000",
			"--cluster-require-full-coverage", "no", "--cluster-allow-reads-when-down", "no")
		nodes = append(nodes, node)
		c := node.client(t)
		if err := c.ClusterAddSlotsRange(t.Context(), i*slots/n, (i+1)*slots/n-1).Err(); err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(nodes[0].address)
		if err := c.ClusterMeet(t.Context(), host, port).Err(); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the nodes agree", func() bool {
		for _, node := range nodes {
			info, err := node.client(t).ClusterInfo(t.Context()).Result()
			if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_slots_ok:16384") ||
				!strings.Contains(info, fmt.Sprint("cluster_known_nodes:", n)) {
				return false
			}
		}
		return true
	})
	return nodes
}

func (l nodeList) addresses() []string {
	var list []string
	for _, node := range l {
		list = append(list, node.address)
	}
	return list
}

// holder is the node that has the keys of a tag.
func (l nodeList) holder(t testing.TB, tag string) int {
	t.Helper()
	c := l[0].client(t)
	slot := c.ClusterKeySlot(t.Context(), tag).Val()
	for _, s := range c.ClusterSlots(t.Context()).Val() {
		if int64(s.Start) <= slot && slot <= int64(s.End) {
			for i, node := range l {
				if node.address == s.Nodes[0].Addr {
					return i
				}
			}
		}
	}
	t.Fatalf("nobody has slot %d of %s", slot, tag)
	return 0
}

// move takes the slot of a tag to the next node, as redis-cli --cluster reshard does, a few
// keys at a time. between runs after each of the first steps.
func (l nodeList) move(t testing.TB, tag string, between func()) {
	t.Helper()
	ctx, i := t.Context(), l.holder(t, tag)
	from, to := l[i].client(t), l[(i+1)%len(l)].client(t)
	slot := int(from.ClusterKeySlot(ctx, tag).Val())
	fromID, toID := from.ClusterMyID(ctx).Val(), to.ClusterMyID(ctx).Val()
	do := func(c *redis.Client, args ...any) {
		t.Helper()
		if err := c.Do(ctx, args...).Err(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	do(to, "cluster", "setslot", slot, "importing", fromID)
	do(from, "cluster", "setslot", slot, "migrating", toID)
	host, port, _ := net.SplitHostPort(l[(i+1)%len(l)].address)
	for step := 0; ; step++ {
		if step < 4 {
			between()
		}
		keys := from.ClusterGetKeysInSlot(ctx, slot, 5).Val()
		if len(keys) == 0 {
			break
		}
		args := []any{"migrate", host, port, "", 0, 5000, "keys"}
		for _, k := range keys {
			args = append(args, k)
		}
		do(from, args...)
	}
	for _, c := range []*redis.Client{to, from} {
		do(c, "cluster", "setslot", strconv.Itoa(slot), "node", toID)
	}
}

// until waits for what takes its time.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}
