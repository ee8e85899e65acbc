package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Claim implements state.Ledger. One whose outcome is unknown may be repeated.
func (s *Store) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	var stored string
	err := s.do(ctx, s.names.tag(r.Agent), "claim", func(ctx context.Context) (err error) {
		c := s.claim(r)
		stored, err = s.scripts.claim.Run(ctx, s.client, c.keys, c.args...).Text()
		return err
	})
	if err != nil {
		return state.Record{}, err
	}
	s.note(r)
	return decode(stored, r.Agent, r.Kind, r.ID)
}

// ClaimAll implements state.Ledger. In a cluster it is one round trip for each agent.
func (s *Store) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	stand := make([]state.Record, len(rs))
	done := make(map[string]bool, 1)
	for _, r := range rs {
		if done[r.Agent] {
			continue
		}
		done[r.Agent] = true
		if err := s.claimAll(ctx, r.Agent, rs, stand); err != nil {
			return nil, err
		}
	}
	return stand, nil
}

// claimAll claims the records of one agent's and puts what stands where they are.
func (s *Store) claimAll(ctx context.Context, agent string, rs, stand []state.Record) error {
	var calls []call
	var at []int
	for i, r := range rs {
		if r.Agent == agent {
			calls, at = append(calls, s.claim(r)), append(at, i)
		}
	}
	var cmds []*redis.Cmd
	err := s.do(ctx, s.names.tag(agent), "claim", func(ctx context.Context) (err error) {
		cmds, err = s.runAll(ctx, s.scripts.claim, calls)
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
		s.note(rs[i])
		if stand[i], err = decode(stored, agent, rs[i].Kind, rs[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// claim is the run of the script for a record.
func (s *Store) claim(r state.Record) call {
	c := call{keys: []string{s.names.record(r.Agent, r.Kind, r.ID)}}
	if r.Kind == state.Task {
		c.keys = append(c.keys, s.names.indexes(r.Agent), s.names.everyone(r.Agent))
		if r.Owner != "" {
			c.keys = append(c.keys, s.names.owner(r.Agent, r.Owner))
		}
		if r.Tenant != "" {
			c.keys = append(c.keys, s.names.tenant(r.Agent, r.Tenant))
		}
	}
	c.args = []any{
		milliseconds(s.retention), []byte{formOf(r)}, appendCreated(nil, r.Created), encode(r), r.ID, seconds(s.sweepPeriod()),
	}
	return c
}

// Lookup implements state.Ledger.
func (s *Store) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	var stored string
	err := s.do(ctx, s.names.tag(agent), "look up", func(ctx context.Context) (err error) {
		stored, err = s.client.GetEx(ctx, s.names.record(agent, k, id), s.retention).Result()
		return known(err)
	})
	if err != nil || stored == "" {
		return state.Record{}, false, err
	}
	r, err := decode(stored, agent, k, id)
	return r, err == nil, err
}

// LookupAll implements state.Ledger.
func (s *Store) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	found := make([]state.Record, len(refs))
	if len(refs) == 0 {
		return found, nil
	}
	cmds := make([]*redis.StringCmd, len(refs))
	err := s.do(ctx, s.names.tag(agent), "look up", func(ctx context.Context) error {
		pipe := s.client.Pipeline()
		for i, r := range refs {
			cmds[i] = pipe.GetEx(ctx, s.names.record(agent, r.Kind, r.ID), s.retention)
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

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
