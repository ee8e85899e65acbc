package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Try is admin.try: test calls that operators make from here.
type Try struct {
	// Calls that may run at the same time; default 4. The gateway answers one more with 503.
	Calls int `yaml:"calls"`
	// Timeout of a call whose answer is shown as a whole, 1s to 14s; default 10s. Of a stream, the
	// gateway shows what came until then.
	Timeout quantity.Duration `yaml:"timeout"`
	// StreamTimeout of a call that is shown while it runs, as the console does, 1s to 1h; default
	// 5m.
	StreamTimeout quantity.Duration `yaml:"streamTimeout"`
	// Answer is how much of an answer the gateway shows; default 1MiB. It does not wait for the
	// rest.
	Answer quantity.Size `yaml:"answer"`
}

const (
	usualTries   = 4
	mostTries    = 1000
	usualTrial   = 10 * time.Second
	leastTrial   = time.Second
	longestTrial = answerTimeout - time.Second
	usualWatch   = 5 * time.Minute
	longestWatch = time.Hour
	usualShown   = 1 << 20
	leastShown   = 4 << 10
	mostShown    = 64 << 20
)

// defaults fills in what is not written.
func (t *Try) defaults() {
	if t.Calls == 0 {
		t.Calls = usualTries
	}
	if t.Timeout == 0 {
		t.Timeout = quantity.Duration(usualTrial)
	}
	if t.StreamTimeout == 0 {
		t.StreamTimeout = quantity.Duration(usualWatch)
	}
	if t.Answer == 0 {
		t.Answer = usualShown
	}
}

// validate names the keys below admin. A trial ends a second before its answer has to, so
// that there is time to write it; one that is shown as it goes on is not held to that. It has
// an end all the same: a page that was forgotten takes one of the calls that may go on.
func (t Try) validate() error {
	var errs []error
	if t.Calls < 0 || t.Calls > mostTries {
		errs = append(errs, keypath.At(fmt.Errorf("want a number from 1 to %d", mostTries), "try", "calls"))
	}
	if d := t.Timeout.Std(); d != 0 && (d < leastTrial || d > longestTrial) {
		errs = append(errs, keypath.At(fmt.Errorf("want %v to %v", leastTrial, longestTrial), "try", "timeout"))
	}
	if d := t.StreamTimeout.Std(); d != 0 && (d < leastTrial || d > longestWatch) {
		errs = append(errs, keypath.At(errors.New("want 1s to 1h"), "try", "streamTimeout"))
	}
	if t.Answer != 0 && (t.Answer < leastShown || t.Answer > mostShown) {
		errs = append(errs, keypath.At(errors.New("want 4KiB to 64MiB"), "try", "answer"))
	}
	return errors.Join(errs...)
}
