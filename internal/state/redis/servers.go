package redis

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// servers are the Redis servers of a store as its parts reach them: the client, the names of
// the keys, and a guard for each server that may be down.
type servers struct {
	client  redis.UniversalClient
	log     *slog.Logger
	names   names
	timeout time.Duration
	only    *guard   // of the one server; nil in a cluster
	found   findings // what the servers are warned about
	evicted func(keys int64)

	mu      sync.Mutex
	guards  map[string]*guard // by hash tag
	closed  bool
	closing chan struct{}
	running sync.WaitGroup
}

// newServers takes a client over, which Close closes.
func newServers(client redis.UniversalClient, c state.RedisConfig, log *slog.Logger, evicted func(keys int64)) *servers {
	s := &servers{
		client: client, log: log, names: names{prefix: prefix(c)}, timeout: timeout(c), evicted: evicted,
		closing: make(chan struct{}),
	}
	if _, cluster := client.(*redis.ClusterClient); cluster {
		s.guards = make(map[string]*guard)
	} else {
		s.only = s.newGuard(s.names.limits())
	}
	return s
}

// Close ends the connections and what runs, and waits for it.
func (s *servers) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	// Probes and the sweeper end by it; what they have under way ends with the client.
	close(s.closing)
	err := s.client.Close()
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("close redis: %w", err)
	}
	return nil
}

// do runs one operation on the keys of a tag: within its time, and not at all while their
// server is known to be down. What was being done is in the error.
func (s *servers) do(ctx context.Context, tag, what string, op func(context.Context) error) error {
	// A call while the server is known to be down costs nothing but this look.
	g := s.guard(tag)
	if err := g.admit(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	within, cancel := context.WithTimeout(ctx, s.timeout)
	// The caller may have set an earlier end of its own; WithTimeout keeps the earlier one.
	err := op(within)
	cancel()
	// A caller who has gone, or has less time than we, says nothing about the server.
	if err == nil || ctx.Err() == nil {
		g.report(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, classify(err))
	}
	return nil
}
