package agents

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// DedupeConfig keeps a message that a caller sends again from being processed again. It
// is off unless there is a window: callers exist that use one messageId for many messages.
type DedupeConfig struct {
	// Window is how long a message is remembered by its caller, agent and messageId.
	// The same content again gets the answer of before, or is told which task to get;
	// another content is refused. Default 0: not at all.
	Window quantity.Duration `yaml:"window" zero:"kept"`

	// Answers is how long an answer may be to be kept, encrypted, for who sends the
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
