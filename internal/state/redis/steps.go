package redis

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// stepForm begins what is stored of a step; the name of the state follows.
const stepForm = "\x01"

// Advance implements state.Steps.
func (s *Store) Advance(ctx context.Context, step state.Step, from, to string) (string, error) {
	var stored string
	err := s.do(ctx, s.names.tag(step.Agent), "advance", func(ctx context.Context) (err error) {
		stored, err = s.scripts.advance.Run(ctx, s.client, []string{s.names.step(step)},
			milliseconds(s.retention), encodeStep(from), encodeStep(to)).Text()
		return err
	})
	if err != nil || stored == "" {
		return "", err
	}
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
