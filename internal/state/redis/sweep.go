package redis

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Records go by themselves when their time has come. Their places in indexes do not: a
// list forgets those that it comes by, and the sweeper all others. Each index is swept by
// whoever comes first when it is due.

// sweepPeriod is how long a place may outlive its record.
func (l *ledger) sweepPeriod() time.Duration {
	return min(max(l.retention/32, time.Second), 6*time.Hour)
}

// note remembers that an agent has indexes.
func (l *ledger) note(r state.Record) {
	if r.Kind != state.Task {
		return
	}
	if _, known := l.agents.Load(r.Agent); !known {
		l.agents.Store(r.Agent, true)
	}
}

// sweep runs until the store is closed.
func (l *ledger) sweep() {
	// A sweep that is under way ends with the store instead of being waited for.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.servers.running.Go(func() {
		<-l.servers.closing
		cancel()
	})
	for {
		// Replicas that were started together do not come together.
		// Once a minute at least, as the look at the servers goes with it.
		wait := min(l.sweepPeriod(), time.Minute)
		timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // spreads load, no secret
		select {
		case <-l.servers.closing:
			timer.Stop()
			return
		case <-timer.C:
		}
		_ = l.servers.Ping(ctx) // for what it finds; operations tell of a server that is away
		if err := l.sweepAgents(ctx); err != nil && ctx.Err() == nil {
			l.servers.log.Debug("sweep the indexes of tasks", "error", err)
		}
	}
}

// sweepAgents sweeps what is due of all agents, also of those that only other gateways
// know, or knew.
func (l *ledger) sweepAgents(ctx context.Context) error {
	var mine []any
	l.agents.Range(func(agent, _ any) bool {
		mine = append(mine, agent)
		return true
	})
	var agents []string
	err := l.servers.do(ctx, l.servers.names.limits(), "find agents", func(ctx context.Context) (err error) {
		// The set in Redis outlives this gateway: another one sweeps for the agents of one that is gone.
		if len(mine) > 0 {
			if err := l.servers.client.SAdd(ctx, l.servers.names.agents(), mine...).Err(); err != nil {
				return err
			}
		}
		agents, err = l.servers.client.SMembers(ctx, l.servers.names.agents()).Result()
		return err
	})
	if err != nil {
		return err
	}
	for _, agent := range agents {
		if err := l.sweepAgent(ctx, agent); err != nil {
			return err
		}
	}
	return nil
}

// sweepAgent sweeps the indexes of an agent that are due.
func (l *ledger) sweepAgent(ctx context.Context, agent string) error {
	// The script looks at so many places in one run and says where to go on; an empty index has it take
	// the next that is due.
	index, from := "", ""
	for {
		var reply []string
		err := l.servers.do(ctx, l.servers.names.tag(agent), "sweep", func(ctx context.Context) (err error) {
			reply, err = l.scripts.sweep.Run(ctx, l.servers.client, []string{l.servers.names.indexes(agent)},
				l.servers.names.record(agent, state.Task, ""), seconds(l.sweepPeriod()), look, index, from).StringSlice()
			return err
		})
		if err != nil {
			return err
		}
		if len(reply) != 2 {
			return errReply
		}
		switch index, from = reply[0], reply[1]; {
		case index == "":
			return nil
		case from == "":
			index = "" // that one is done
		}
	}
}
