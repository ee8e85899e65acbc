package redis

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

//go:embed lua/claim.lua
var claimScript string

//go:embed lua/list.lua
var listScript string

//go:embed lua/sweep.lua
var sweepScript string

// ledger is the state.Ledger of the servers: records, and indexes of those of tasks.
type ledger struct {
	servers   *servers
	retention time.Duration
	agents    sync.Map // those that tasks were claimed on, for the sweeper
	scripts   struct{ claim, list, sweep *redis.Script }
}

// newLedger reads the scripts.
func newLedger(on *servers, retention time.Duration) *ledger {
	l := &ledger{servers: on, retention: retention}
	l.scripts.claim = redis.NewScript(claimScript)
	l.scripts.list = redis.NewScript(listScript)
	l.scripts.sweep = redis.NewScript(sweepScript)
	return l
}

// Claim implements state.Ledger. One whose outcome is unknown may be repeated.
func (l *ledger) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	var stored string
	err := l.servers.do(ctx, l.servers.names.tag(r.Agent), "claim", func(ctx context.Context) (err error) {
		c := l.claim(r)
		stored, err = l.scripts.claim.Run(ctx, l.servers.client, c.keys, c.args...).Text()
		return err
	})
	if err != nil {
		return state.Record{}, err
	}
	l.note(r)
	return decode(stored, r.Agent, r.Kind, r.ID)
}

// ClaimAll implements state.Ledger. In a cluster it is one round trip for each agent.
func (l *ledger) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	stand := make([]state.Record, len(rs))
	// Nearly always all records are one agent's, a task with its context and their aliases.
	done := make(map[string]bool, 1)
	for _, r := range rs {
		if done[r.Agent] {
			continue
		}
		done[r.Agent] = true
		if err := l.claimAll(ctx, r.Agent, rs, stand); err != nil {
			return nil, err
		}
	}
	return stand, nil
}

// claimAll claims the records of one agent's and puts what stands where they are.
func (l *ledger) claimAll(ctx context.Context, agent string, rs, stand []state.Record) error {
	var calls []call
	var at []int
	for i, r := range rs {
		if r.Agent == agent {
			calls, at = append(calls, l.claim(r)), append(at, i)
		}
	}
	var cmds []*redis.Cmd
	err := l.servers.do(ctx, l.servers.names.tag(agent), "claim", func(ctx context.Context) (err error) {
		cmds, err = l.servers.runAll(ctx, l.scripts.claim, calls)
		return err
	})
	if err != nil {
		return err
	}
	for n, i := range at {
		stored, err := cmds[n].Text()
		if err != nil {
			return err
		}
		l.note(rs[i])
		if stand[i], err = decode(stored, agent, rs[i].Kind, rs[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// claim is the run of the script for a record.
func (l *ledger) claim(r state.Record) call {
	// The script stores the record unless there is one, and enters a task into the indexes of its owner,
	// its tenant and everyone; the other kinds are never listed.
	c := call{keys: []string{l.servers.names.record(r.Agent, r.Kind, r.ID)}}
	if r.Kind == state.Task {
		c.keys = append(c.keys, l.servers.names.indexes(r.Agent), l.servers.names.everyone(r.Agent))
		if r.Owner != "" {
			c.keys = append(c.keys, l.servers.names.owner(r.Agent, r.Owner))
		}
		if r.Tenant != "" {
			c.keys = append(c.keys, l.servers.names.tenant(r.Agent, r.Tenant))
		}
	}
	c.args = []any{
		milliseconds(l.retention), []byte{formOf(r)}, appendCreated(nil, r.Created), encode(r), r.ID, seconds(l.sweepPeriod()),
	}
	return c
}

// Lookup implements state.Ledger.
func (l *ledger) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	var stored string
	err := l.servers.do(ctx, l.servers.names.tag(agent), "look up", func(ctx context.Context) (err error) {
		// GETEX reads and begins the retention anew in one command: an id that is used does not run out.
		stored, err = l.servers.client.GetEx(ctx, l.servers.names.record(agent, k, id), l.retention).Result()
		return known(err)
	})
	if err != nil || stored == "" {
		return state.Record{}, false, err
	}
	r, err := decode(stored, agent, k, id)
	return r, err == nil, err
}

// LookupAll implements state.Ledger.
func (l *ledger) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	found := make([]state.Record, len(refs))
	if len(refs) == 0 {
		return found, nil
	}
	cmds := make([]*redis.StringCmd, len(refs))
	err := l.servers.do(ctx, l.servers.names.tag(agent), "look up", func(ctx context.Context) error {
		// A pipeline sends all commands before it reads the first reply: one round trip for all ids.
		pipe := l.servers.client.Pipeline()
		for i, r := range refs {
			cmds[i] = pipe.GetEx(ctx, l.servers.names.record(agent, r.Kind, r.ID), l.retention)
		}
		_, err := pipe.Exec(ctx)
		for _, c := range cmds {
			if known(c.Err()) != nil {
				return c.Err()
			}
		}
		return known(err)
	})
	if err != nil {
		return nil, err
	}
	for i, r := range refs {
		if stored := cmds[i].Val(); stored != "" {
			if found[i], err = decode(stored, agent, r.Kind, r.ID); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// known is no error where there is only nothing stored. No record is empty.
func known(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// milliseconds rounds up: what is kept too long is kept.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// seconds rounds up, as milliseconds does.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
