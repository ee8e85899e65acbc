// Package redis keeps the state of many gateways in Redis 6.2 or later, or in Valkey: on
// one server, behind sentinels, or in a cluster. It owns the layout of the keys, the
// scripts, and what happens while the servers cannot be reached. It imports
// internal/state and internal/secret only.
//
// # One operation
//
// Each part of state.Store (ledger, steps, limits, values, logs, queue) makes of a call one
// command or one Lua script, and has servers.do run it:
//
//	Claim ─▶ guard of {prefix:agent}: is the server down? ─▶ EVALSHA claim, within the timeout
//	                                                       ─▶ guard hears what became of it
//
// A guard is a circuit breaker for the keys of one hash tag. After five failures in a row it
// refuses what comes at once, with state.ErrUnavailable, so that calls do not each wait for the
// timeout of a server that is gone; it then asks the server four times a second by itself and lets
// calls through when it answers. A server that answers and refuses writes (OOM, READONLY,
// NOREPLICAS) stays open for reads.
//
// # Scripts
//
// Scripts are in lua/, one a file, with their keys and arguments at the top. They are sent by
// their SHA-1 (EVALSHA) and once more as text where a server does not know them yet, as after
// a restart or a failover. Redis runs a script without anything in between, which is what makes
// "look whether it is there, and write" one step among all gateways.
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
	"log/slog"
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
//
// Each part of state.Store is a type of its own, with its own keys and scripts; the parts
// share the servers.
type Store struct {
	*servers
	*ledger
	*steps
	*limits
	*values
	*logs
	*queue
}

// Open makes a store. A server that cannot be reached is no error but a warning, as it
// may come up later; one that refuses the login, is too old or not what the configuration
// says is an error, and so is a configuration that means nothing. Errors name its keys.
// evicted is told how many keys a server has dropped for want of memory since it was looked
// at before, which is once a minute about.
func Open(ctx context.Context, c state.Config, log *slog.Logger, evicted func(keys int64)) (*Store, error) {
	// Nothing is connected to here: the first command is meet's.
	client, err := connect(c.Redis, log)
	if err != nil {
		return nil, err
	}
	s := newStore(client, c, log, evicted)
	if err := s.meet(ctx, s.steps.script); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.running.Go(s.sweep)
	return s, nil
}

// newStore makes the parts. A retention below a millisecond, which is what Redis counts expiry in,
// would be none at all.
func newStore(client redis.UniversalClient, c state.Config, log *slog.Logger, evicted func(keys int64)) *Store {
	retention := defaultRetention
	if c.Retention > 0 {
		retention = max(c.Retention.Std(), time.Millisecond)
	}
	on := newServers(client, c.Redis, log, evicted)
	return &Store{
		servers: on, ledger: newLedger(on, retention), steps: newSteps(on, retention),
		limits: newLimits(on), values: newValues(on), logs: newLogs(on), queue: newQueue(on),
	}
}

var (
	_ state.Store   = (*Store)(nil)
	_ state.Distant = (*Store)(nil)
)
