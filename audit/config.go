// Package audit keeps the record of who asked what of which agent, and what
// came of it: JSON lines in one segment file per day.
//
// It owns the schema of a record (record.go; documented in docs/audit.md), the order and the
// durability of records, the signing of their chain, and what becomes of old files. What can be
// told apart from writing has a package of its own:
//
//	chain    how a record is bound to the one before it, and the head
//	segment  names, forms and encryption of the files
//	reader   reading, following and finding records, while a gateway writes
//	redact   what is taken out of bodies before they are kept
//	vault    the bodies that are kept, and their erasure
//	sink     copies of the records for Kafka, OpenTelemetry, PostgreSQL
//	index    a SQLite file that finds records
//
// A Log is made of parts with their own state and their own lock:
//
//	queue      records of many callers become one batch, written by one of them
//	writer     a batch becomes lines of a segment, numbered, chained, signed, and on the disk
//	retention  files that have ended are removed or compressed
//	deferred   events about the log itself that could not be written yet
//	marks      how far the log has come, for somebody else to remember
//
// One call writes two records: an intent before it is sent to the agent, without which it is not
// sent, and a call record when it has ended. An Intent that returned nil has been handed to the
// operating system, and with durability sync to the disk: no crash of this process can lose it.
// The package does not decide whether a call may go on when nothing can be recorded; it returns
// the error and the proxy asks Config.FailOpen. Of bodies it has digests and sizes, and what rules
// say that is captured (content.go, capture.go), which lies beside the records in a vault.
//
// Verify is here as well: it judges a log by the checkpoints that the writer signs and by the
// events that excuse what was removed, so that both have to know the same of them. With it the
// package exports more than twenty names: the sections of its configuration, the log and what it
// is given (Keys, Sealer, Memory), and the report of a verification.
//
// It may import telemetry, its own chain, segment, reader, redact and vault, and internal/secret.
package audit

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the telemetry.audit section of the configuration file.
type Config struct {
	// Dir is the directory of the segment files, audit-YYYY-MM-DD.jsonl. The gateway makes it when
	// missing (mode 0700). Only one running gateway may use it at a time. Default: audit below
	// server.dataDir.
	Dir string `yaml:"dir" file:"write"`

	// Durability says when a record counts. With write, it counts when the operating system has
	// it: it survives the end of the gateway, however sudden, and the disk follows within 100 ms.
	// With sync, it counts when the disk has it. It then survives a loss of power, and costs one
	// fsync, shared by all calls that wait for it. Default write.
	Durability string `yaml:"durability" jsonschema:"enum=write,enum=sync"`

	// OnFailure says what the gateway does with calls while it can write no record: deny (503 with
	// Retry-After) or allow (forward them unrecorded). Default deny.
	OnFailure string `yaml:"onFailure" jsonschema:"enum=deny,enum=allow"`

	// SegmentSize is the size past which the gateway continues a day in another file,
	// audit-YYYY-MM-DD_001.jsonl and so on. Default 256MiB.
	SegmentSize quantity.Size `yaml:"segmentSize"`

	// Checkpoint says how often the gateway signs the records so far.
	Checkpoint Checkpoint `yaml:"checkpoint"`

	// Encryption, when it has keys, encrypts the files.
	Encryption Encryption `yaml:"encryption"`

	// Compress has the gateway compress files that have ended (zstd). Default false.
	Compress bool `yaml:"compress"`

	// Retention says when the gateway removes old files.
	Retention Retention `yaml:"retention"`

	// Digest says for which bodies the records have a digest.
	Digest DigestConfig `yaml:"digest"`

	// Content says which bodies the gateway keeps.
	Content Content `yaml:"content"`

	// Stdout copies every record to standard output, for platforms that collect it from there. The
	// files stay the record: when standard output does not keep up, the gateway leaves lines out
	// of the copy. Default false.
	Stdout bool `yaml:"stdout"`

	// Held, if not nil, tells of a segment whether somebody has not read all of it: it is
	// kept past Retention.Age then, but not past Retention.Size.
	Held func(segment string) bool `yaml:"-"`
}

// held asks Held.
func (c Config) held(segment string) bool { return c.Held != nil && c.Held(segment) }

// Checkpoint is telemetry.audit.checkpoint. A checkpoint is a record with a signature over all
// records before it. The gateway also writes one at the end of a file, and when it stops.
type Checkpoint struct {
	// Every is after how many records the gateway writes a checkpoint, at least 10. Default 1000.
	Every int `yaml:"every"`
	// Interval is how long records may be without a checkpoint, at least 1s. Default 10s.
	Interval quantity.Duration `yaml:"interval"`
}

