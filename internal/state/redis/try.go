package redis

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// tryTimeout is what Try waits at least for one answer. A single look at a server that is
// there and slow should not say that it is away.
const tryTimeout = quantity.Duration(5 * time.Second)

// Validate reports what Open would refuse without asking a server or reading a file.
func Validate(c state.Config) error { return check(c.Redis) }

// CheckFiles reports a file of tls that Open would refuse.
func CheckFiles(c state.Config) error {
	_, err := options(c.Redis)
	return err
}

// Try says why the servers that a configuration names could not be used at the moment, nil
// where they could. What they warn of goes to log. Like Ping it writes the one key that
// shows whether they take writes, which goes by itself.
func Try(ctx context.Context, c state.Config, log *slog.Logger) error {
	// A negative one is left for check to refuse.
	if c.Redis.Timeout >= 0 {
		c.Redis.Timeout = max(c.Redis.Timeout, tryTimeout)
	}
	client, err := connect(c.Redis, log)
	if err != nil {
		return err
	}
	// A store without a sweeper, for as long as the look takes.
	s := newStore(client, c, log, func(int64) {})
	if err = s.meet(ctx, s.steps.script); err == nil {
		if err = s.Ping(ctx); err != nil {
			err = keypath.At(err, "redis", "addresses")
		}
	}
	return errors.Join(err, s.Close())
}
