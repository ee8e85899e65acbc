package state

import (
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the `state:` section: where ownership is kept.
type Config struct {
	// Driver names the store. "memory" (default) keeps everything in the process:
	// nothing survives a restart and replicas do not know each other's tasks.
	Driver string `yaml:"driver"`
	// Memory bounds the memory driver.
	Memory MemoryConfig `yaml:"memory"`
}

// MemoryConfig is `state.memory:`.
type MemoryConfig struct {
	// Records is how many task and context ids, and states that extensions give to
	// tasks, are remembered at once; default 1000000, at about 200 bytes each. At the
	// limit calls that would need a new
	// record are refused, because an id without an owner could be taken by anyone.
	Records int `yaml:"records"`
	// Retention is how long an id is remembered after the last call that named it;
	// default 30d. Keep it longer than agents keep their tasks and contexts: a
	// forgotten task is unknown to everybody, and a forgotten context belongs to
	// whoever names it next.
	Retention secret.Duration `yaml:"retention"`
}

const (
	memoryDriver     = "memory"
	defaultRecords   = 1_000_000
	defaultRetention = 30 * 24 * time.Hour
)

// Validate reports what NewMemory could not work with, by the names of the keys.
func (c Config) Validate() error {
	if c.Driver != "" && c.Driver != memoryDriver {
		return fmt.Errorf("driver %q is not available; this build has only %q", c.Driver, memoryDriver)
	}
	if c.Memory.Records < 0 {
		return fmt.Errorf("memory.records is %d; it must be positive, or left out for %d",
			c.Memory.Records, defaultRecords)
	}
	if c.Memory.Retention < 0 {
		return fmt.Errorf("memory.retention must not be negative")
	}
	return nil
}

// records and retention fill in the defaults.
func (c MemoryConfig) records() int64 {
	if c.Records <= 0 {
		return defaultRecords
	}
	return int64(c.Records)
}

func (c MemoryConfig) retention() time.Duration {
	if c.Retention <= 0 {
		return defaultRetention
	}
	return c.Retention.Std()
}
