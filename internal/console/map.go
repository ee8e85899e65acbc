package console

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Map is admin.map: which callers called which agents with which extensions.
type Map struct {
	// Records is how many of the newest calls the map counts at most; default 10000. A higher number
	// shows more of a busy gateway, and takes longer to read.
	Records int `yaml:"records"`
}

const (
	usualMapRecords = 10_000
	mostMapRecords  = 100_000
)

// defaults fills in what is not written.
func (m *Map) defaults() {
	if m.Records == 0 {
		m.Records = usualMapRecords
	}
}

// validate names the key below admin. The bound is what can be read within the time of an
// answer.
func (m Map) validate() error {
	if m.Records < 0 || m.Records > mostMapRecords {
		return keypath.At(fmt.Errorf("want a number from 1 to %d", mostMapRecords), "map", "records")
	}
	return nil
}
