package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Scripts run on the server, each at once. They reach keys that they are not told, but
// only with the hash tag of those that they are: the key of a record is found in an index.

// call is one run of a script.
type call struct {
	keys []string
	args []any
}

// runAll runs a script several times in one round trip, and once more where the server
// had forgotten it: then it has done nothing.
func (s *servers) runAll(ctx context.Context, script *redis.Script, calls []call) ([]*redis.Cmd, error) {
	cmds := make([]*redis.Cmd, len(calls))
	pipe := s.client.Pipeline()
	for i, c := range calls {
		cmds[i] = script.EvalSha(ctx, pipe, c.keys, c.args...)
	}
	// Exec returns the first error of any command. NOSCRIPT comes before anything is run, so that
	// running those once more repeats nothing.
	_, err := pipe.Exec(ctx)
	if !isUnknownScript(err) {
		return cmds, err
	}
	again := s.client.Pipeline()
	for i, c := range calls {
		if isUnknownScript(cmds[i].Err()) {
			cmds[i] = script.Eval(ctx, again, c.keys, c.args...)
		}
	}
	if _, err := again.Exec(ctx); err != nil {
		return nil, err
	}
	for _, c := range cmds {
		if c.Err() != nil {
			return nil, c.Err()
		}
	}
	return cmds, nil
}

// isUnknownScript recognises the answer to an EVALSHA whose script the server does not have.
func isUnknownScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

// errReply says that a script has returned something else than it does.
var errReply = errors.New("redis: a reply has an unknown shape")
