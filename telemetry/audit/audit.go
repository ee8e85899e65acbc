// Package audit keeps the record of who asked what of which agent, and what
// came of it: JSON lines in one segment file per day.
//
// It owns the schema of a record (record.go; documented in docs/audit.md), the
// order and the durability of records (log.go, segment.go) and the segment
// files (names.go, tail.go). It does not decide whether a call may go on when
// nothing can be recorded; it returns the error and the proxy asks
// Config.FailOpen. It never sees a body, only digests and sizes. It may import
// telemetry and internal/secret.
//
// An Intent that returned nil has been handed to the operating system, and with
// durability sync to the disk: no crash of this process can lose it.
package audit

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the telemetry.audit section of the configuration file.
type Config struct {
	// Dir is the directory of the segment files, audit-YYYY-MM-DD.jsonl. It is
	// made when missing (mode 0700) and belongs to one running gateway at a time.
	// Default: audit below server.dataDir.
	Dir string `yaml:"dir"`

	// Durability says when a record counts: write, when the operating system has
	// it (survives the end of the gateway, however sudden; the disk follows
	// within 100 ms), or sync, when the disk has it (survives a loss of power;
	// costs one fsync, shared by all calls that wait for it). Default write.
	Durability string `yaml:"durability"`

	// OnFailure says what becomes of calls while no record can be written: deny
	// (503 with Retry-After) or allow (they go on unrecorded). Default deny.
	OnFailure string `yaml:"onFailure"`

	// SegmentSize is the size past which a day is continued in another file,
	// audit-YYYY-MM-DD_001.jsonl and so on. Default 256MiB.
	SegmentSize secret.Size `yaml:"segmentSize"`

	// Stdout copies every record to standard output, for platforms that collect
	// it from there. The files stay the record: when standard output does not
	// keep up, lines are left out of the copy. Default false.
	Stdout bool `yaml:"stdout"`
}

// Values of Config.Durability and Config.OnFailure.
const (
	durabilityWrite = "write"
	durabilitySync  = "sync"
	failureDeny     = "deny"
	failureAllow    = "allow"
)

const (
	defaultSegmentSize = 256 << 20
	minSegmentSize     = 64 << 10 // below it a busy gateway would make a file per second
)

// Check reports every value that Open would refuse. An empty Dir is not one of
// them: the gateway fills it in before it opens the log.
func (c Config) Check() error {
	var errs []error
	switch c.Durability {
	case "", durabilityWrite, durabilitySync:
	default:
		errs = append(errs, fmt.Errorf("telemetry.audit.durability: %q is neither write nor sync", c.Durability))
	}
	switch c.OnFailure {
	case "", failureDeny, failureAllow:
	default:
		errs = append(errs, fmt.Errorf("telemetry.audit.onFailure: %q is neither deny nor allow", c.OnFailure))
	}
	if c.SegmentSize != 0 && c.SegmentSize < minSegmentSize {
		errs = append(errs, fmt.Errorf("telemetry.audit.segmentSize: %v is less than 64KiB", c.SegmentSize))
	}
	return errors.Join(errs...)
}

// FailOpen reports whether calls go on while no record can be written.
func (c Config) FailOpen() bool { return c.OnFailure == failureAllow }

func (c Config) segmentSize() int64 {
	if c.SegmentSize == 0 {
		return defaultSegmentSize
	}
	return int64(c.SegmentSize)
}
