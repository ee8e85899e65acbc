package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/redis"
)

// Spaces of the state that gateways tell each other things in.
const (
	proofSpace   = "dpop"
	revokedSpace = "revoked-keys"
)

// ErrNotShared says that the state of a configuration is one gateway's own, so that
// nothing can be said to others there.
var ErrNotShared = errors.New("the state is not shared (state.driver)")

// proofs remembers DPoP proofs where other gateways, and this one after a restart, find
// them. In a state that is memory alone there is nothing that the chain does not have
// itself, and it is nil.
func (g *Gateway) proofs() func(ctx context.Context, id string, life time.Duration) (bool, error) {
	if g.store == state.Store(g.local) {
		return nil
	}
	return func(ctx context.Context, id string, life time.Duration) (bool, error) {
		return g.store.Add(ctx, proofSpace, id, nil, life)
	}
}

// RevokeKey revokes the API key of an id at every gateway that shares the state of cfg,
// within a second, for as long as life, or with 0 for good. The error wraps ErrNotShared
// or state.ErrUnavailable.
func RevokeKey(ctx context.Context, cfg *config.Config, id string, life time.Duration) error {
	const longest = 64 // bytes of the id of a key
	if id == "" || len(id) > longest {
		return fmt.Errorf("an id is 1 to %d bytes long", longest)
	}
	return shared(ctx, cfg, func(v state.Values) error {
		at := time.Now().UTC().AppendFormat(nil, time.RFC3339)
		return v.Put(ctx, revokedSpace, id, at, life)
	})
}

// RevokedKeys are the ids of the API keys that RevokeKey has revoked, with when. The
// error is as there.
func RevokedKeys(ctx context.Context, cfg *config.Config) (map[string]time.Time, error) {
	var revoked map[string]time.Time
	err := shared(ctx, cfg, func(v state.Values) (err error) {
		revoked, err = readRevoked(ctx, v)
		return err
	})
	return revoked, err
}

// shared opens the state of cfg beside the gateways that use it.
func shared(ctx context.Context, cfg *config.Config, use func(state.Values) error) error {
	if cfg.State.Driver != redisDriver {
		return ErrNotShared
	}
	store, err := redis.Open(ctx, cfg.State, slog.New(slog.DiscardHandler), func(int64) {})
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return errors.Join(use(store), store.Close())
}

// readRevoked lists what RevokeKey has written. What is no time was written by a hand,
// and revokes all the same.
func readRevoked(ctx context.Context, v state.Values) (map[string]time.Time, error) {
	const page = 1000
	revoked, after := map[string]time.Time{}, ""
	for {
		list, err := v.List(ctx, revokedSpace, after, page)
		if err != nil {
			return nil, fmt.Errorf("list revoked API keys: %w", err)
		}
		for i := range list {
			after = list[i].Key
			revoked[after], _ = time.Parse(time.RFC3339, string(list[i].Data))
		}
		if len(list) < page {
			return revoked, nil
		}
	}
}