// Encryption is telemetry.audit.encryption.
type Encryption struct {
	// Keys are 32 bytes each, as 64 hex digits or base64, at most 16. The first encrypts new
	// files; all decrypt. Keep a key as long as there are files that it encrypted. Default: none,
	// and files are not encrypted.
	Keys []secret.Value `yaml:"keys"`
}

// Retention is telemetry.audit.retention. The gateway removes whole files, oldest first, and
// writes a record of it. It never removes the file that it writes to.
type Retention struct {
	// Age is how long after its day the gateway keeps a file; longer, until all sinks have its
	// records. Default 0: for ever.
	Age quantity.Duration `yaml:"age" zero:"kept"`
	// Size limits all files together. Default 0: without limit.
	Size quantity.Size `yaml:"size" zero:"kept"`
}

// maxCipherKeys bounds Encryption.Keys.
// Keys are tried by their ids, so that the bound is about the mistake of a list that only grows.
const maxCipherKeys = 16

// masterKeys reads the keys.
func (e Encryption) masterKeys() ([]segment.Key, error) {
	if len(e.Keys) > maxCipherKeys {
		return nil, keypath.At(fmt.Errorf("%d keys, at most %d", len(e.Keys), maxCipherKeys), "telemetry", "audit", "encryption", "keys")
	}
	var keys []segment.Key
	for i, v := range e.Keys {
		k, err := segment.NewKey(v)
		if err != nil {
			return nil, keypath.At(err, "telemetry", "audit", "encryption", "keys", i)
		}
		keys = append(keys, k)
	}
	return keys, nil
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
	// Size in bytes, before compression.
	minSegmentSize = 64 << 10 // below it a busy gateway would make a file per second

	defaultEvery = 1000
	minEvery     = 10 // below it the log would be signatures
	minInterval  = time.Second
	minAge       = time.Hour
)

// Check reports every value that Open would refuse. An empty Dir is not one of
// them: the gateway fills it in before it opens the log.
// Errors carry the path of their key (package keypath), by which the configuration's reader names
// line and column. Every value that is wrong is reported, and not just the first.
func (c Config) Check() error {
	var errs []error
	switch c.Durability {
	case "", durabilityWrite, durabilitySync:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is neither write nor sync", c.Durability), "telemetry", "audit", "durability"))
	}
	switch c.OnFailure {
	case "", failureDeny, failureAllow:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is neither deny nor allow", c.OnFailure), "telemetry", "audit", "onFailure"))
	}
	if c.SegmentSize != 0 && c.SegmentSize < minSegmentSize {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than 64KiB", c.SegmentSize), "telemetry", "audit", "segmentSize"))
	}
	if n := c.Checkpoint.Every; n != 0 && n < minEvery {
		errs = append(errs, keypath.At(fmt.Errorf("%d is less than %d", n, minEvery), "telemetry", "audit", "checkpoint", "every"))
	}
	if d := c.Checkpoint.Interval; d != 0 && d.Std() < minInterval {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than 1s", d), "telemetry", "audit", "checkpoint", "interval"))
	}
	if d := c.Retention.Age; d != 0 && d.Std() < minAge {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than 1h", d), "telemetry", "audit", "retention", "age"))
	}
	// With less than two segments retention would remove the file that ended a moment ago.
	if n := c.Retention.Size; n != 0 && int64(n) < 2*c.segmentSize() {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than two segments", n), "telemetry", "audit", "retention", "size"))
	}
	if err := c.Digest.check(); err != nil {
		errs = append(errs, err)
	}
	_, err := c.Encryption.masterKeys()
	_, unfit := c.Content.compile(nil)
	return errors.Join(append(errs, err, unfit)...)
}

// FailOpen reports whether calls go on while no record can be written.
func (c Config) FailOpen() bool { return c.OnFailure == failureAllow }

// segmentSize is SegmentSize or its default.
func (c Config) segmentSize() int64 {
	if c.SegmentSize == 0 {
		return defaultSegmentSize
	}
	return int64(c.SegmentSize)
}

// every is Every or its default.
func (c Checkpoint) every() int {
	if c.Every == 0 {
		return defaultEvery
	}
	return c.Every
}

// interval is Interval or its default.
func (c Checkpoint) interval() time.Duration {
	if c.Interval == 0 {
		return defaultInterval
	}
	return c.Interval.Std()
}

// Source is where the records are read that a log with this configuration writes.
// It can be asked for without opening the log: the command line reads the log of a gateway that
// runs.
func (c Config) Source() reader.Source {
	keys, _ := c.Encryption.masterKeys() // Check has said it
	return reader.Source{Path: c.Dir, Keys: keys}
}
