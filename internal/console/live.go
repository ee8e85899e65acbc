package console

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Live is admin.live: limits for those who follow audit records as they are made, and those who
// watch streams.
type Live struct {
	// Viewers is how many may follow records at the same time, and how many may watch streams;
	// default 16. The gateway answers one more with 503.
	Viewers int `yaml:"viewers"`
	// Buffer is how much waits for each viewer; default 1MiB. Beyond that, the gateway drops the
	// oldest ones and tells the viewer how many.
	Buffer quantity.Size `yaml:"buffer"`
}

const (
	usualViewers = 16
	mostViewers  = 1000
	usualBuffer  = 1 << 20
	leastBuffer  = 64 << 10
	mostBuffer   = 64 << 20
)

// defaults fills in what is not written. It may run twice, on the section and in Open.
func (l *Live) defaults() {
	if l.Viewers == 0 {
		l.Viewers = usualViewers
	}
	if l.Buffer == 0 {
		l.Buffer = usualBuffer
	}
}

// validate names the key below admin. Viewers and buffer together bound the memory: 16 MiB
// as they are by default.
func (l Live) validate() error {
	if l.Viewers < 0 || l.Viewers > mostViewers {
		return keypath.At(fmt.Errorf("want a number from 1 to %d", mostViewers), "live", "viewers")
	}
	if l.Buffer != 0 && (l.Buffer < leastBuffer || l.Buffer > mostBuffer) {
		return keypath.At(errors.New("want 64KiB to 64MiB"), "live", "buffer")
	}
	return nil
}
