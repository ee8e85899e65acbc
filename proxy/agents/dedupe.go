package agents

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// DedupeConfig keeps the agent from processing a repeated message twice (idempotency). It is
// off without a window, because some callers use one messageId for many messages.
type DedupeConfig struct {
	// Window is how long the gateway remembers a message by its caller, agent and messageId. If
	// the same content comes again, the caller gets the earlier answer, or is told which task to
	// get. The gateway refuses other content. Default 0: not at all.
	Window quantity.Duration `yaml:"window" zero:"kept"`

	// Answers is the longest answer that the gateway keeps, encrypted, for a caller that sends the
	// message again. Default 64KiB.
	Answers quantity.Size `yaml:"answers"`
}

// defaultAnswers is DedupeConfig.Answers.
const defaultAnswers = 64 << 10

// MaxAnswer is how many bytes of an answer are kept at most, with the default in the place of 0.
func (c DedupeConfig) MaxAnswer() int {
	if c.Answers == 0 {
		return defaultAnswers
	}
	return int(c.Answers)
}
