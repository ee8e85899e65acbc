package redis

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// stepForm begins what is stored of a step; the name of the state follows.
const stepForm = "\x01"

//go:embed lua/advance.lua
var advanceScript string

// steps are the state.Steps of the servers.
type steps struct {
	servers   *servers
	retention time.Duration
	script    *redis.Script
}

// newSteps reads the script.
func newSteps(on *servers, retention time.Duration) *steps {
	return &steps{on, retention, redis.NewScript(advanceScript)}
}

// Advance implements state.Steps.
func (s *steps) Advance(ctx context.Context, step state.Step, from, to string) (string, error) {
	var stored string
	err := s.servers.do(ctx, s.servers.names.tag(step.Agent), "advance", func(ctx context.Context) (err error) {
		stored, err = s.script.Run(ctx, s.servers.client, []string{s.servers.names.step(step)},
			milliseconds(s.retention), encodeStep(from), encodeStep(to)).Text()
		return err
	})
	if err != nil || stored == "" {
		return "", err
	}
	// A form that a newer gateway may write, or bytes of somebody else's: neither says where the task is.
	if stored[:1] != stepForm {
		return "", fmt.Errorf("%w: the state of task %q of agent %q", errRecord, step.Task, step.Agent)
	}
	return stored[1:], nil
}

// encodeStep leaves no state as nothing, which is not stored.
func encodeStep(name string) string {
	if name == "" {
		return ""
	}
	return stepForm + name
}
