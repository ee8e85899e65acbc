package state

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the `state:` section: where the gateway keeps ownership, counts and revocations.
type Config struct {
	// Driver names the store. "sqlite" (default where the configuration is a file) keeps
	// everything in one file. It survives restarts, and is for one gateway. "redis" is for many
	// replicas, with Redis 6.2 or Valkey 7.2 or later. "memory" keeps everything in the process,
	// and nothing survives a restart.
	Driver string `yaml:"driver" jsonschema:"enum=memory,enum=sqlite,enum=redis"`
	// Retention is how long the gateway remembers the id of a task or context after its last use;
	// default 30d. Uses are a call that names the id, an answer, event or notification that shows
	// it, and an open stream of it. Keep it longer than agents keep their tasks and contexts.
	// Otherwise a forgotten task is unknown to everybody, and a forgotten context starts over,
	// also for its owner.
	Retention quantity.Duration `yaml:"retention"`
	// Memory limits the memory driver.
	Memory MemoryConfig `yaml:"memory"`
	// SQLite says where the sqlite driver keeps its file.
	SQLite SQLiteConfig `yaml:"sqlite"`
	// Redis says how the redis driver reaches its servers.
	Redis RedisConfig `yaml:"redis"`
}

// Shared reports whether several gateways can have the state together.
func (c *Config) Shared() bool { return c.Driver == "redis" }

// MemoryConfig is `state.memory:`.
type MemoryConfig struct {
	// Records is how many task and context ids, and states of extensions, the gateway remembers at
	// once; default 1000000, at about 200 bytes each. At the limit, it refuses calls that need a
	// new record, because anyone could take an id without an owner. One owner may have at most as
	// many records as there is room left, so at most half. A second limit of this size holds for
	// revocations, used proofs, messages of dedupe and the like. The gateway divides it likewise
	// among kinds and, for messages, among callers; every 256 bytes count once more. A third limit
	// of this size holds for counts of limits with the places held in them.
	Records int `yaml:"records"`
	// LogBytes is how much all logs of tasks' events hold together, for clients that come back to
	// a stream; default 256MiB. Each event counts 48 bytes more than it has, each log 256. At the
	// limit, the gateway does not keep the newest events for these clients.
	LogBytes quantity.Size `yaml:"logBytes"`
}

// SQLiteConfig is `state.sqlite:`.
type SQLiteConfig struct {
	// Path of the database; default state.db below server.dataDir. Its directory must be
	// on a local disk.
	Path string `yaml:"path" file:"write"`
	// Sync says what the data survives. With "normal" (default) it is a crash of the process. With
	// "full" it is also a crash of the machine, at the cost of an fsync for every group of writes.
	Sync string `yaml:"sync" jsonschema:"enum=normal,enum=full"`
}

// RedisConfig is `state.redis:`.
type RedisConfig struct {
	// Addresses are host:port of the server. Several are those of a cluster or, with Master, of
	// its sentinels.
	Addresses []string `yaml:"addresses"`
	// Master is the name of the master at the sentinels.
	Master string `yaml:"master"`
	// Username and Password authenticate the gateway (ACL).
	Username string       `yaml:"username"`
	Password secret.Value `yaml:"password"`
	// SentinelPassword authenticates the gateway at the sentinels, if they ask for one.
	SentinelPassword secret.Value `yaml:"sentinelPassword"`
	// Database is the number of the database; only without a cluster. Default 0.
	Database int `yaml:"database" zero:"kept"`
	// TLS turns TLS on, even if the section is empty.
	TLS *RedisTLS `yaml:"tls"`
	// Prefix begins all keys; default "a2a-gateway". Gateways that share a prefix share
	// their state.
	Prefix string `yaml:"prefix"`
	// Timeout limits one operation; default 250ms.
	Timeout quantity.Duration `yaml:"timeout"`
	// Connections is how many connections the gateway opens to one server; default 64.
	Connections int `yaml:"connections"`
}

// RedisTLS is `state.redis.tls:`.
type RedisTLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files of the gateway's client certificate.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in the server's certificate; default the host of its address.
	ServerName string `yaml:"serverName"`
}

// The values of SQLiteConfig.Sync.
const (
	SyncNormal = "normal"
	SyncFull   = "full"
)

const (
	memoryDriver     = "memory"
	sqliteDriver     = "sqlite"
	redisDriver      = "redis"
	defaultRecords   = 1_000_000
	defaultLogBytes  = 256 << 20
	defaultRetention = 30 * 24 * time.Hour
)

// Validate reports what a driver could not work with, by the names of the keys.
func (c Config) Validate() error {
	switch c.Driver {
	case "", memoryDriver, sqliteDriver, redisDriver:
	default:
		return keypath.Point(fmt.Errorf("driver is %q; it must be %q, %q or %q", c.Driver, memoryDriver, sqliteDriver, redisDriver), "driver")
	}
	if c.Memory.Records < 0 {
		return keypath.Point(fmt.Errorf("memory.records is %d; it must be positive, or left out for %d", c.Memory.Records, defaultRecords), "memory", "records")
	}
	if c.Memory.LogBytes < 0 {
		return keypath.Point(errors.New("memory.logBytes must not be negative"), "memory", "logBytes")
	}
	if c.Retention < 0 {
		return keypath.Point(errors.New("retention must not be negative"), "retention")
	}
	if sync := c.SQLite.Sync; sync != "" && sync != SyncNormal && sync != SyncFull {
		return keypath.Point(fmt.Errorf("sqlite.sync is %q; it must be %q or %q", sync, SyncNormal, SyncFull), "sqlite", "sync")
	}
	return nil
}

// records and logBytes fill in the defaults.
func (c MemoryConfig) records() int64 {
	if c.Records <= 0 {
		return defaultRecords
	}
	return int64(c.Records)
}

func (c MemoryConfig) logBytes() int64 {
	if c.LogBytes <= 0 {
		return defaultLogBytes
	}
	return int64(c.LogBytes)
}

// KeptFor is Retention or its default.
func (c Config) KeptFor() time.Duration {
	if c.Retention <= 0 {
		return defaultRetention
	}
	return c.Retention.Std()
}
