// Package revocation tells gateways that share a state which API keys were revoked.
package revocation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/shared"
)

// revokedSpace is where the state has the ids of revoked keys.
const revokedSpace = "revoked-keys"

// ErrNotShared says that the state of a configuration is one gateway's own, so that
// nothing can be said to others there.
var ErrNotShared = errors.New("the state is not shared (state.driver)")

// RevokeKey revokes the API key of an id at every gateway that shares the state of cfg,
// within a second, for as long as life, or with 0 for good. The error wraps ErrNotShared
// or state.ErrUnavailable.
func RevokeKey(ctx context.Context, cfg *config.Config, id string, life time.Duration) error {
	const longest = 64 // bytes of the id of a key
	if id == "" || len(id) > longest {
		return fmt.Errorf("an id is 1 to %d bytes long", longest)
	}
	return withShared(ctx, cfg, func(v state.Values) error {
		at := time.Now().UTC().AppendFormat(nil, time.RFC3339)
		return v.Put(ctx, revokedSpace, id, at, life)
	})
}

// RevokedKeys are the ids of the API keys that RevokeKey has revoked, with when. The
// error is as there.
func RevokedKeys(ctx context.Context, cfg *config.Config) (map[string]time.Time, error) {
	var revoked map[string]time.Time
	err := withShared(ctx, cfg, func(v state.Values) (err error) {
		revoked, err = readRevoked(ctx, v)
		return err
	})
	return revoked, err
}

// withShared opens the state of cfg beside the gateways that use it.
func withShared(ctx context.Context, cfg *config.Config, use func(state.Values) error) error {
	if !cfg.State.Shared() {
		return ErrNotShared
	}
	store, err := shared.Open(ctx, cfg.State, slog.New(slog.DiscardHandler), func(int64) {})
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

// Revoke tells all gateways of the state, for as long as the key would be good.
func Revoke(ctx context.Context, v state.Values, k *apikey.Shown) error {
	const after = 24 * time.Hour // clocks differ
	life := time.Duration(0)
	if !k.Expires.IsZero() {
		life = max(time.Until(k.Expires), 0) + after
	}
	if err := v.Put(ctx, revokedSpace, k.ID, time.Now().UTC().AppendFormat(nil, time.RFC3339), life); err != nil {
		return fmt.Errorf("revoke API key: %w", err)
	}
	return nil
}
