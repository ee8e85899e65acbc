// Package redis keeps the state of many gateways in Redis 6.2 or later, or in Valkey: on
// one server, behind sentinels, or in a cluster. It owns the layout of the keys, the
// scripts, and what happens while the servers cannot be reached. It imports
// internal/state and internal/secret only.
//
// # Keys
//
// All keys begin with the prefix, in the braces of a hash tag. Records, indexes and steps
// of one agent have the tag {prefix:agent}, values that of their space, {prefix:space}, a
// queue that of its name, and all limits the tag {prefix}: what is changed together has to
// lie in one slot of a cluster. Logs, each a key of its own, have one of the tags
// {prefix:logs:n}. The price is that a cluster spreads agents, not the tasks of one agent,
// and that one of its nodes does all counting: about thirty thousand calls a second, each
// of which draws on three limits. While the slot of an agent moves to another node, what
// needs several of its keys fails.
// A user needs in its ACL
//
//	~{a2a-gateway* +@read +@write +@scripting +@connection +time +info
//
// and +config|get if the gateway is to see whether anything is saved; a cluster also
// needs +cluster.
//
// # What is promised
//
// Every operation on one agent, space or set of limits is one command or one script, so
// that it is linearizable as long as the same server answers. Redis replicates
// asynchronously: a master that fails over may have acknowledged writes that no replica
// has, and an id whose claim is lost in this way belongs to nobody. No command of Redis
// closes that gap; WAIT does not either, as it neither takes a write back nor binds the
// election, and would cost each claim another round trip. Where it matters set
// min-replicas-to-write 1 and a low min-replicas-max-lag, which bound what can be lost to
// the lag, and appendfsync always, which keeps what one server has acknowledged over a
// crash. While a server refuses writes for want of replicas, claims fail.
//
// Set maxmemory-policy noeviction: with any other the server may drop a record, and with
// it the owner of an id. Open and Ping warn of that.
//
// Time is the server's, except the end of a quota's span and the times of queues, which
// callers give.
package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	defaultRetention   = 30 * 24 * time.Hour
	defaultTimeout     = 250 * time.Millisecond
	defaultPrefix      = "a2a-gateway"
	defaultConnections = 64
)

// Store is the redis driver. It is ready for use by many goroutines. Whatever keeps it
// from knowing the answer in state.redis.timeout is an error that wraps
// state.ErrUnavailable; while a server is known to be down that is so at once.
type Store struct {
	client    redis.UniversalClient
	log       *slog.Logger
	scripts   scripts
	names     names
	timeout   time.Duration
	retention time.Duration
	only      *guard // of the one server; nil in a cluster

	agents  sync.Map // those that tasks were claimed on, for the sweeper
	found   findings // what the servers are warned about
	evicted func(keys int64)

	mu      sync.Mutex
	guards  map[string]*guard // by hash tag
	closed  bool
	closing chan struct{}
	running sync.WaitGroup
}

// Open makes a store. A server that cannot be reached is no error but a warning, as it
// may come up later; one that refuses the login, is too old or not what the configuration
// says is an error, and so is a configuration that means nothing. Errors name its keys.
// evicted is told how many keys a server has dropped for want of memory since it was looked
// at before, which is once a minute about.
func Open(ctx context.Context, c state.Config, log *slog.Logger, evicted func(keys int64)) (*Store, error) {
	client, err := connect(c.Redis, log)
	if err != nil {
		return nil, err
	}
	s := newStore(client, c, log)
	s.evicted = evicted
	if s.scripts, err = loadScripts(); err == nil {
		err = s.meet(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.running.Go(s.sweep)
	return s, nil
}

func newStore(client redis.UniversalClient, c state.Config, log *slog.Logger) *Store {
	s := &Store{
		client:    client,
		log:       log,
		names:     names{prefix: prefix(c.Redis)},
		timeout:   timeout(c.Redis),
		retention: defaultRetention,
		closing:   make(chan struct{}),
	}
	if _, cluster := client.(*redis.ClusterClient); cluster {
		s.guards = make(map[string]*guard)
	} else {
		s.only = s.newGuard(s.names.limits())
	}
	if c.Retention > 0 {
		s.retention = max(c.Retention.Std(), time.Millisecond)
	}
	return s
}

// Close ends the connections and what runs, and waits for it.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
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
func (s *Store) do(ctx context.Context, tag, what string, op func(context.Context) error) error {
	g := s.guard(tag)
	if err := g.admit(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	within, cancel := context.WithTimeout(ctx, s.timeout)
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
