//go:build minimal

package shared

import (
	"context"
	"log/slog"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Open refuses: this build has no driver of a state that is shared.
func Open(context.Context, state.Config, *slog.Logger, func(keys int64)) (state.Store, error) {
	return nil, feature.Need(feature.Redis)
}

// Validate refuses state.driver, which is what asks for Redis.
func Validate(state.Config) error { return keypath.At(feature.Need(feature.Redis), "driver") }

// CheckFiles has nothing to add to Validate.
func CheckFiles(state.Config) error { return nil }

// Try refuses, as Open does.
func Try(context.Context, state.Config, *slog.Logger) error { return feature.Need(feature.Redis) }
