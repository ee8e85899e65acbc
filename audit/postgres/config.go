package postgres

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is telemetry.audit.sinks[].postgres.
type Config struct {
	// URL is the database, postgres://user:password@host:5432/name?sslmode=verify-full, or the
	// same as keywords and values. It may name several hosts, of which one is the primary. The
	// sink needs a session of its own, so do not use a pooler that shares sessions between
	// transactions.
	URL secret.Value `yaml:"url"`

	// Table is the table, in lower case: at most 40 letters, digits and _. Put its schema in front
	// unless that is the first of the search path. The gateway creates the table when missing, and
	// one of the same name with _places behind. Several gateways may share it. Default a2a_audit.
	Table string `yaml:"table"`

	// Retention is how long after its day the sink keeps a record, at least 1d. It drops the
	// records of a day together. Default 0: for ever.
	Retention quantity.Duration `yaml:"retention" zero:"kept"`
}
