//go:build !minimal

// Package shared opens the state that replicas of the gateway share, which is Redis: what
// state.driver: redis asks for. Its users see a state.Store and never the driver, so that a build
// without Redis (internal/feature) has the same functions, each of which answers that it is absent.
package shared

import (
	"context"
	"log/slog"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/redis"
)

var _ = feature.Register(feature.Redis)

// Open is redis.Open: it makes the store that c names. A server that is away is a warning in log; one
// that refuses the login, or is not what c says, is an error, and the store is nil then. evicted is
// told how many keys a server has dropped for want of memory, about once a minute.
func Open(ctx context.Context, c state.Config, log *slog.Logger, evicted func(keys int64)) (state.Store, error) {
	s, err := redis.Open(ctx, c, log, evicted)
	if err != nil {
		return nil, err // not s: an interface with a nil pointer in it is not nil
	}
	return s, nil
}

// Validate is redis.Validate: what Open would refuse without asking a server or reading a file.
func Validate(c state.Config) error { return redis.Validate(c) }

// CheckFiles is redis.CheckFiles: the files of state.redis.tls that Open would refuse.
func CheckFiles(c state.Config) error { return redis.CheckFiles(c) }

// Try is redis.Try: why the servers could not be used at the moment, nil where they could.
func Try(ctx context.Context, c state.Config, log *slog.Logger) error { return redis.Try(ctx, c, log) }
