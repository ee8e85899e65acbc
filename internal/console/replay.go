package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Replay is admin.replay: tests of draft rules and guards on recorded calls.
type Replay struct {
	// Records is how many calls a replay examines at most; default 100000. The gateway refuses a
	// request for more.
	Records int `yaml:"records"`
	// Time is how long a replay may take; default 10s, at most 15s. The gateway refuses a longer
	// one.
	Time quantity.Duration `yaml:"time"`
	// Sample is how many calls of each kind of change a replay shows; default 100.
	Sample int `yaml:"sample"`
	// Bytes is how much captured content guards look at in a replay at most; default 64MiB. The gateway refuses a
	// request for more.
	Bytes quantity.Size `yaml:"bytes"`
}

const (
	usualReplayed = 100_000
	mostReplayed  = 10_000_000
	usualReplay   = quantity.Duration(10 * time.Second)
	usualSample   = 100
	mostSample    = 10_000
	usualContent  = 64 << 20
	mostContent   = 1 << 30
)

// defaults fills in what is not written.
func (r *Replay) defaults() {
	if r.Records == 0 {
		r.Records = usualReplayed
	}
	if r.Time == 0 {
		r.Time = usualReplay
	}
	if r.Sample == 0 {
		r.Sample = usualSample
	}
	if r.Bytes == 0 {
		r.Bytes = usualContent
	}
}

// validate names the key below admin. The time ends before that of the answer does, so that
// the operator is told which bound it was.
func (r Replay) validate() error {
	switch {
	case r.Records < 0 || r.Records > mostReplayed:
		return keypath.At(fmt.Errorf("want a number from 1 to %d", mostReplayed), "replay", "records")
	case r.Time < 0 || r.Time.Std() > answerTimeout:
		return keypath.At(fmt.Errorf("want more than 0s and at most %s", quantity.Duration(answerTimeout)), "replay", "time")
	case r.Sample < 0 || r.Sample > mostSample:
		return keypath.At(fmt.Errorf("want a number from 1 to %d", mostSample), "replay", "sample")
	case r.Bytes < 0 || r.Bytes > mostContent:
		return keypath.At(errors.New("want more than 0 and at most 1GiB"), "replay", "bytes")
	}
	return nil
}
