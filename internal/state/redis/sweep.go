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
func (s *Store) sweepPeriod() time.Duration {
	return min(max(s.retention/32, time.Second), 6*time.Hour)
}

// note remembers that an agent has indexes.
func (s *Store) note(r state.Record) {
	if r.Kind != state.Task {
		return
	}
	if _, known := s.agents.Load(r.Agent); !known {
		s.agents.Store(r.Agent, true)
	}
}

// sweep runs until the store is closed.
func (s *Store) sweep() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.running.Go(func() {
		<-s.closing
		cancel()
	})
	for {
		// Replicas that were started together do not come together.
		wait := min(s.sweepPeriod(), time.Minute)
		timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // spreads load, no secret
		select {
		case <-s.closing:
			timer.Stop()
			return
		case <-timer.C:
		}
		_ = s.Ping(ctx) // for what it finds; operations tell of a server that is away
		if err := s.sweepAgents(ctx); err != nil && ctx.Err() == nil {
			s.log.Debug("sweep the indexes of tasks", "error", err)
		}
	}
}

// sweepAgents sweeps what is due of all agents, also of those that only other gateways
// know, or knew.
func (s *Store) sweepAgents(ctx context.Context) error {
	var mine []any
	s.agents.Range(func(agent, _ any) bool {
		mine = append(mine, agent)
		return true
	})
	var agents []string
	err := s.do(ctx, s.names.limits(), "find agents", func(ctx context.Context) (err error) {
		if len(mine) > 0 {
			if err := s.client.SAdd(ctx, s.names.agents(), mine...).Err(); err != nil {
				return err
			}
		}
		agents, err = s.client.SMembers(ctx, s.names.agents()).Result()
		return err
	})
	if err != nil {
		return err
	}
	for _, agent := range agents {
		if err := s.sweepAgent(ctx, agent); err != nil {
			return err
		}
	}
	return nil
}

// sweepAgent sweeps the indexes of an agent that are due.
func (s *Store) sweepAgent(ctx context.Context, agent string) error {
	index, from := "", ""
	for {
		var reply []string
		err := s.do(ctx, s.names.tag(agent), "sweep", func(ctx context.Context) (err error) {
			reply, err = s.scripts.sweep.Run(ctx, s.client, []string{s.names.indexes(agent)},
				s.names.record(agent, state.Task, ""), seconds(s.sweepPeriod()), look, index, from).StringSlice()
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
